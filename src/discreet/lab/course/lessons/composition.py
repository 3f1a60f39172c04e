"""The lesson 'composition': how losses add up, and who pays.

Exercise: the bill of four questions, a fifth that raises nothing, and a hundred small ones.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.lab.course.lesson import AnswerKind, GradedAnswer, LessonQuestion, judged, near
from discreet.lab.course.practice_town import ASKED_FOUR, FOUR
from discreet.privacy.account.composition import optimal_epsilon

FIFTH = "0.2"


def _fifth(sql: str) -> GradedAnswer:
    plan = ASKED_FOUR.explain(sql, epsilon=FIFTH)
    before, after = float(plan.before.epsilon), float(plan.after.epsilon)
    if plan.free:
        return GradedAnswer(False, "That follows from answers already paid for. Ask something new.")
    return judged(
        after <= before,
        f"Yes: the bill stays at {after:g}. The question can touch: {plan.region}.",
        f"That would raise the bill from {before:g} to {after:g}: {plan.region} can be touched.",
    )


QUESTIONS = (
    LessonQuestion(
        "sum",
        "All (0.5), men (0.2), women (0.25), over 20 (0.25). What do the four cost by sequential composition?",
        near(
            lambda: sum(Fraction(epsilon) for _, epsilon in FOUR),
            "Yes: 1.2.",
            "Add the four prices.",
            within=1e-6,
        ),
        "1.2",
        "0.5 + 0.2 + 0.25 + 0.25.",
    ),
    LessonQuestion(
        "worst",
        "And what does the person pay who is hit hardest?",
        near(
            lambda: ASKED_FOUR.explain(FOUR[0][0], epsilon=FIFTH).before.epsilon,
            "Yes. The ledger of a made-up town, of which the four were asked, says {:g}.",
            "Which people are touched by three of the four questions, and at what price?",
            within=1e-6,
        ),
        "1.0",
        "A woman over 20: 0.5 + 0.25 + 0.25.",
    ),
    LessonQuestion(
        "fifth",
        "The four have been asked. Write a fifth question that costs 0.2 and leaves the bill of the worst-hit person as it is.",
        _fifth,
        "SELECT COUNT(*) AS n FROM people WHERE age <= 20 AND smoker",
        "People up to 20 have paid 0.75 at most; 0.2 more is 0.95.",
        "Who has paid least so far?",
        kind=AnswerKind.SQL,
    ),
    LessonQuestion(
        "hundred",
        "A hundred answers at 0.1, fixed beforehand. What do they cost together at delta 1e-6, by the optimal formula?",
        near(
            lambda: optimal_epsilon(Fraction(1, 10), 100, Fraction(1, 10**6)),
            "Yes: {:.2f} instead of 10.",
            "The last Python block works it out.",
            within=0.02,
        ),
        "4.77",
        "discreet.privacy.account.composition.optimal_epsilon: the exact composition of k equal pure mechanisms.",
    ),
)
