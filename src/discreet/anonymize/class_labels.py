"""Labels of each equivalence class after generalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.anonymize.groups import Groups, packed
from discreet.anonymize.hierarchy.column_levels import ColumnLevels
from discreet.core.arrays import Floats, Integers

SUPPRESSED = -1
"""The class of rows that are left out."""


@dataclass(frozen=True, slots=True)
class ClassLabels:
    """The labels of one column.

    `share[label]` is the part of the column's values that a label stands for (0 for one, 1 for
    all), `mass[label]` the number of rows of the whole table whose value it covers.
    """

    texts: tuple[str, ...] = field(repr=False)
    share: Floats = field(repr=False)
    mass: Integers = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recoding:
    """Which rows form which class, and what each class reads.

    Entry i says that `rows[i]` rows of combination `combination[i]` (with sensitive value
    `sensitive[i]`, or -1 where it does not matter) belong to class `klass[i]`, or to none
    (SUPPRESSED). Class c reads `labels[j].texts[cells[j, c]]` in column j.
    """

    combination: Integers = field(repr=False)
    sensitive: Integers = field(repr=False)
    klass: Integers = field(repr=False)
    rows: Integers = field(repr=False)
    labels: tuple[ClassLabels, ...] = field(repr=False)
    cells: Integers = field(repr=False)

    @property
    def classes(self) -> int:
        """Return the number of classes, the suppressed rows not counted."""
        return int(self.cells.shape[1])

    @property
    def sizes(self) -> Integers:
        """Return the number of rows in each class."""
        kept = self.klass != SUPPRESSED
        found = np.bincount(self.klass[kept], weights=self.rows[kept], minlength=self.classes)
        return found.astype(np.int64)

    @property
    def suppressed(self) -> int:
        """Return the number of rows that are left out."""
        return int(self.rows[self.klass == SUPPRESSED].sum())

    def texts(self, column: int) -> list[str]:
        """Return what each class reads in a column."""
        names = self.labels[column].texts
        return [names[cell] for cell in self.cells[column].tolist()]


def merged_by_text(
    labels: Sequence[ClassLabels], cells: Sequence[Integers]
) -> tuple[Integers, Integers]:
    """Return the class of each part, and the cells of each class.

    Parts that read the same in every column are one class: nobody can tell them apart.
    """
    found = []
    for made, cell in zip(labels, cells, strict=True):
        names: dict[str, int] = {}
        number = np.array([names.setdefault(text, len(names)) for text in made.texts])
        found.append(number[cell])
    key, _ = packed(found, [len(made.texts) for made in labels])
    _, first, klass = np.unique(key, return_index=True, return_inverse=True)
    return klass, np.stack([cell[first] for cell in cells])


def full_domain(
    groups: Groups, ladders: Sequence[ColumnLevels], levels: Sequence[int], klass: Integers
) -> Recoding:
    """Return the recoding where all values of a column stand at one level.

    `klass` is the class of each combination, numbered 0, 1, ...; SUPPRESSED for those left out.
    """
    rungs = [ladder.rungs[level] for ladder, level in zip(ladders, levels, strict=True)]
    kept = np.flatnonzero(klass != SUPPRESSED)
    found, first = np.unique(klass[kept], return_index=True)
    place = np.full(int(klass.max(initial=0)) + 1, SUPPRESSED, dtype=np.int64)
    place[found] = np.arange(len(found))
    members = kept[first]
    return Recoding(
        np.arange(groups.combinations),
        np.full(groups.combinations, -1, dtype=np.int64),
        np.where(klass == SUPPRESSED, SUPPRESSED, place[klass]),
        groups.rows,
        tuple(ClassLabels(rung.labels, rung.share, rung.mass) for rung in rungs),
        np.stack([rung.codes[groups.codes[j, members]] for j, rung in enumerate(rungs)]),
    )
