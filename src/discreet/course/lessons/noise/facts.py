"""The Gaussian's sigma for one count at each epsilon of the slider, calibrated by the product."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.calibrate import gaussian_sigma_squared
from discreet.core.numbers import Delta, Epsilon
from discreet.course.facts import facts_json

EPSILONS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.75", "1", "1.5", "2", "3", "5")
FINE = 100


def facts() -> str:
    """Return sigma by epsilon at delta 1e-6, on a lattice of hundredths of a person."""
    sigma = {
        epsilon: round(
            float(gaussian_sigma_squared(Fraction(FINE**2), Epsilon.of(epsilon), Delta.of("1e-6")))
            ** 0.5
            / FINE,
            4,
        )
        for epsilon in EPSILONS
    }
    return facts_json({}, {"delta": 1e-6, "sigma": sigma})
