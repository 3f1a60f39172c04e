"""The lesson 'refusing': why refusing fails.

Exercise: what a refusal leaves, what a careful auditor refuses, what looking costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from discreet.lab.course.lesson import GradedAnswer, LessonQuestion, judged, near

Bits = tuple[int, ...]
PEOPLE, A_SECOND = 40, 1e9


def dangerous(tables: Iterable[Bits], truth: Bits, subset: tuple[int, ...]) -> bool:
    """Return whether the count over a subset would fix somebody's bit, given the tables still possible."""
    told = sum(truth[i] for i in subset)
    left = [table for table in tables if sum(table[i] for i in subset) == told]
    return any(len({table[i] for table in left}) == 1 for i in range(len(truth)))


def _refused(given: float) -> GradedAnswer:
    tables = list(product((0, 1), repeat=2))
    left = [table for table in tables if dangerous(tables, table, (0, 1))]
    return judged(
        given == len(left),
        "Yes: both have a one, or neither has. Half of the secret was in the refusal.",
        "In which of the tables 00, 01, 10, 11 would the count have fixed a bit?",
    )


def _careful(given: float) -> GradedAnswer:
    tables = list(product((0, 1), repeat=2))
    always = any(dangerous(tables, table, (0, 1)) for table in tables)
    refuses = len(tables) if always else 0
    return judged(
        given == refuses,
        "Yes: it refuses in all of them, so that its refusal says nothing, and neither does anything else.",
        "It may not look at the table. Is there one for which an answer would be dangerous?",
    )


QUESTIONS = (
    LessonQuestion(
        "refused",
        "Two people have secret bits. The auditor, who knows them, refuses to say how many of the two are ones. How many of the four tables are still possible?",
        _refused,
        "2",
        "Only counts of 0 and 2 fix bits, so 00 and 11 are left.",
        "A whole number.",
    ),
    LessonQuestion(
        "careful",
        "The same question goes to an auditor who decides without looking at the table. In how many of the four tables does it refuse?",
        _careful,
        "4",
        "For 00 an answer would be dangerous, and it cannot tell whether the table is 00.",
        "A whole number.",
    ),
    LessonQuestion(
        "seconds",
        "An auditor tries all tables of 40 bits, a thousand million a second. How many seconds does one question take?",
        near(
            lambda: 2**PEOPLE / A_SECOND,
            "Yes: {:,.0f} seconds, for one question about 40 people. For 70 people it is 37,000 years.",
            "There are 2^40 tables of 40 bits.",
            within=0.02,
        ),
        "2^40 / 10^9",
        "2^40 is about 1.1 x 10^12.",
        "Arithmetic such as 2^3/10 will do.",
    ),
)
