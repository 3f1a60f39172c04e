"""The lesson 'noise': Laplace and Gaussian noise.

Exercise: exact error bars, and from where on the Gaussian is smaller.
Figures: the Gaussian's sigma at each epsilon of the slider, as the product calibrates it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from discreet.base.numbers import Delta, Epsilon
from discreet.lab.course.facts import facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, close_to, judged
from discreet.privacy.account.price import gaussian_sigma_squared
from discreet.privacy.noise.laws import LaplaceLaw

WANTED, NAMES, MOST = 10, 10_000, 10_000


def _names(given: float) -> GradedAnswer:
    truth = LaplaceLaw.of(1).joint_half_width(NAMES, "0.95")
    return judged(
        given == truth,
        f"Yes: {truth}. The bound for the continuous law says 12.2.",
        "The smallest m with 10,000 x P(|X| > m) at most 0.05, where P(|X| >= m) = 2 t^m/(1+t) and t = 1/e.",
    )


def _width(epsilon: float) -> int:
    return LaplaceLaw.of(1 / Fraction(repr(epsilon))).half_width("0.95")


def _epsilon(given: float) -> GradedAnswer:
    if not 0.001 <= given <= 20:
        return GradedAnswer(False, "An epsilon between 0.001 and 20 is wanted.")
    found = _width(given)
    if found > WANTED:
        return GradedAnswer(False, f"At that epsilon a count is within ± {found}: too much noise.")
    return judged(
        _width(given * 0.97) > WANTED,
        f"Yes: ± {found}, and not more budget than it takes.",
        f"± {found} is good enough, but a smaller epsilon would do.",
    )


@cache
def gaussian_wins(counts: int) -> bool:
    """Return whether Gaussian noise has the smaller variance for so many counts that share a person."""
    square = gaussian_sigma_squared(Fraction(counts), Epsilon.of("1"), Delta.of("1e-6"))
    return float(square) < LaplaceLaw.of(counts).variance


def _from(given: float) -> GradedAnswer:
    if given != int(given) or not 1 < given <= MOST:
        return GradedAnswer(False, "A whole number of counts above 1 is wanted.")
    counts = int(given)
    if not gaussian_wins(counts):
        return GradedAnswer(False, f"For {counts} counts Laplace noise is still smaller.")
    return judged(
        not gaussian_wins(counts - 1),
        f"Yes: from {counts} counts on.",
        f"For {counts} counts the Gaussian is smaller, but it is for fewer, too.",
    )


def _variance(given: float) -> GradedAnswer:
    scale = 5.0
    t = math.exp(-1 / scale)
    continuous, discrete = 2 * scale**2, 2 * t / (1 - t) ** 2
    return judged(
        close_to(continuous, given) or close_to(discrete, given),
        f"Yes: 2 b^2 = {continuous:.0f} for the continuous law, {discrete:.1f} for the discrete one.",
        "It is not 2b.",
    )


QUESTIONS = (
    LessonQuestion(
        "names",
        "10,000 first names are counted with discrete Laplace noise, epsilon 1. What is the smallest m so that no count is off by more than m, with 95%?",
        _names,
        "12",
        "10,000 x 2 t^13/(1+t) = 0.033 is below 0.05, and 10,000 x 2 t^12/(1+t) is not.",
        "A whole number.",
    ),
    LessonQuestion(
        "epsilon",
        "A count shall be within ± 10 with 95%. Which epsilon does that take? (Not more than it takes.)",
        _epsilon,
        "0.29",
        "P(|X| >= 11) = 2 t^11/(1+t) is to be at most 0.05, with t = e^-epsilon.",
    ),
    LessonQuestion(
        "variance",
        "What is the variance of Laplace noise of scale 5?",
        _variance,
        "50",
        "2 b^2.",
    ),
    LessonQuestion(
        "from",
        "One person may be in each of k counts; epsilon 1, delta 1e-6 for all together. From which k on has Gaussian noise the smaller variance, calibrated through rho as in the second Python block?",
        _from,
        "11",
        "Laplace's variance is about 2 k^2, the Gaussian's k times 20.5 (sigma is 4.53 for k = 1): run the second cell of the notebook for other k.",
        "A whole number; the Python above helps.",
    ),
)


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
