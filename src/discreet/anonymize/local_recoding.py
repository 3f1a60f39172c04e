"""Local recoding: each class of a full-domain generalisation is made finer as long as it may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

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
from discreet.anonymize.groups import Groups
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.anonymize.privacy_models.model import Conditions
from discreet.core.arrays import Bits, Floats, Integers
from discreet.core.display import Progress

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
