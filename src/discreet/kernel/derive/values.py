"""What is known of a value in final SQL: its kind, the range of a number, the length of a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from discreet.kernel.trees.nodes import Name, TooWide, Unfit

LONGEST_TEXT = 100_000
"""No text on the way may have more letters than this."""

WIDEST = 2**63 - 1
"""No whole number on the way may be larger in size than this."""


class ValueKind(Enum):
    """What a value is, as far as operators must agree on it."""

    INTEGER = "integer"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    UNIT = "unit"
    """Whose row it is: compared with other units, grouped by and counted, nothing else."""
    NOTHING = "nothing"
    """The bare NULL, which goes with every kind."""


@dataclass(frozen=True, slots=True)
class Value:
    """The kind of a term; for whole numbers their range and whether 64 bits are certain.

    `low` and `high` are None for a whole number of any size (a person's own sum), which only a clamp
    may read; of a text that is stored as one of a list they are the places in it. `canonical`: the
    value of a declared column as it is, which is its own clamp. `length`: how many letters a text has
    at most; without it no function of text may read it. `narrow`: perhaps of 16 bits, without a sign or
    a decimal, so that nothing may be computed of it before it is cast to 64 bits.
    """

    kind: ValueKind
    low: int | None = None
    high: int | None = None
    wide: bool = False
    canonical: bool = False
    length: int | None = None
    narrow: bool = False

    @property
    def bounded(self) -> tuple[int, int]:
        """Return the range of a whole number that has one."""
        if self.kind is not ValueKind.INTEGER or self.low is None or self.high is None:
            raise Unfit("an operand that is no bounded whole number")
        return self.low, self.high

    @property
    def letters(self) -> int:
        """Return how many letters a text has at most."""
        if self.kind is not ValueKind.TEXT or self.length is None:
            raise Unfit("a function of text over something else")
        return self.length


Values = Mapping[Name, Value]
BOOLEAN = Value(ValueKind.BOOLEAN)


def integer(low: int, high: int, *, wide: bool = True, narrow: bool = False) -> Value:
    """Return whole numbers in a range that must fit into 64 bits."""
    if not -WIDEST <= low <= high <= WIDEST:
        raise TooWide("a whole number that could leave 64 bits")
    return Value(ValueKind.INTEGER, low, high, wide, narrow=narrow)


def text(letters: int) -> Value:
    """Return texts of at most so many letters, or refuse them as too long.

    Guarantee: whatever a row says, no text that is made of it is longer than `LONGEST_TEXT`: how much
        memory a row takes follows from the statement.
    """
    if letters > LONGEST_TEXT:
        raise TooLong(letters)
    return Value(ValueKind.TEXT, length=letters)


class TooLong(Unfit):
    """A text that could become longer than any row may take: the one unfit term that is the asker's."""

    def __init__(self, letters: int) -> None:
        super().__init__(f"a text of {letters} letters")
        self.letters = letters
