"""Cells of a release compared with values: equal, near, or covered by something coarser."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits, Floats, Integers
from discreet.errors import InvalidInput

TOP = "*"
OR = " or "
_MISSING = "missing"
_NUMBER = r"-?\d+(?:\.\d+)?"
_DASHED = re.compile(rf"({_NUMBER})\s*(?:-|\.\.|to)\s*({_NUMBER})")
_BRACKETED = re.compile(rf"([\[(])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\])])")
_DECADE = re.compile(r"(\d{3})0s")
_COARSE = re.compile(r" or |[*{\[(]|\d\s*(?:-|\.\.|to)\s*-?\d|\d{4}")


def looks_coarse(label: str | None) -> bool:
    """Return whether a cell may stand for more than itself, by the look of it."""
    return label is not None and not _is_date(label) and bool(_COARSE.search(label))


def covers(label: str | None, value: str | None) -> bool:
    """Return whether a cell of a release may stand for a value, by the look of it.

    >>> [covers(cell, "37") for cell in ("37", "35-39", "[30, 37)", "3*", "*", "40-44")]
    [True, True, False, True, True, False]
    >>> covers("Nurse or Teacher", "Nurse"), covers("1990s", "1994-05-01")
    (True, True)
    """
    if label in (value, TOP):
        return True
    if label is None:
        return False
    if OR in label:
        return any(covers(part, value) for part in label.split(OR))
    return label == _MISSING if value is None else _covers(label, value)


def _covers(label: str, value: str) -> bool:
    number = float(value) if re.fullmatch(_NUMBER, value) else None
    if number is not None and (inside := _interval(label, number)) is not None:
        return inside
    if label.endswith(TOP):
        return value.startswith(label.rstrip(TOP))
    if label.startswith("{") and label.endswith("}"):
        return value in (part.strip() for part in label[1:-1].split(","))
    return _is_date(value) and _period(label, value)


def _interval(label: str, number: float) -> bool | None:
    if found := _DASHED.fullmatch(label):
        return float(found[1]) <= number <= float(found[2])
    if found := _BRACKETED.fullmatch(label):
        low, high = float(found[2]), float(found[3])
        above = number >= low if found[1] == "[" else number > low
        return above and (number <= high if found[4] == "]" else number < high)
    return None


def _period(label: str, day: str) -> bool:
    if decade := _DECADE.fullmatch(label):
        return day.startswith(decade[1])
    first, _, last = label.partition(" to ")
    if last and _is_date(first) and _is_date(last):
        return first <= day <= last  # dates as written sort as they fall
    return day.startswith(f"{label}-")


def _is_date(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


Gaps = npt.NDArray[np.float32]

_MOST_COVERINGS = 5_000_000
NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})
_MANY = 200
"""A number with more different values than this is matched within a window, not exactly."""
_WINDOW = 0.005
"""Half the window, as a share of the column's range."""
TOLERANCE = 0.025
"""A guessed number is right within this share of the column's range, either way."""


class ReleaseColumn(Protocol):
    """One column of the release beside the same column of people."""

    def gaps(self, people: Integers) -> Gaps:
        """Return how far each of these people is from each row of the release, from 0 to 1."""

    def like(self, row: int) -> tuple[Bits, Bits]:
        """Return which rows of the release, and which people, fit the cell of a row."""

    def told(self, near: Bits, person: int) -> bool:
        """Return whether the commonest cell of these rows of the release is right for a person."""


class NumberColumn:
    """A column of numbers on both sides: near is a matter of degree."""

    def __init__(self, released: Floats, people: Floats) -> None:
        both = np.concatenate([released, people])
        known = both[~np.isnan(both)]
        self.range = max(float(known.max() - known.min()), 1e-9) if known.size else 1.0
        self._window = _WINDOW * self.range if np.unique(known).size > _MANY else 0.0
        self.released, self.people = released, people

    def gaps(self, people: Integers) -> Gaps:
        """Return the distance over the range; missing is far from known and equal to missing."""
        mine, theirs = self.people[people][:, None], self.released[None, :]
        found = np.nan_to_num(np.abs(mine - theirs) / self.range, nan=1.0)
        found[np.isnan(mine) & np.isnan(theirs)] = 0.0
        return found.astype(np.float32)

    def like(self, row: int) -> tuple[Bits, Bits]:
        """Return who has the same number, or one in the window around it."""
        value = self.released[row]
        if np.isnan(value):
            return np.isnan(self.released), np.isnan(self.people)
        return (
            np.abs(self.released - value) <= self._window,
            np.abs(self.people - value) <= self._window,
        )

    def told(self, near: Bits, person: int) -> bool:
        """Return whether the median of the rows that have a number is near the person's."""
        rows = self.released[near]
        rows = rows[~np.isnan(rows)]
        truth = self.people[person]
        if not rows.size or np.isnan(truth):
            return False
        return bool(abs(float(np.median(rows)) - truth) <= TOLERANCE * self.range)


class CellLabels:
    """A column of words on either side: the release's may be coarser.

    `released` and `people` are codes of `words`. Cells that look coarse are compared with every value;
    the others with themselves alone, so a column of a million different names costs nothing.
    """

    def __init__(
        self,
        released: Sequence[str | None],
        people: Sequence[str | None],
        coarser: Mapping[str, Sequence[str]],
    ) -> None:
        self._coarser = coarser
        self.words, codes = _coded([*released, *people])
        self.released, self.people = codes[: len(released)], codes[len(released) :]
        self._covered = self._coverings()

    def _coverings(self) -> dict[int, Bits]:
        values = np.unique(self.people)
        known = {label for path in self._coarser.values() for label in path}
        labels = [
            code
            for code in np.unique(self.released).tolist()
            if looks_coarse(self.words[code]) or self.words[code] in known
        ]
        if len(labels) * len(values) > _MOST_COVERINGS:
            raise InvalidInput(
                "A column has too many different coarse cells to compare with its values.",
                hint="Name the columns to use, without that one.",
            )
        found = {}
        for label in labels:
            covered = np.zeros(len(self.words), dtype=bool)
            covered[[value for value in values.tolist() if self._stands_for(label, value)]] = True
            found[label] = covered
        return found

    def _stands_for(self, label: int, value: int) -> bool:
        cell, word = self.words[label], self.words[value]
        parts = set() if cell is None else {cell, *cell.split(OR)}
        return bool(parts & {*self._coarser.get(word or "", ())}) or covers(cell, word)

    def gaps(self, people: Integers) -> Gaps:
        """Return 0 where the cell is, or covers, the value, and 1 elsewhere."""
        mine = self.people[people]
        found = np.asarray(mine[:, None] != self.released[None, :], dtype=np.float32)
        for label, covered in self._covered.items():
            found[:, self.released == label] = ~covered[mine][:, None]
        return found

    def like(self, row: int) -> tuple[Bits, Bits]:
        """Return who carries the same label, and whose value it covers."""
        label = int(self.released[row])
        return self.released == label, self._fitting(label)

    def _fitting(self, label: int) -> Bits:
        if label in self._covered:
            return np.asarray(self._covered[label][self.people])
        return np.asarray(self.people == label)

    def told(self, near: Bits, person: int) -> bool:
        """Return whether the commonest label is the person's value or covers it; "anything" does not."""
        label = int(np.bincount(self.released[near], minlength=len(self.words)).argmax())
        if self.words[label] == TOP:
            return False
        covered = self._covered.get(label)
        code = int(self.people[person])
        return label == code if covered is None else bool(covered[code])


def column_of(
    released: pa.ChunkedArray,
    people: pa.ChunkedArray,
    coarser: Mapping[str, Sequence[str]] = NOTHING,
) -> ReleaseColumn:
    """Return the comparison that suits a column: numbers where all cells are, words otherwise.

    `coarser` says what each value becomes at the levels of a hierarchy, where there is one.
    """
    ours, theirs = _numbers(released), _numbers(people)
    if ours is not None and theirs is not None:
        return NumberColumn(ours, theirs)
    return CellLabels(_words(released), _words(people), coarser)


def _numbers(column: pa.ChunkedArray) -> Floats | None:
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_temporal(kind):
        return None
    # Leading zeros are codes, not numbers: 02139 is no quantity.
    if pa.types.is_string(kind) and pc.any(pc.match_substring_regex(column, r"^0\d")).as_py():
        return None
    try:
        found = pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.asarray(found.to_numpy(), dtype=np.float64)


def _words(column: pa.ChunkedArray) -> list[str | None]:
    # Whole numbers must read the same from CSV (37) as from Parquet (37 or 37.0).
    return [
        None if value is None else f"{value:g}" if isinstance(value, float) else _plain(value)
        for value in column.to_pylist()
    ]


def _plain(value: object) -> str:
    return (
        str(value).lower() if isinstance(value, bool) or value in ("True", "False") else str(value)
    )


def _coded(values: Sequence[str | None]) -> tuple[list[str | None], Integers]:
    places: dict[str | None, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return list(places), np.array(codes, dtype=np.int64)
