"""The lesson 'promise': what epsilon promises, and what not.

Exercise: beliefs and odds, and what holds of the promise.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.lab.course.lesson import (
    AnswerKind,
    GradedAnswer,
    LessonQuestion,
    close_to,
    judged,
    judged_letters,
    near,
    total_epsilon,
)
from discreet.privacy.account.composition import group_epsilon
from discreet.privacy.account.explain import belief, factor


def _double(given: float) -> GradedAnswer:
    found = factor(given) if 0 < given < 700 else math.inf
    return judged(
        close_to(2.0, found),
        "Yes: ln 2, about 0.693.",
        f"At that epsilon these odds change by at most {found:.3g} times.",
    )


def _holds(given: frozenset[str]) -> GradedAnswer:
    # A: the law of a noisy count seen through any function: fold the noise on itself and compare.
    t, reach = math.exp(-1.0), range(-60, 61)
    law = {k: t ** abs(k) for k in reach}
    folded = [
        [sum(p for k, p in law.items() if (k + shift) % 3 == rest) for rest in range(3)]
        for shift in (0, 1)
    ]
    ratio = max(abs(math.log(a / b)) for a, b in zip(*folded, strict=True))
    # B: the same question a hundred times, at epsilon 0.1 each.
    hundred = total_epsilon([Fraction(1, 10)] * 100)
    # C: the share of ill smokers in both worlds, 220 of 1,000 and 219 of 999.
    learns = abs(220 / 1000 - 219 / 999) < 0.001
    # D: an attacker who knows every other person still sees one of two neighbouring laws.
    knows_all = max(abs(abs(k) - abs(k - 1)) for k in reach) * 1.0
    return judged_letters(
        [ratio <= 1.0, hundred <= Fraction(1, 10), not learns, knows_all <= 1.0],
        given,
        [
            "what is computed from an output lies in a set exactly when the output lies in some other set, and the promise is for every set.",
            f"a hundred answers at 0.1 cost {float(hundred):g} together.",
            "the study says the same with you and without you; your data did not raise the premium.",
            "knowing all others leaves exactly two neighbouring worlds, and these are what the definition compares.",
        ],
    )


QUESTIONS = (
    LessonQuestion(
        "belief",
        "Somebody believes with 1% that you are in a study. It publishes with epsilon 1 (add-remove neighbours). With which probability can they believe at most afterwards that you are in it?",
        near(
            lambda: belief(1.0, 0.01).highest,
            "Yes: odds of 1 to 99 times e are {:.2%}.",
            "It is the odds, 1 to 99, that are multiplied by e; then back to a probability.",
            within=0.01,
        ),
        "0.0267",
        "Odds 1/99 x e = 0.02746, and 0.02746 / 1.02746 = 0.0267.",
        "A share such as 0.05, or 5%.",
    ),
    LessonQuestion(
        "attribute",
        "Somebody knows that you are in the study, and thinks it an even chance that you smoke. The study publishes with epsilon 1 (add-remove neighbours). What can they believe at most afterwards?",
        near(
            lambda: belief(float(group_epsilon(Fraction(1), 2)), 0.5).highest,
            "Yes: your row goes out and another comes in, so odds of 1 to 1 times e^2 are {:.1%}.",
            "From your row to another in its place it is two steps, each with a factor of e: odds of 1 to 1 times e^2.",
            within=0.01,
        ),
        "0.881",
        "e^2 = 7.389, and 7.389 / 8.389 = 0.881.",
        "A share such as 0.05, or 5%.",
    ),
    LessonQuestion(
        "double",
        "At which epsilon do anyone's odds that you take part change by at most a factor of 2?",
        _double,
        "ln(2)",
        "e^epsilon = 2.",
    ),
    LessonQuestion(
        "holds",
        "Which of these hold? A: rounding an ε-private answer, or looking at it modulo 3, keeps it ε-private. B: asking the same question a hundred times at 0.1 costs 0.1. "
        "C: after the smoking study your premium rises, so the study broke its promise to you. D: the promise holds against somebody who knows everybody else's data.",
        _holds,
        "A D",
        "Post-processing is free; repetition is not; the study would have said the same without you; the definition quantifies over all others' data.",
        "Letters, such as A C.",
        kind=AnswerKind.LETTERS,
    ),
)
