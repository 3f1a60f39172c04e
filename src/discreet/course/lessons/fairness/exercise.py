"""Exercise of the lesson: how large a group must be, and what privacy does not promise to groups."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.composition import group_epsilon
from discreet.course.lesson import GradedAnswer, LessonQuestion, close_to, judged, near
from discreet.noise.laws import LaplaceLaw

SHARE = 0.05


def _size(given: float) -> GradedAnswer:
    width = LaplaceLaw.of(10).half_width("0.95")
    truth = width / SHARE
    return judged(
        close_to(truth, given, within=0.02),
        f"Yes: noise ± {width} is 5% of {truth:.0f}.",
        f"Noise of scale 10 is within ± {width} with 95%. Of which number is that 5%?",
    )


def _above(given: float) -> GradedAnswer:
    found, baseline = 70.8, 67.3
    points = found - baseline
    return judged(
        close_to(points, given, within=1e-6) or close_to(points / 100, given, within=1e-6),
        f"Yes: {points:.1f} points. After hiding it is none; of this adversary.",
        "Compare with always saying the most common, which is right 67.3 times in 100; a coin is no baseline here.",
    )


QUESTIONS = (
    LessonQuestion(
        "size",
        "Counts are published at epsilon 0.1. From how many people on is the noise ± (95%) at most 5% of a count?",
        _size,
        "600",
        "The half-width of discrete Laplace noise of scale 10 is 30; 30/0.05 = 600.",
    ),
    LessonQuestion(
        "group",
        "A classifier was trained with epsilon 1 for each person. What epsilon does that give a minority of 50 people, as a group?",
        near(
            lambda: group_epsilon(Fraction(1), 50),
            "Yes: 50. To a group, that is no promise at all, and it is not meant to be one.",
            "Group privacy: fifty steps of 1.",
            within=1e-6,
        ),
        "50",
        "m epsilon.",
    ),
    LessonQuestion(
        "above",
        "From codes without hiding, an adversary tells the sex 70.8 times in 100; always saying the most common is right 67.3 times in 100. How many points above guessing is it?",
        _above,
        "3.5",
        "A score means nothing without its baseline.",
    ),
)
