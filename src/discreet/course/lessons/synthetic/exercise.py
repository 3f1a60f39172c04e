"""Exercise of the lesson: the noise of an independent copy, and the account of RAP."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.account.price import laplace_scale
from discreet.core.numbers import Epsilon
from discreet.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near

COLUMNS, PEOPLE = 10, 10_000
DELTA = 1e-6


def cost_of(rho: float) -> float:
    """Return the epsilon of a rho at the lesson's delta, by the formula of the lesson."""
    return rho + 2 * math.sqrt(rho * math.log(1 / DELTA))


def _rho(given: float) -> GradedAnswer:
    if not 0 < given < 10:
        return GradedAnswer(False, "A rho between 0 and 10 is wanted.")
    found = cost_of(given)
    return judged(
        close_to(1.0, found, within=0.01),
        f"Yes: that rho costs epsilon {found:.3f}.",
        f"That rho costs epsilon {found:.3f}.",
    )


def _round() -> float:
    rounds, picks, rho = 5, 20, 0.018
    return 1 / math.sqrt(2 * rho / (2 * rounds * picks))


QUESTIONS = (
    LessonQuestion(
        "scale",
        "An independent copy of 10,000 people with 10 columns, epsilon 1, one person replaced by another. What is the scale of the Laplace noise on each share of a histogram?",
        near(
            lambda: laplace_scale(Fraction(2, PEOPLE), Epsilon.of(Fraction(1, COLUMNS))),
            "Yes: 2 x 10 / 10,000 = {:g} of a share.",
            "Sensitivity 2/n, and a tenth of epsilon for each column.",
            within=0.01,
        ),
        "2*10/(1*10000)",
        "Lap(2d / (epsilon n)).",
    ),
    LessonQuestion(
        "rho",
        "Which rho corresponds to epsilon 1 at delta 1e-6, by epsilon = rho + 2 sqrt(rho ln(1/delta))?",
        _rho,
        "(sqrt(ln(10^6) + 1) - sqrt(ln(10^6)))^2",
        "A quadratic equation in sqrt(rho); about 0.0175.",
    ),
    LessonQuestion(
        "round",
        "RAP with T = 5 rounds of K = 20 questions and rho 0.018 in all. What is sigma of the Gaussian noise on each measured count?",
        near(
            _round,
            "Yes: {:.0f} people on each count.",
            "Each measurement has rho/(2TK); Gaussian noise on a count costs rho = 1/(2 sigma^2).",
            within=0.02,
        ),
        "sqrt(2*5*20/(2*0.018))",
        "rho/(2TK) = 0.00009 for a measurement, and sigma = 1/sqrt(2 x 0.00009) = 74.5.",
    ),
)
