"""The lesson 'groups': group privacy.

Exercise: factors of families, and of people with many rows.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, judged, near
from discreet.privacy.account.composition import group_delta, group_epsilon

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def _largest(given: float) -> GradedAnswer:
    if given != int(given) or not 1 <= given <= 1000:
        return GradedAnswer(False, "A whole number of people is wanted.")
    size = int(given)
    return judged(
        group_epsilon(QUARTER, size) <= 1 < group_epsilon(QUARTER, size + 1),
        "Yes: four steps of 0.25 make 1.",
        f"For {size} people epsilon is {float(group_epsilon(QUARTER, size)):g}.",
    )


QUESTIONS = (
    LessonQuestion(
        "family",
        "An answer has epsilon 0.5. By which factor may the odds that a family of four took part change at most?",
        near(
            lambda: math.exp(group_epsilon(HALF, 4)),
            "Yes: e^2 = {:.2f}.",
            "Four steps of e^0.5 each.",
            within=0.01,
        ),
        "exp(4 * 0.5)",
        "e^(4 x 0.5) = 7.39.",
    ),
    LessonQuestion(
        "largest",
        "An answer has epsilon 0.25. How large a group still has epsilon 1 or less?",
        _largest,
        "4",
        "m x 0.25 is to be at most 1.",
    ),
    LessonQuestion(
        "visits",
        "Noise hides one visit with epsilon 0.1. What is the epsilon of a patient with 20 visits?",
        near(
            lambda: group_epsilon(Fraction(1, 10), 20),
            "Yes: 20 x 0.1 = 2.",
            "All 20 rows may be hers.",
            within=1e-6,
        ),
        "2",
        "Group privacy over her own rows.",
    ),
    LessonQuestion(
        "delta",
        "Epsilon 1, delta 1e-6 for one person. How large is delta for a group of ten?",
        near(
            lambda: group_delta(Fraction(1), Fraction(1, 10**6), 10),
            "Yes: about {:.2g}. For ten people one in a million has become one in eighty.",
            "It is multiplied by 1 + e + e^2 + ... + e^9.",
            within=0.02,
        ),
        "(exp(10) - 1) / (exp(1) - 1) * 1e-6",
        "(e^(m epsilon) - 1) / (e^epsilon - 1) x delta = 22,025 / 1.718 x 1e-6 = 0.0128.",
    ),
)
