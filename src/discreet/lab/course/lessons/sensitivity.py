"""The lesson 'sensitivity': how far one person moves a statement.

Exercise: statements of a wanted sensitivity, and the standard deviation.
Figures: what the planner says of some statements, for those who guessed first.
"""

from __future__ import annotations

import re
import statistics

from discreet.lab.course.facts import facts_json
from discreet.lab.course.lesson import (
    AnswerKind,
    GradedAnswer,
    LessonQuestion,
    close_to,
    judged,
    near,
)
from discreet.lab.course.practice_town import PLAIN
from discreet.privacy.noise.laws import LaplaceLaw

WANTED, PEOPLE = 120, 400
_MOVED = re.compile(r"one unit moves it by ([\d,]+)")
"""How far one person moves a measure in its own steps, in the planner's words; choices have none."""


def _moves(sql: str) -> GradedAnswer:
    plan = PLAIN.explain(sql, epsilon="1")
    noise = list(plan.expected_error.values())
    if len(plan.mechanisms) != 1 or len(noise) != 1 or noise[0] is None:
        return GradedAnswer(
            False, "One output with additive noise is wanted, such as a single SUM."
        )
    in_steps = _MOVED.search(plan.mechanisms[0])
    if in_steps is None:
        return GradedAnswer(False, f"The planner says: {plan.mechanisms[0]}.")
    # The answer's noise over the noise of one step is how many units of the answer a step is.
    moved = int(in_steps[1].replace(",", ""))
    found = noise[0] * moved / LaplaceLaw.of(moved).half_width("0.95")
    return judged(
        close_to(WANTED, found, within=1e-9),
        f"Yes. The planner says: {plan.mechanisms[0]}.",
        f"One person moves that by {found:g}. The planner says: {plan.mechanisms[0]}.",
    )


def _groups() -> float:
    whole = PLAIN.explain("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon="0.1")
    one = PLAIN.explain("SELECT COUNT(*) AS n FROM people", epsilon="0.1")
    same = whole.expected_error["n"] == one.expected_error["n"]
    return float(whole.cost.epsilon) if same else float("nan")


QUESTIONS = (
    LessonQuestion(
        "moves",
        "Write a statement over people whose answer one person can move by exactly 120.",
        _moves,
        "SELECT SUM(age) AS total FROM people",
        "Ages are declared from 0 to 120. (SUM(15 * household_size) would do as well: sizes are declared up to 8. "
        "SUM(income - income + 120) would not: the planner bounds each part by itself.)",
        "Which column is declared up to 120?",
        kind=AnswerKind.SQL,
    ),
    LessonQuestion(
        "groups",
        "One count with noise of scale 10 costs epsilon 0.1. What do the counts of all fifty regions cost, each with noise of scale 10, as GROUP BY region?",
        near(
            _groups,
            "Yes: a person lives in one region, so all fifty counts cost what one costs.",
            "In how many of the fifty regions does a person live?",
        ),
        "0.1",
        "The groups are disjoint: parallel composition.",
    ),
    LessonQuestion(
        "deviation",
        "400 numbers in [0, 1], n public, one of them replaced. How far can the standard deviation move, from all zeros?",
        near(
            lambda: statistics.pstdev([1.0] + [0.0] * (PEOPLE - 1)),
            "Yes: sqrt(399)/400 = {:.4f}, twenty times 1/n.",
            "Work out the standard deviation of 399 zeros and a one.",
            within=0.01,
        ),
        "sqrt(399)/400",
        "The variance of one 1 among 399 zeros is 1/400 - 1/400^2.",
        "Arithmetic such as sqrt(2)/10 will do.",
    ),
)


STATEMENTS = {
    "SELECT COUNT(*) AS n FROM people WHERE smoker": (
        1,
        "A person is counted once, or not at all.",
    ),
    "SELECT region, COUNT(*) AS n FROM people GROUP BY region": (
        1,
        "A person lives in one region: fifty counts cost what one costs.",
    ),
    "SELECT SUM(income) AS total FROM people": (
        500_000,
        "The declared maximum, not the highest income in the table.",
    ),
    "SELECT SUM(household_size) AS s FROM people": (
        None,
        "The declared maximum of household_size.",
    ),
    "SELECT COUNT(*) AS n, SUM(smoker::int) AS s FROM people": (
        2,
        "Each number moves by 1, and both may move: 2 in all, so each gets half of epsilon.",
    ),
    "SELECT MAX(age) AS oldest FROM people": (
        120,
        "One person could be 120: the whole range. So nothing is noised; a value is chosen among 121.",
    ),
}


def facts() -> str:
    """Return each statement with its sensitivity and the planner's own words."""
    told = []
    for sql, (moves, why) in STATEMENTS.items():
        plan = PLAIN.explain(sql, epsilon="1")
        words = "; ".join(plan.mechanisms)
        said = words.partition("moves it by ")[2].partition(" ")[0].replace(",", "")
        told.append(
            {"sql": sql, "moves": int(said) if moves is None else moves, "why": why, "plan": words}
        )
    return facts_json({}, {"statements": told})
