"""The lesson 'consent': consent, law and limits.

Exercise: odds in words, several studies, and the years of a law.
Figures: what each epsilon promises, in the product's own words.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.base.numbers import Epsilon
from discreet.base.unit import Neighbours
from discreet.lab.course.facts import Sweep, SweepBar, SweepStep, facts_json
from discreet.lab.course.lesson import (
    GradedAnswer,
    LessonQuestion,
    close_to,
    judged,
    near,
    total_epsilon,
)
from discreet.privacy.account.composition import group_epsilon
from discreet.privacy.account.explain import INDEPENDENT, WorldPair, belief, factor, promises_of

STUDIES = (Fraction(1), Fraction(1, 2), Fraction(1, 4))


def _told(given: float) -> GradedAnswer:
    found = factor(given) if 0 < given < 700 else math.inf
    return judged(
        close_to(1.5, found, within=0.01),
        "Yes: ln 1.5, about 0.405.",
        f"At that epsilon one would have to say {found:.3g} times.",
    )


QUESTIONS = (
    LessonQuestion(
        "told",
        "A consent form says: compared with you not taking part, nobody's odds change by more than 1.5 times. Which epsilon is that, in all?",
        _told,
        "ln(1.5)",
        "e^epsilon = 1.5.",
    ),
    LessonQuestion(
        "believes",
        "An employer knows that you are in a study and thinks it 10% likely that you have an illness; what they believe about others does not depend on you. The study publishes with epsilon 0.5 (add-remove neighbours). What can the employer believe at most, because of your row?",
        near(
            lambda: belief(float(group_epsilon(STUDIES[1], 2)), 0.1).highest,
            "Yes: {:.1%}.",
            "Ill or not ill is two steps: out with one row, in with the other. Odds of 1 to 9, times e^(2 x 0.5), and back to a probability.",
            within=0.01,
        ),
        "0.232",
        "Odds 1/9 x e = 0.3020, which is 23.2%. (15.5% is for whether you take part.)",
        "A share such as 0.2, or 20%.",
    ),
    LessonQuestion(
        "three",
        "Somebody is in three studies, published with epsilon 1, 0.5 and 0.25. What was promised to her by all of them together?",
        near(
            lambda: total_epsilon(STUDIES),
            "Yes: {:g}. The budget follows the person.",
            "She is in all three; what is published of each tells about her.",
            within=1e-6,
        ),
        "1.75",
        "The sum: composition across data sets that hold the same person.",
        "An epsilon.",
    ),
)


EPSILONS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "3", "5", "10")
BEFORE = (0.01, 0.5)
NAMES = {
    WorldPair.TAKING_PART: "that you take part, {:.0%} before",
    WorldPair.ATTRIBUTE: "what your row says, {:.0%} before",
}


def facts() -> str:
    """Return the sweep: beliefs at most, and the sentences of `discreet explain`."""
    steps = []
    for epsilon in EPSILONS:
        promises = promises_of(Epsilon.of(epsilon), neighbours=Neighbours.ADD_REMOVE)
        bars = tuple(
            SweepBar(
                NAMES[promise.comparison].format(before),
                belief(promise.epsilon, before).highest,
                baseline=before,
            )
            for promise in promises
            for before in BEFORE
        )
        words = " ".join(sentence for promise in promises for sentence in promise.sentences)
        steps.append(SweepStep(f"ε {epsilon}", bars, f"{words} Both hold {INDEPENDENT}."))
    sweep = Sweep(
        "epsilon in all:",
        "what anybody can believe at most afterwards; the mark is what they believed before",
        tuple(steps),
        4,
    )
    return facts_json({"": sweep})
