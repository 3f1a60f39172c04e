"""The Gaussian's sigma at each epsilon of the slider, as the product calibrates it."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.price import gaussian_sigma_squared
from discreet.core.numbers import Delta, Epsilon
from discreet.course.facts import facts_json

EPSILONS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.75", "1", "1.5", "2", "3", "5")


def _sigmas(coordinates: int | None) -> dict[str, float]:
    delta = Delta.of("1e-6")
    return {
        epsilon: round(
            float(gaussian_sigma_squared(Fraction(1), Epsilon.of(epsilon), delta, coordinates))
            ** 0.5,
            4,
        )
        for epsilon in EPSILONS
    }


def facts() -> str:
    """Return sigma by epsilon at delta 1e-6: where a person is in one count, and a part of where in many.

    `one` is by the law's own sum. `many` times the root of k is sigma where k counts move, through rho.
    """
    return facts_json({}, {"delta": 1e-6, "one": _sigmas(1), "many": _sigmas(None)})
