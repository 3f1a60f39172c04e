"""The generalization levels of a column: a hierarchy tied to the values that it really holds, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from discreet.anonymize.groups import CellValue, Groups
from discreet.anonymize.hierarchy.build import guess
from discreet.anonymize.hierarchy.levels import Hierarchy
from discreet.core.arrays import Floats, Integers


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
