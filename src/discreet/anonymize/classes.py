"""Equivalence classes and their labels: at a node of the lattice, from those of a finer node, or while they are split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.anonymize.diversity import Histogram, make_histogram
from discreet.anonymize.groups import Groups, packed
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.anonymize.privacy_models import Conditions
from discreet.base.arrays import Bits, Floats, Integers

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


_DENSE = 8
"""Counting into an array beats sorting up to so many cells for each class."""
_MOST_KEPT = 256 << 20
"""Bytes of class tables that are kept for later nodes."""


@dataclass(frozen=True, slots=True)
class ClassTable:
    """The classes of one node.

    `member[c]` is a combination of class c, `codes[:, c]` its values at the lowest level: any
    coarser label follows from them. `rows` are the sizes. `klass`, `sensitive` and `pair_rows`
    are the sensitive values by class, empty where there are none.
    """

    levels: tuple[int, ...]
    member: Integers = field(repr=False)
    codes: Integers = field(repr=False)
    rows: Integers = field(repr=False)
    klass: Integers = field(repr=False)
    sensitive: Integers = field(repr=False)
    pair_rows: Integers = field(repr=False)

    @property
    def size(self) -> int:
        """Return the number of classes."""
        return len(self.rows)


def bottom_table(groups: Groups, width: int) -> ClassTable:
    """Return the classes of the lattice's bottom: every combination by itself."""
    beside = groups.sensitive
    nothing = np.zeros(0, dtype=np.int64)
    return ClassTable(
        (0,) * width,
        np.arange(groups.combinations),
        groups.codes,
        groups.rows,
        nothing if beside is None else beside.group,
        nothing if beside is None else beside.codes,
        nothing if beside is None else beside.rows,
    )


def class_of(table: ClassTable, ladders: Sequence[ColumnLevels], levels: Sequence[int]) -> Integers:
    """Return for each class of `table` its class at a coarser node: 0, 1, 2, ..."""
    key, _ = _keys(table.codes, ladders, levels)
    return np.unique(key, return_inverse=True)[1]


def _keys(
    codes: Integers,
    ladders: Sequence[ColumnLevels],
    levels: Sequence[int],
    known: dict[tuple[int, int], Integers] | None = None,
) -> tuple[Integers, int]:
    """Return a number for each class, equal where labels are, and a limit; `known` saves lookups."""
    columns, sizes = [], []
    for place, level in enumerate(levels):
        rung = ladders[place].rungs[level]
        if rung.size == 1:
            continue
        labels = None if known is None else known.get((place, level))
        if labels is None:
            labels = rung.codes[codes[place]]
            if known is not None:
                known[place, level] = labels
        columns.append(labels)
        sizes.append(rung.size)
    if not columns:
        return np.zeros(codes.shape[1], dtype=np.int64), 1
    return packed(columns, sizes)


def roll_up(
    table: ClassTable,
    ladders: Sequence[ColumnLevels],
    levels: Sequence[int],
    known: dict[tuple[int, int], Integers] | None = None,
) -> ClassTable:
    """Return the classes at `levels`, none of which may be below those of `table`.

    Coarser labels are functions of finer ones, so each class there is a union of classes here.
    """
    key, limit = _keys(table.codes, ladders, levels, known)
    with_pairs = len(table.klass) > 0
    number = key
    if limit <= _DENSE * table.size + 1024:
        sums = np.bincount(key, weights=table.rows, minlength=limit)
        found = np.flatnonzero(sums)
        rows = sums[found].astype(np.int64)
        place = np.empty(limit, dtype=np.int64)
        place[key] = np.arange(table.size)
        first = place[found]
        if with_pairs:
            place[found] = np.arange(len(found))
            number = place[key]
    else:
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        begins = np.diff(ordered, prepend=-1) != 0
        starts = np.flatnonzero(begins)
        rows = np.add.reduceat(table.rows[order], starts)
        first = order[starts]
        if with_pairs:
            number = np.empty(table.size, dtype=np.int64)
            number[order] = np.cumsum(begins) - 1
    klass, sensitive, pair_rows = table.klass, table.sensitive, table.pair_rows
    if with_pairs:
        klass, sensitive, pair_rows = _merged(number[klass], sensitive, pair_rows, len(rows))
    return ClassTable(
        tuple(levels),
        table.member[first],
        table.codes[:, first],
        rows,
        klass,
        sensitive,
        pair_rows,
    )


def _merged(
    klass: Integers, sensitive: Integers, rows: Integers, classes: int
) -> tuple[Integers, Integers, Integers]:
    """Return the pairs (class, value) with equal ones added up."""
    width = int(sensitive.max()) + 1
    found = make_histogram(klass, sensitive, rows, classes=classes, whole=np.zeros(width))
    return found.klass, found.codes, found.rows


def histogram_of(table: ClassTable, whole: Floats) -> Histogram:
    """Return the sensitive values by class; `whole` is their distribution in the whole table."""
    return make_histogram(
        table.klass, table.sensitive, table.pair_rows, classes=table.size, whole=whole
    )


def whole_distribution(groups: Groups) -> Floats:
    """Return the share of each sensitive value among all rows, the suppressed ones too."""
    beside = groups.sensitive
    if beside is None:
        return np.zeros(0)
    counts = np.bincount(beside.codes, weights=beside.rows, minlength=len(beside.values))
    return np.asarray(counts / counts.sum())


class TableShelf:
    """Class tables of nodes that were looked at: the next node starts from the smallest below it."""

    def __init__(self, bottom: ClassTable, ladders: Sequence[ColumnLevels]) -> None:
        self._ladders = ladders
        self._tables = [bottom]
        self._levels = np.array([bottom.levels])
        self._sizes = np.array([bottom.size])
        self._bytes = 0
        # Nodes with nothing else below them start from the bottom: its labels are looked up once.
        small = bottom.rows.nbytes * sum(ladder.levels for ladder in ladders) <= _MOST_KEPT
        self._known: dict[tuple[int, int], Integers] | None = {} if small else None

    def reach(self, levels: Sequence[int]) -> ClassTable:
        """Return the classes at `levels`, from the smallest table that is nowhere above them."""
        fits = (self._levels <= np.asarray(levels)).all(axis=1)
        place = int(np.where(fits, self._sizes, np.iinfo(np.int64).max).argmin())
        source = self._tables[place]
        table = roll_up(source, self._ladders, levels, self._known if place == 0 else None)
        self._keep(table, source)
        return table

    def _keep(self, table: ClassTable, source: ClassTable) -> None:
        """Remember a table if it is much smaller than the one it came from."""
        weight = table.codes.nbytes + table.rows.nbytes * 2 + table.klass.nbytes * 3
        if table.size * 3 > source.size * 2 or self._bytes + weight > _MOST_KEPT:
            return
        self._bytes += weight
        self._tables.append(table)
        self._levels = np.vstack([self._levels, table.levels])
        self._sizes = np.append(self._sizes, table.size)


@dataclass(frozen=True, slots=True)
class Entries:
    """Rows that may still be told apart: combination, sensitive value (or -1), how many, which part."""

    combination: Integers
    sensitive: Integers
    rows: Integers
    part: Integers

    def some(self, places: Integers | Bits, part: Integers) -> Entries:
        """Return those at these places, in these parts."""
        return Entries(self.combination[places], self.sensitive[places], self.rows[places], part)


def start_entries(groups: Groups, conditions: Conditions) -> Entries:
    """Return all rows in one part, sensitive values apart only where a model looks at them."""
    beside = groups.sensitive
    if beside is None or not conditions.needs_sensitive:
        count = groups.combinations
        nothing = np.full(count, -1, dtype=np.int64)
        return Entries(np.arange(count), nothing, groups.rows, np.zeros(count, dtype=np.int64))
    return Entries(beside.group, beside.codes, beside.rows, np.zeros(len(beside.rows), np.int64))


def judge(entries: Entries, conditions: Conditions, whole: Floats, parts: int) -> Bits:
    """Return which parts satisfy all models."""
    sizes = np.bincount(entries.part, weights=entries.rows, minlength=parts).astype(np.int64)
    histogram = None
    if conditions.needs_sensitive:
        histogram = make_histogram(
            entries.part, entries.sensitive, entries.rows, classes=parts, whole=whole
        )
    return conditions.judge(sizes, histogram).kept
