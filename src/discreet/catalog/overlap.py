"""Refuse declarations under which one person's loss would be counted in two places, or in none."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import combinations
from pathlib import Path

from discreet.core.schema import Dataset
from discreet.errors import CatalogError

_TABLE_SCHEMA = re.compile(r"^(public|main)\.")  # what a database adds to a bare table name


def check_budgets(datasets: Mapping[str, Dataset]) -> None:
    """Refuse mixed units under one budget.

    Guarantee: all private tables that one budget pays for have rows as units, or all have people,
        so that the sum of each dataset's worst bill bounds what one of these units can lose.
    """
    kinds: dict[str, tuple[bool, str]] = {}
    for dataset in datasets.values():
        for table in dataset.tables:
            if table.unit is None:
                continue
            place = f"table '{table.name}' of dataset '{dataset.name}'"
            is_row, other = kinds.setdefault(dataset.budget, (table.unit.is_row, place))
            if is_row != table.unit.is_row:
                row, person = (other, place) if is_row else (place, other)
                raise CatalogError(
                    f"{row} protects rows and {person} protects people, but the budget "
                    f"'{dataset.budget}' pays for both.",
                    hint="Give both the same kind of unit, or separate budgets.",
                )


def check_sources_apart(datasets: Mapping[str, Dataset], *, base: Path, files: bool) -> None:
    """Refuse one source that is declared twice where its people would then pay too little.

    Guarantee: no row is billed to two budgets, and in a dataset of row units no row is in two
        tables, which would be billed as if they were different people.
    """

    def names(source: str) -> tuple[str, ...]:
        path = os.path.realpath(base / source)
        return (path,) if files else (path, _TABLE_SCHEMA.sub("", source))

    private = [(d, t) for d in datasets.values() for t in d.tables if t.unit is not None]
    for (first, one), (second, two) in combinations(private, 2):
        if not any(map(_overlap, names(one.source), names(two.source))):
            continue
        if first.budget != second.budget:
            raise CatalogError(
                f"the source '{one.source}' is in two datasets, '{first.name}' and "
                f"'{second.name}', with separate budgets.",
                hint="Remove one, or let both name one shared budget.",
            )
        if first is second and one.unit is not None and one.unit.is_row:
            raise CatalogError(
                f"the source '{one.source}' is declared as two tables, '{one.name}' and "
                f"'{two.name}', of dataset '{first.name}', whose units are rows.",
                hint="Keep one of the tables.",
            )


def _overlap(first: str, second: str) -> bool:
    return first == second or fnmatchcase(first, second) or fnmatchcase(second, first)
