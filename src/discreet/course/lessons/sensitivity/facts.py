"""What the planner says of some statements, for those who guessed first."""

from __future__ import annotations

from discreet.course.facts import facts_json
from discreet.course.practice_town import PLAIN

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
