"""What an exercise is made of: a question, how its answer is read, and what the checker says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from discreet.account.tally import tally
from discreet.core.event import Composed, Pure


class AnswerKind(StrEnum):
    """How an answer is written."""

    NUMBER = "number"
    NUMBERS = "numbers"
    LETTERS = "letters"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """What the checker found: whether the answer is right, and why, in a sentence or two."""

    right: bool
    words: str

    def to_json(self) -> dict[str, Any]:
        """Return the two as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LessonQuestion:
    """One question. `check` works out whether an answer is right: it gets a number, a list of numbers, a set
    of letters or the text of a statement, and computes with the product's own functions.

    `solution` is one answer that `check` accepts and `why` the way to it; both are for teachers.
    """

    name: str
    text: str
    check: Callable[[Any], GradedAnswer]
    solution: str
    why: str
    hint: str = ""
    kind: AnswerKind = AnswerKind.NUMBER


def close_to(truth: float, given: float, *, within: float = 0.005) -> bool:
    """Return whether a number is right up to a share of its size: half of a percent unless said.

    >>> close_to(1.0986, 1.1), close_to(1.0986, 1.2)
    (True, False)
    """
    return abs(given - truth) <= within * max(abs(truth), 1e-12)


def judged(right: bool, yes: str, no: str) -> GradedAnswer:
    """Return the verdict with the words that fit."""
    return GradedAnswer(right, yes if right else no)


def near(
    truth: Callable[[], float | Fraction], yes: str, no: str, *, within: float = 0.005
) -> Callable[[float], GradedAnswer]:
    """Return the check of a number against the one that is worked out, up to a share of its size.

    `yes` shows what was worked out where it says so, as in `str.format`: "Yes: {:.3f}."
    """

    def check(given: float) -> GradedAnswer:
        found = float(truth())
        return judged(close_to(found, given, within=within), yes.format(found), no)

    return check


def judged_letters(
    truths: Sequence[bool], given: frozenset[str], why: Sequence[str]
) -> GradedAnswer:
    """Return whether exactly the statements that hold were named; `truths` were worked out, A first.

    A wrong answer is told the first statement that was misjudged, and what is true of it.
    """
    for place, (holds, reason) in enumerate(zip(truths, why, strict=True)):
        letter = chr(ord("A") + place)
        if holds is not (letter in given):
            said = "holds" if holds else "does not hold"
            return GradedAnswer(False, f"{letter} {said}: {reason}")
    beyond = sorted(given - {chr(ord("A") + place) for place in range(len(truths))})
    if beyond:
        return GradedAnswer(False, f"There is no statement {beyond[0]}.")
    return GradedAnswer(True, "Right, every one of them.")


def total_epsilon(amounts: Iterable[Fraction]) -> Fraction:
    """Return the epsilon of releases one after the other, about the same people.

    >>> total_epsilon([Fraction(1, 2), Fraction(1, 4)])
    Fraction(3, 4)
    """
    return tally(Composed(tuple(Pure(amount) for amount in amounts))).epsilon
