"""The lesson 'aggregates': why exact totals fail.

Exercise: the last value, a singling-out question, and the noise that reconstruction survives.
Figures: reconstruction as the noise of each answer grows.
"""

from __future__ import annotations

from discreet.lab.course.facts import attack_sweep, facts_json
from discreet.lab.course.lesson import (
    AnswerKind,
    GradedAnswer,
    LessonQuestion,
    close_to,
    judged,
    near,
)
from discreet.lab.course.practice_town import PLAIN

WITH, WITHOUT, PEOPLE = 52_000, 50_000, 5
BITS, KNOWN = 1_000, 0.9


def _single(sql: str) -> GradedAnswer:
    found = PLAIN.rows_counted(sql)
    if found is None:
        return GradedAnswer(
            False, "A plain count is wanted: SELECT COUNT(*) AS n FROM people WHERE ..."
        )
    return judged(
        found == 1,
        "Yes: exactly one of the 1,000 made-up people. Add AND smoker to your question, and the answer is a secret.",
        f"That counts {found} of the 1,000 made-up people. Exactly one is wanted.",
    )


def _noise(given: float) -> GradedAnswer:
    truth = (1 - KNOWN) * BITS / 4
    return judged(
        close_to(truth, given),
        f"Yes: 4E wrong bits are {4 * given:.0f}, which leaves 90%.",
        "At most 4E bits are wrong. Which E makes that 100 bits?",
    )


QUESTIONS = (
    LessonQuestion(
        "single",
        "Write a question that singles out one person of the made-up town of 1,000: SELECT COUNT(*) AS n FROM people WHERE ... whose exact answer is 1. "
        "The columns are age, sex, region, education, job, income, married, household_size, smoker and height. It is asked at epsilon 50, which is as good as exact.",
        _single,
        "SELECT COUNT(*) AS n FROM people WHERE age = 83 AND sex = 'Female'",
        "Conditions on a few columns soon leave one person; 'income between' and 'height between' are quick, too.",
        "Try ages and heights.",
        kind=AnswerKind.SQL,
    ),
    LessonQuestion(
        "last",
        "Five colleagues earn 52,000 on average. The one who left is taken out, and the four others earn 50,000 on average. What did the one who left earn?",
        near(
            lambda: PEOPLE * WITH - (PEOPLE - 1) * WITHOUT,
            "Yes: 5 x 52,000 less 4 x 50,000 is {:,.0f}.",
            "What do all five earn together, and what do the four?",
        ),
        "60000",
        "n a - (n - 1) b = 5 x 52,000 - 4 x 50,000.",
    ),
    LessonQuestion(
        "noise",
        "1,000 people have a secret bit each, and every subset is counted with an error of at most E. Up to which E is an attacker sure to know at least 90% of the bits?",
        _noise,
        "25",
        "All but 4E bits are known: 4E = 100.",
        "A number of people.",
    ),
)


def facts() -> str:
    """Return the sweep, run on the town."""
    noise = {f"{n:g} of the root of n": n for n in (0.05, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)}
    settings = {"people": 512, "lp_people": 32}
    sweep = attack_sweep(
        "reconstruction", "noise", noise, label="noise of each answer:", settings=settings, start=2
    )
    return facts_json({"noise": sweep})
