"""Hierarchies: how the values of one column become coarser, level by level."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from discreet.anonymize.groups import CellValue, spelled
from discreet.core.system.regular_file import read_bytes
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
