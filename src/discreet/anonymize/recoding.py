"""Recoding: the rows of a copy with each quasi-identifier replaced by its label; and local recoding.

Suppressed rows are left out. Local recoding makes each class of a full-domain generalisation finer as long as it may be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.anonymize.classes import (
    SUPPRESSED,
    ClassLabels,
    Entries,
    Recoding,
    judge,
    merged_by_text,
    start_entries,
    whole_distribution,
)
from discreet.anonymize.groups import CellValue, Groups, numbers_of, packed
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.anonymize.lattice import matching_rows
from discreet.anonymize.privacy_models import Conditions
from discreet.anonymize.source import AnonymizeSource
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress
from discreet.errors import InternalError

_Test: TypeAlias = Callable[[Integers, int], Bits]


@dataclass(frozen=True, slots=True)
class _Parts:
    """Classes on the way: which combinations are in each, and the level of each column there."""

    part: Integers = field(repr=False)
    levels: Integers = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Column:
    """One column, for combinations that stay: label and share of each value at each level."""

    values: Integers = field(repr=False)
    labels: Integers = field(repr=False)
    share: Floats = field(repr=False)


def local_recoding(
    groups: Groups,
    ladders: Sequence[ColumnLevels],
    conditions: Conditions,
    klass: Integers,
    levels: Sequence[int],
    *,
    weights: Sequence[float],
    progress: Progress,
) -> Recoding:
    """Return the classes of a node, each with levels of its own, as fine as greed makes them.

    `klass` is the class of each combination at `levels`. Rows that the node suppresses become one
    class at the highest levels if that is allowed. In each round every class lowers the column
    that saves the most loss, if all parts that it falls into satisfy the models.
    """
    whole = whole_distribution(groups)
    entries = start_entries(groups, conditions)
    klass, high = _rescued(entries, conditions, whole, klass=klass, levels=levels, ladders=ladders)
    stays = np.flatnonzero(klass != SUPPRESSED)
    test = _tested(entries, stays, conditions, whole)
    columns = [_column(groups.codes[j][stays], ladder) for j, ladder in enumerate(ladders)]
    rows = groups.rows[stays]
    numbers, part = np.unique(klass[stays], return_inverse=True)
    parts = _Parts(part, high[numbers])
    done = 0
    while True:
        gains = np.stack(
            [
                # A column of weight zero comes last, but it comes.
                _gains(parts, j, column, test, rows) * (weight or 1e-9)
                for j, (column, weight) in enumerate(zip(columns, weights, strict=True))
            ]
        )
        best = np.where(gains.max(axis=0) >= 0, gains.argmax(axis=0), -1)
        if (best < 0).all():
            break
        parts = _lowered(parts, columns, best)
        done += 1
        progress(done, done + 1, "rounds of refinement")
    progress(done, done, "rounds of refinement")
    return _read_off(groups, ladders, parts, stays)


def _tested(entries: Entries, stays: Integers, conditions: Conditions, whole: Floats) -> _Test:
    """Return the test of parts: given the part of each combination that stays, which satisfy all."""
    place = np.full(int(entries.combination.max()) + 1, -1, dtype=np.int64)
    place[stays] = np.arange(len(stays))
    inside = np.flatnonzero(place[entries.combination] >= 0)
    combination = place[entries.combination[inside]]
    sensitive, rows = entries.sensitive[inside], entries.rows[inside]

    def test(part: Integers, parts: int) -> Bits:
        members = Entries(combination, sensitive, rows, part[combination])
        return judge(members, conditions, whole, parts)

    return test


def _rescued(
    entries: Entries,
    conditions: Conditions,
    whole: Floats,
    *,
    klass: Integers,
    levels: Sequence[int],
    ladders: Sequence[ColumnLevels],
) -> tuple[Integers, Integers]:
    """Return the classes, with one more of all suppressed rows if allowed, and the levels of each."""
    count = int(klass.max(initial=0)) + 1
    high = np.tile(np.asarray(levels, dtype=np.int64), (count + 1, 1))
    high[count] = [ladder.levels - 1 for ladder in ladders]
    lost = klass[entries.combination] == SUPPRESSED
    outside = entries.some(lost, np.zeros(int(lost.sum()), dtype=np.int64))
    # One label at the top of every column, or they could not all read the same.
    one = all(ladder.rungs[-1].size == 1 for ladder in ladders)
    if one and lost.any() and judge(outside, conditions, whole, 1)[0]:
        klass = np.where(klass == SUPPRESSED, count, klass)
    return klass, high


def _column(values: Integers, ladder: ColumnLevels) -> _Column:
    labels = np.stack([rung.codes for rung in ladder.rungs])
    share = np.stack([rung.share[rung.codes] for rung in ladder.rungs])
    return _Column(values, labels, share)


def _gains(
    parts: _Parts,
    place: int,
    column: _Column,
    test: _Test,
    rows: Integers,
) -> Floats:
    """Return what each class saves by one level less in a column; -1 where it may not."""
    level = parts.levels[parts.part, place]
    count = len(parts.levels)
    lower = np.maximum(level - 1, 0)
    label = column.labels[lower, column.values]
    key = parts.part * (int(column.labels.max()) + 1) + label
    found, piece = np.unique(key, return_inverse=True)
    above = np.empty(len(found), dtype=np.int64)
    above[piece] = parts.part
    bad = ~test(piece, len(found))
    spoiled = np.bincount(above[bad], minlength=count) > 0
    saved = column.share[level, column.values] - column.share[lower, column.values]
    gain = np.bincount(parts.part, weights=rows * saved, minlength=count)
    return np.where(spoiled | (parts.levels[:, place] == 0), -1.0, np.maximum(gain, 0.0))


def _lowered(parts: _Parts, columns: Sequence[_Column], best: Integers) -> _Parts:
    """Return the classes after each lowered its chosen column (-1: none) and fell into parts."""
    levels = parts.levels.copy()
    chosen = np.flatnonzero(best >= 0)
    levels[chosen, best[chosen]] -= 1
    label = np.zeros(len(parts.part), dtype=np.int64)
    most = 1
    for place, column in enumerate(columns):
        here = best[parts.part] == place
        if here.any():
            level = levels[parts.part[here], place]
            label[here] = column.labels[level, column.values[here]]
            most = max(most, int(column.labels.max()) + 1)
    found, piece = np.unique(parts.part * most + label, return_inverse=True)
    return _Parts(piece, levels[found // most])


def _read_off(
    groups: Groups, ladders: Sequence[ColumnLevels], parts: _Parts, stays: Integers
) -> Recoding:
    """Return the recoding, each class at the levels of its own."""
    first = np.unique(parts.part, return_index=True)[1]
    labels, cells = [], []
    for place, ladder in enumerate(ladders):
        values = groups.codes[place][stays[first]]
        made, start = _all_labels(ladder)
        codes = np.stack([rung.codes for rung in ladder.rungs])
        level = parts.levels[:, place]
        labels.append(made)
        cells.append(start[level] + codes[level, values])
    klass, read = merged_by_text(labels, cells)
    whole = np.full(groups.combinations, SUPPRESSED, dtype=np.int64)
    whole[stays] = klass[parts.part]
    return Recoding(
        np.arange(groups.combinations),
        np.full(groups.combinations, -1, dtype=np.int64),
        whole,
        groups.rows,
        tuple(labels),
        read,
    )


def _all_labels(ladder: ColumnLevels) -> tuple[ClassLabels, Integers]:
    """Return the labels of all levels of a column in one list, and where each level starts."""
    sizes = [rung.size for rung in ladder.rungs]
    texts = tuple(text for rung in ladder.rungs for text in rung.labels)
    share = np.concatenate([rung.share for rung in ladder.rungs])
    mass = np.concatenate([rung.mass for rung in ladder.rungs])
    return ClassLabels(texts, share, mass), np.concatenate([[0], np.cumsum(sizes)[:-1]])


def fetch(source: AnonymizeSource, columns: Sequence[str]) -> pa.Table:
    """Return these columns of all rows."""
    cells = ", ".join(source.cell(name) for name in columns)
    return source.run(f"SELECT {cells} FROM {source.relation}")


def recoded(
    rows: pa.Table, groups: Groups, recoding: Recoding, *, untouched: Collection[str] = ()
) -> pa.Table:
    """Return the copy: sorted by its own values, so the order of the original does not show.

    Columns in `untouched` keep their types, and their values up to spelling: what was counted as one
    value (0.0 and -0.0, NaN and NULL) is written as one.
    """
    klass = recoding.klass[entries(rows, groups, recoding)]
    stays = klass != SUPPRESSED
    rest, klass = rows.filter(pa.array(stays)), klass[stays]
    found = {}
    for name in rows.column_names:
        if name not in groups.quasi:
            found[name] = rest.column(name)
            continue
        place = groups.quasi.index(name)
        if name in untouched:
            codes = _codes(rest.column(name), groups.values[place])
            _, first, value = np.unique(codes, return_index=True, return_inverse=True)
            found[name] = rest.column(name).take(pa.array(first[value]))
            continue
        # The empty text stands for a missing value.
        words = pa.array([text or None for text in recoding.labels[place].texts], pa.string())
        cells = pa.array(recoding.cells[place][klass])
        found[name] = pa.chunked_array([words.take(cells)])
    copy = pa.table(found)
    order = [(name, "ascending") for name in _sortable(copy, groups.quasi)]
    return copy.take(pc.sort_indices(copy, sort_keys=order)) if order else copy


def smallest_class(copy: pa.Table, quasi: Sequence[str], *, matching: bool = False) -> int:
    """Return how many rows look like the row that fewest look like, itself among them.

    Cells are compared as they stand in the copy: spellings that a search takes for one value are two
    here. `matching`: a missing cell looks like any other.
    """
    spelled = [copy[name].combine_chunks().dictionary_encode("encode") for name in quasi]
    columns = [numbers_of(each.indices) for each in spelled]
    sizes = [len(each.dictionary) for each in spelled]
    key, _ = packed(columns, sizes)
    _, first, rows = np.unique(key, return_index=True, return_counts=True)
    if matching:
        blank = [np.asarray(copy[name].is_null().combine_chunks())[first] for name in quasi]
        rows = matching_rows([codes[first] for codes in columns], sizes, blank, rows)
    return int(rows.min())


def _sortable(copy: pa.Table, first: Sequence[str]) -> list[str]:
    names = [*first, *(name for name in copy.column_names if name not in first)]
    return [name for name in names if not pa.types.is_nested(copy.schema.field(name).type)]


def entries(rows: pa.Table, groups: Groups, recoding: Recoding) -> Integers:
    """Return the entry of the recoding that each row belongs to.

    An entry takes so many rows of a combination (and of a sensitive value, where classes were
    balanced by it). With rows and entries in the same order, running sums say which takes which.
    """
    place = combinations(rows, groups)
    wanted = np.zeros(len(place), dtype=np.int64)
    sensitive = groups.sensitive
    if sensitive is not None and (recoding.sensitive >= 0).any():
        wanted = _codes(rows.column(sensitive.column), sensitive.values)
    by_row = np.lexsort((wanted, place))
    by_entry = np.lexsort((recoding.sensitive, recoding.combination))
    sums = np.cumsum(recoding.rows[by_entry])
    if not len(sums) or int(sums[-1]) != len(place):
        raise InternalError("the recoding is for another number of rows; did the table change?")
    found = np.empty(len(place), dtype=np.int64)
    found[by_row] = by_entry[np.searchsorted(sums, np.arange(len(place)), side="right")]
    if not np.array_equal(recoding.combination[found], place):
        raise InternalError("a row fell into a foreign entry of the recoding")
    return found


def combinations(rows: pa.Table, groups: Groups) -> Integers:
    """Return the combination of each row, as an index into `groups`."""
    codes = [
        np.concatenate([groups.codes[j], _codes(rows.column(name), groups.values[j])])
        for j, name in enumerate(groups.quasi)
    ]
    # Packed together: keys of one packing cannot be compared with those of another.
    key, _ = packed(codes, [len(values) for values in groups.values])
    known, wanted = key[: groups.combinations], key[groups.combinations :]
    order = np.argsort(known)
    found = np.minimum(np.searchsorted(known[order], wanted), groups.combinations - 1)
    place = order[found]
    if not np.array_equal(known[place], wanted):
        raise InternalError("a row has a combination that was not counted; did the table change?")
    return place.astype(np.int64)


def _codes(column: pa.ChunkedArray, values: Sequence[CellValue]) -> Integers:
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    known = pa.array(values, type=column.type)
    found = pc.index_in(column, value_set=known)
    if found.null_count and pa.types.is_floating(column.type):
        # GROUP BY may give one zero for both; to Arrow 0.0 and -0.0 are two values.
        other = pc.if_else(pc.equal(column, 0.0), pc.negate(column), column)
        found = pc.coalesce(found, pc.index_in(other, value_set=known))
    if found.null_count:
        raise InternalError("a row has a value that was not counted; did the table change?")
    return np.asarray(found.to_numpy(), dtype=np.int64)
