"""Generalization hierarchies: how the values of a column become coarser, level by level; read, built, tied to its values."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np

from discreet.anonymize.groups import CellValue, Groups, spelled
from discreet.base.arrays import Floats, Integers
from discreet.base.files import read_bytes
from discreet.errors import InvalidInput

TOP = "*"
"""What a value becomes when nothing is said about it."""

_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The levels of one column: `paths[value]` is that value and what it becomes, finest first.

    Valid for life: every path is as long, and two values that are one at some level stay one at
    every coarser level. The empty text stands for a missing value.
    """

    column: str
    paths: Mapping[str, tuple[str, ...]] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.paths:
            raise InvalidInput(f"The hierarchy of '{self.column}' is empty.")
        lengths = {len(path) for path in self.paths.values()}
        if len(lengths) > 1:
            raise InvalidInput(
                f"The hierarchy of '{self.column}' has lines of different lengths.",
                hint="Write a value and the same number of levels on every line, ';' between.",
            )
        _check_nesting(self.column, self.paths.values())

    @property
    def levels(self) -> int:
        """Return the number of levels, the values themselves counted as the first."""
        return len(next(iter(self.paths.values())))

    def path(self, value: CellValue) -> tuple[str, ...] | None:
        """Return what a value becomes at each level, or None where the hierarchy lacks it.

        A missing value that has no line of its own stays missing until the last level, where it
        becomes what all others are, if they are all one.
        """
        text = spelled(value)
        found = self.paths.get(text)
        if found is None and isinstance(value, float) and value.is_integer():
            found = self.paths.get(str(int(value)))
            found = None if found is None else (text, *found[1:])
        if found is None and value is None:
            tops = {path[-1] for path in self.paths.values()}
            top = tops.pop() if len(tops) == 1 and self.levels > 1 else ""
            found = (*("",) * (self.levels - 1), top)
        return found

    def paths_of(
        self, column: str, values: Sequence[CellValue], *, otherwise: str = ""
    ) -> list[tuple[str, ...]]:
        """Return the path of each value of a column; `otherwise` says what else helps if one has none."""
        paths = [path for path in map(self.path, values) if path is not None]
        if lacking := len(values) - len(paths):
            raise InvalidInput(
                f"The hierarchy of '{column}' does not cover {lacking} of the values in the column.",
                hint=f"Add a line for each value to {column}.csv{otherwise}.",
            )
        return paths


def _check_nesting(column: str, paths: Iterable[tuple[str, ...]]) -> None:
    parents: list[dict[str, str]] = []
    for path in paths:
        while len(parents) < len(path) - 1:
            parents.append({})
        for level, (fine, coarse) in enumerate(pairwise(path)):
            if parents[level].setdefault(fine, coarse) != coarse:
                raise InvalidInput(
                    f"Level {level} of the hierarchy of '{column}' is not inside level {level + 1}: "
                    "one of its labels has two parents.",
                    hint="Each label may become only one label at the next level.",
                )


def read_hierarchy(path: Path, column: str) -> Hierarchy:
    """Return the hierarchy in a headerless file: a value and its levels on each line, ';' between."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidInput(f"The hierarchy of '{column}' is larger than 64 MiB.")
        text = read_bytes(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise _unreadable(column) from None
    return parse_hierarchy(text, column)


def parse_hierarchy(text: str, column: str) -> Hierarchy:
    """Return the hierarchy that a text holds, written as in a file.

    >>> parse_hierarchy("Male;*", "sex").levels
    2
    """
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))
    except csv.Error:
        raise _unreadable(column) from None
    paths: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if line and paths.setdefault(line[0], tuple(line)) != tuple(line):
            raise InvalidInput(
                f"The hierarchy of '{column}' has two different lines for the same value.",
                hint="Keep one line for each value.",
            )
    return Hierarchy(column, paths)


def _unreadable(column: str) -> InvalidInput:
    return InvalidInput(
        f"The hierarchy of '{column}' could not be read.",
        hint="Give a file of UTF-8 text with ';' between a value and its levels.",
    )


def read_hierarchies(folder: Path, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Return the hierarchies of those `columns` that have a file COLUMN.csv in `folder`."""
    if not folder.is_dir():
        raise InvalidInput(
            f"There is no folder of hierarchies called '{folder.name}'.",
            hint="Give a folder with a file COLUMN.csv for each quasi-identifier.",
        )
    found = {column: folder / f"{column}.csv" for column in columns}
    return {
        column: read_hierarchy(path, column)
        for column, path in found.items()
        if path.resolve().parent == folder.resolve() and path.is_file()
    }


_MOST_LEVELS = 12
_ENOUGH_PARTS = 2
_CODE_SHARE = 0.9


def star(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return the hierarchy that keeps a value or says nothing."""
    return Hierarchy(column, {spelled(value): (spelled(value), TOP) for value in values})


def intervals(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return numbers > intervals of growing width > star.

    The first width is a round number that makes about 50 parts, and each next is double, until two
    parts are left; intervals start at multiples of their width, so they nest. Whole numbers read
    "20-24", others "[20, 25)". A missing value stays missing below the star.

    >>> intervals("age", [17, 25]).path(25)
    ('25', '24-25', '24-27', '*')
    """
    numbers = [_number(column, value) for value in values if value is not None]
    if not numbers:
        return star(column, values)
    whole = all(float(number).is_integer() for number in numbers)
    steps = _round_widths(numbers, whole=whole)
    paths: dict[str, tuple[str, ...]] = {}
    for value in values:
        text = spelled(value)
        if value is None:
            paths[text] = (*("",) * (len(steps) + 1), TOP)
            continue
        number = _number(column, value)
        paths[text] = (text, *_intervals(number, steps, whole=whole), TOP)
    return Hierarchy(column, paths)


def _number(column: str, value: CellValue) -> float:
    try:
        number = float(cast("str | float", value))
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(
            f"The column '{column}' holds something that is not a number.",
            hint="Build its hierarchy from prefixes or give a file.",
        )
    return number


def _round_widths(numbers: Sequence[float], *, whole: bool) -> list[float]:
    spread = max(numbers) - min(numbers)
    if spread == 0:
        return []
    rough = spread / 50
    size = 10.0 ** math.floor(math.log10(rough))
    first = next(size * step for step in (1, 2, 5, 10) if size * step >= rough * 0.999)
    if whole:
        # A width of one would repeat the values themselves.
        first = max(2.0, round(first))
    found = [first]
    while found[-1] * 2 < spread and len(found) < _MOST_LEVELS:
        found.append(found[-1] * 2)
    if spread / found[-1] < _ENOUGH_PARTS and len(found) > 1:
        found.pop()
    return found


def _intervals(number: float, widths: Sequence[float], *, whole: bool) -> list[str]:
    """Return the label of a number at each width."""
    labels = []
    for width in widths:
        # Counted in steps of the finest width: rounding must not let levels overlap.
        times = round(width / widths[0])
        low = math.floor(number / widths[0]) // times * times * widths[0]
        if whole and float(widths[0]).is_integer():
            labels.append(f"{int(low)}-{int(low + width) - 1}")
        else:
            labels.append(f"[{low:.12g}, {low + width:.12g})")
    return labels


def prefixes(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return codes > codes with one more character of their ends replaced by a star > star.

    Codes keep their length, so ZIP codes stay recognisable.

    >>> prefixes("code", ["A12"]).path("A12")
    ('A12', 'A1*', 'A**', '*')
    """
    texts = [spelled(value) for value in values]
    longest = max((len(text) for text in texts), default=0)
    kept = range(longest - 1, 0, -1)
    paths = {
        text: (text, *(_prefix(text, number, longest) if text else "" for number in kept), TOP)
        for text in texts
    }
    return Hierarchy(column, paths)


def _prefix(text: str, number: int, longest: int) -> str:
    # Padded: 'ab' and 'abc' cut to two characters must both read 'ab*', or levels would not nest.
    return text[:number] + "*" * (longest - min(number, len(text)))


def dates(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return days > months > years > decades > star; texts must be written as 1999-12-31."""
    paths: dict[str, tuple[str, ...]] = {}
    for value in values:
        text = spelled(value)
        if value is None:
            paths[text] = ("", "", "", "", TOP)
            continue
        day = _date(column, text)
        decade = day.year // 10 * 10
        paths[text] = (
            text,
            f"{day.year:04d}-{day.month:02d}",
            f"{day.year:04d}",
            f"{decade:04d}s",
            TOP,
        )
    return Hierarchy(column, paths)


def _date(column: str, text: str) -> date:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        raise InvalidInput(
            f"The column '{column}' holds something that is not a date.",
            hint="Dates are written as 1999-12-31.",
        ) from None


def guess(column: str, values: Sequence[CellValue]) -> Hierarchy:
    """Return the hierarchy that suits the values: dates, numbers, codes of digits, or a star."""
    known = [value for value in values if value is not None]
    texts = [spelled(value) for value in known]
    if not known:
        return star(column, values)
    if all(isinstance(value, date) for value in known) or all(_is_date(text) for text in texts):
        return dates(column, values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        # Infinite values lie in no interval.
        finite = all(math.isfinite(cast("float", value)) for value in known)
        return intervals(column, values) if finite else star(column, values)
    codes = sum(any(letter.isdigit() for letter in text) for text in texts)
    if len({len(text) for text in texts}) == 1 and codes >= _CODE_SHARE * len(texts):
        return prefixes(column, values)
    return star(column, values)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("1999-12-31")


@dataclass(frozen=True, slots=True)
class ColumnLevel:
    """One level of one column.

    `codes[value]` is the label of a value, `labels` their texts. `share[label]` is the part of the
    hierarchy's other values that a label stands for (0 for one value, 1 for all of them), and
    `mass[label]` the number of rows under it.
    """

    codes: Integers = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    share: Floats = field(repr=False)
    mass: Integers = field(repr=False)

    @property
    def size(self) -> int:
        """Return the number of labels."""
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class ColumnLevels:
    """All levels of one column, finest first; each is a coarsening of the one before."""

    column: str
    rungs: tuple[ColumnLevel, ...] = field(repr=False)

    @property
    def levels(self) -> int:
        """Return the number of levels."""
        return len(self.rungs)


def make_ladders(groups: Groups, hierarchies: Mapping[str, Hierarchy]) -> tuple[ColumnLevels, ...]:
    """Return a ladder for each quasi-identifier; where no hierarchy is given, one is built."""
    found = []
    for place, column in enumerate(groups.quasi):
        values = groups.values[place]
        hierarchy = hierarchies.get(column) or guess(column, values)
        mass = np.bincount(groups.codes[place], weights=groups.rows, minlength=len(values))
        found.append(_ladder(column, values, hierarchy, mass.astype(np.int64)))
    return tuple(found)


def _ladder(
    column: str, values: tuple[CellValue, ...], hierarchy: Hierarchy, mass: Integers
) -> ColumnLevels:
    known = hierarchy.paths_of(
        column, values, otherwise=", or leave the file out: a hierarchy is then built"
    )
    rungs: list[ColumnLevel] = []
    for level in range(hierarchy.levels):
        names: dict[str, int] = {}
        codes = np.array([names.setdefault(path[level], len(names)) for path in known])
        labels = tuple(names)
        rungs.append(
            ColumnLevel(
                codes.astype(np.int64),
                labels,
                _shares(hierarchy, level, labels),
                np.bincount(codes, weights=mass, minlength=len(labels)).astype(np.int64),
            )
        )
    return ColumnLevels(column, tuple(rungs))


def _shares(hierarchy: Hierarchy, level: int, labels: tuple[str, ...]) -> Floats:
    leaves: dict[str, int] = {}
    for path in hierarchy.paths.values():
        leaves[path[level]] = leaves.get(path[level], 0) + 1
    others = max(1, len(hierarchy.paths) - 1)
    # A missing value without a line of its own may have a label that no other value has.
    return np.array([(leaves.get(label, 1) - 1) / others for label in labels], dtype=np.float64)
