"""The lesson 'consistency': numbers that agree.

Exercise: reconcile by hand, checked by the product's own least squares.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.lab.course.lesson import AnswerKind, GradedAnswer, LessonQuestion, near
from discreet.work.publish.reconcile.answers import reconcile

MEASURED = {"total": 2005, "male": 1001, "female": 995}
VARIANCES = {"total": 8, "male": 50, "female": 32}
EQUAL = {"total": 100, "a": 40, "b": 50}
OWN, CHILDREN = 200.0, 10 * 200.0


def _against(
    given: list[float], measured: Mapping[str, int], variances: Mapping[str, int], equation: str
) -> GradedAnswer:
    truth = reconcile(measured, variances=variances, equations=[equation])
    if len(given) != len(truth):
        return GradedAnswer(False, f"{len(truth)} numbers are wanted, in this order.")
    wrong = [
        name
        for (name, value), mine in zip(truth.items(), given, strict=True)
        if abs(value - mine) > 0.06
    ]
    if not wrong:
        return GradedAnswer(True, "Yes. They add up, and nothing that adds up lies closer.")
    if abs(given[0] - given[1] - given[2]) > 0.2:
        return GradedAnswer(False, "They do not add up yet.")
    return GradedAnswer(
        False, f"They add up, but '{wrong[0]}' should have moved by another amount."
    )


def _four(given: list[float]) -> GradedAnswer:
    return _against(given, MEASURED, VARIANCES, "total = male + female")


def _equal(given: list[float]) -> GradedAnswer:
    return _against(given, EQUAL, dict.fromkeys(EQUAL, 1), "total = a + b")


QUESTIONS = (
    LessonQuestion(
        "equal",
        "A total was measured as 100, its parts a and b as 40 and 50, all with the same variance. What are total, a and b after least squares?",
        _equal,
        "96.667 43.333 53.333",
        "The contradiction of 10 is shared equally: 10/3 each.",
        "Three numbers, to one digit after the point.",
        kind=AnswerKind.NUMBERS,
    ),
    LessonQuestion(
        "four",
        "2,005 people, 1,001 men, 995 women, measured with variances 8, 50 and 32. What are total, men and women after weighted least squares?",
        _four,
        "2004.2 1006.0 998.2",
        "9 people are missing; 8/90, 50/90 and 32/90 of them are 0.8, 5 and 3.2.",
        "Three numbers, to one digit after the point.",
        kind=AnswerKind.NUMBERS,
    ),
    LessonQuestion(
        "both",
        "A county is measured with variance 200, and each of its ten districts with variance 200. What is the variance of the best estimate of the county?",
        near(
            lambda: 1 / (1 / OWN + 1 / CHILDREN),
            "Yes: {:.1f} instead of 200.",
            "Two independent estimates of the same number: their precisions, 1/variance, add up.",
            within=0.01,
        ),
        "1/(1/200 + 1/2000)",
        "The sum of the districts has variance 2,000.",
    ),
)
