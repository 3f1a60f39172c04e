"""Exercise of the lesson: flips, debiasing, and what trusting nobody costs."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.course.lesson import GradedAnswer, LessonQuestion, judged, near
from discreet.noise.laws import LaplaceLaw
from discreet.survey.sketch.count_mean import CountMeanSketch

PEOPLE = 10_000


def _dearer(given: float) -> GradedAnswer:
    local = math.sqrt(PEOPLE / 4) / math.tanh(0.5)
    central = math.sqrt(LaplaceLaw.of(1).variance)
    return judged(
        0.95 * local / math.sqrt(2) <= given <= 1.05 * local / central,
        f"Yes: {local:.0f} people against {central:.2f}.",
        "Local: sqrt(n)/2 divided by q = tanh(1/2). With a curator: sqrt(2).",
    )


QUESTIONS = (
    LessonQuestion(
        "flip",
        "With which probability does a count mean sketch of epsilon 4 flip each bit?",
        near(
            lambda: 1 - CountMeanSketch.of(Fraction(4)).own,
            "Yes: {:.4f}, as the sketch itself says.",
            "1/(1 + e^(epsilon/2)) with epsilon 4.",
            within=0.01,
        ),
        "1/(1+exp(2))",
        "1/(1 + e^(epsilon/2)) = 0.1192.",
    ),
    LessonQuestion(
        "debias",
        "And by which factor is a bit debiased?",
        near(
            lambda: 1 / (2 * float(CountMeanSketch.of(Fraction(4)).own) - 1),
            "Yes: {:.3f}.",
            "(e^2 + 1)/(e^2 - 1)",
            within=0.01,
        ),
        "(exp(2)+1)/(exp(2)-1)",
        "1/(1 - 2 x 0.1192) = 1.313.",
    ),
    LessonQuestion(
        "dearer",
        "10,000 people, half of them yes, epsilon 1. How many times larger is the standard deviation of the count by randomized response than by a curator's Laplace noise?",
        _dearer,
        "(sqrt(10000)/2/tanh(0.5))/sqrt(2)",
        "50/0.4621 = 108 people against 1.41 (1.36 for the discrete law).",
    ),
    LessonQuestion(
        "year",
        "A device reports every day for 365 days with fresh coins, epsilon 0.5 each. What is promised in all?",
        near(
            lambda: 365 * 0.5,
            "Yes: 182.5. The factor is e^182: no promise at all.",
            "Fresh coins every day: the losses add up.",
            within=1e-6,
        ),
        "182.5",
        "Sequential composition.",
        "An epsilon.",
    ),
)
