"""The lesson 'k_anonymity': classes of k, and how they leak.

Exercise: classes that agree, and two classes that meet.
Figures: the intersection and homogeneity attacks as k grows.
"""

from __future__ import annotations

from discreet.lab.course.facts import attack_sweep, facts_json
from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, judged, near

FIRST = ("flu", "asthma", "heart", "diabetes", "flu")
SECOND = ("asthma", "cancer", "migraine", "asthma", "back")
K, SHARE = 5, 0.1


def _left(given: float) -> GradedAnswer:
    both = set(FIRST) & set(SECOND)
    return judged(
        given == len(both),
        f"Yes: only {', '.join(sorted(both))} is in both. The patient has it, for certain.",
        "Which conditions are in the first class and also in the second?",
    )


QUESTIONS = (
    LessonQuestion(
        "left",
        "Your neighbour is in a class of the first hospital with the conditions flu, asthma, heart, diabetes, flu, and in a "
        "class of the second with asthma, cancer, migraine, asthma, back. One condition was treated in both. "
        "How many conditions are still possible?",
        _left,
        "1",
        "The two sets have asthma alone in common: two 5-anonymous tables, and no doubt left.",
        "A whole number.",
    ),
    LessonQuestion(
        "agree",
        "A secret is had by one person in ten, independently of everything else. What is the chance that a class of 5 is "
        "homogeneous: that all of its members have it, or none?",
        near(
            lambda: SHARE**K + (1 - SHARE) ** K,
            "Yes: 0.9^5 + 0.1^5 is {:.3f}. More than half of the classes tell everything.",
            "A class agrees if all five have the secret, or if none has it.",
            within=0.01,
        ),
        "0.59",
        "0.1^5 + 0.9^5 = 0.00001 + 0.59049.",
        "A share such as 0.5, or 50%.",
    ),
)


SIZES = (2, 3, 5, 10, 20, 50)


def facts() -> str:
    """Return both sweeps, run on the town."""
    values = {f"k = {k}": k for k in SIZES}
    people = {"people": 10_000}
    return facts_json(
        {
            name: attack_sweep(
                name, "k", values, label="smallest class of a release:", settings=people, start=2
            )
            for name in ("intersection", "homogeneity")
        }
    )
