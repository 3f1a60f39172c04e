"""Mondrian: the table is cut in two at a median, again and again, while both halves satisfy all.

All parts of a round are cut at once, with arrays. Strict cuts keep equal values together; relaxed
ones deal the rows at the median out to both halves, so parts become as small as they may.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from discreet.anonymize.classes import (
    ClassLabels,
    Entries,
    Recoding,
    judge,
    merged_by_text,
    start_entries,
    whole_distribution,
)
from discreet.anonymize.groups import CellValue, Groups, spelled
from discreet.anonymize.hierarchy import ColumnLevels
from discreet.anonymize.privacy_models import Conditions
from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress
from discreet.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class _Space:
    """What stays the same while parts are cut; rank and position of each combination on each axis."""

    ranks: Integers
    spots: Floats
    weights: Floats
    conditions: Conditions
    whole: Floats
    relaxed: bool
    absent: Integers
    """The rank of missing values on each axis; -1 where there are none."""


def mondrian(
    groups: Groups,
    ladders: Sequence[ColumnLevels],
    conditions: Conditions,
    *,
    weights: Sequence[float],
    relaxed: bool,
    progress: Progress,
) -> Recoding:
    """Return the parts that no allowed median cut divides further, and what they read.

    The next cut goes through the column whose values spread the widest (times its weight).
    """
    axes = make_axes(groups, ladders)
    whole = whole_distribution(groups)
    entries = start_entries(groups, conditions)
    if not judge(entries, conditions, whole, 1)[0]:
        raise InvalidInput(
            "Not even the whole table as one class is allowed.",
            hint="Ask for less: a smaller k or l, or a larger t.",
        )
    absent = [int(axis.rank[axis.values.index(None)]) if axis.lacks else -1 for axis in axes]
    ranks = np.stack([axis.rank[groups.codes[place]] for place, axis in enumerate(axes)])
    spots = np.stack([axis.spot[ranks[place]] for place, axis in enumerate(axes)])
    space = _Space(ranks, spots, np.asarray(weights), conditions, whole, relaxed, np.array(absent))
    parts, is_open, done = 1, np.ones(1, dtype=bool), 0
    while is_open.any():
        chosen = np.flatnonzero(is_open[entries.part])
        cut, accepted, entries = _cut_round(entries, chosen, is_open, space)
        fresh = np.full(parts, -1, dtype=np.int64)
        fresh[accepted] = parts + np.arange(len(accepted))
        part = np.where(cut, fresh[entries.part], entries.part)
        entries = replace(entries, part=part)
        still = np.zeros(parts, dtype=bool)
        still[accepted] = True
        is_open = np.concatenate([still, np.ones(len(accepted), dtype=bool)])
        parts += len(accepted)
        done += 1
        progress(done, done + 1, "rounds of cuts")
    progress(done, done, "rounds of cuts")
    return read_off(groups, axes, entries)


def _spreads(entries: Entries, space: _Space, parts: int) -> Floats:
    """Return how far each part reaches along each axis, times the weight of the column."""
    order = np.argsort(entries.part, kind="stable")
    ordered = entries.part[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    found = np.zeros((parts, len(space.weights)))
    for place, weight in enumerate(space.weights):
        spots = space.spots[place][entries.combination[order]]
        reach = np.maximum.reduceat(spots, starts) - np.minimum.reduceat(spots, starts)
        # A column of weight zero is still cut, but only when nothing else can be.
        found[ordered[starts], place] = reach * (weight or 1e-9)
    return found


def _cut_round(
    entries: Entries, chosen: Integers, is_open: Bits, space: _Space
) -> tuple[Bits, Integers, Entries]:
    """Return which entries go to a new half, which parts were cut, and the entries (some divided)."""
    parts = len(is_open)
    sizes = np.bincount(entries.part, weights=entries.rows, minlength=parts)
    spreads = _spreads(entries.some(chosen, entries.part[chosen]), space, parts)
    columns = np.argsort(-spreads, axis=1, kind="stable")
    wanting = is_open & (sizes >= 2 * space.conditions.smallest)
    moved = np.zeros(len(entries.rows), dtype=bool)
    accepted: list[Integers] = []
    for column, apart in _turns(columns, space):
        now = wanting & (spreads[np.arange(parts), column] > 0)
        places = np.flatnonzero(now[entries.part])
        if not len(places):
            continue
        if space.relaxed and not apart:
            entries, right = _halve(entries, places, column, space)
            moved = np.concatenate([moved, np.zeros(len(entries.rows) - len(moved), dtype=bool)])
        else:
            right = _divide(entries, places, column, space, apart=apart)
        fine = _both_satisfy(entries, right, now, space)
        moved |= right & fine[entries.part]
        accepted.append(np.flatnonzero(fine))
        wanting &= ~fine
    return moved, np.concatenate(accepted) if accepted else np.zeros(0, dtype=np.int64), entries


def _turns(columns: Integers, space: _Space) -> Iterator[tuple[Integers, bool]]:
    """Yield what is tried: a column for each part, and whether only missing values are cut off.

    Those go first, so that a class does not read "20-29 or missing" where it need not.
    """
    for turn in range(columns.shape[1]):
        if (space.absent[columns[:, turn]] >= 0).any():
            yield columns[:, turn], True
        yield columns[:, turn], False


def _sorted_by_value(
    entries: Entries, places: Integers, column: Integers, space: _Space
) -> tuple[Integers, Integers, Integers]:
    """Return the entries at `places` in order of part and value, their values, and rows before."""
    part = entries.part[places]
    value = space.ranks[column[part], entries.combination[places]]
    order = np.lexsort((value, part))
    rows = entries.rows[places][order]
    return places[order], value[order], np.cumsum(rows) - rows


def _totals(part: Integers, rows: Integers, before: Integers) -> tuple[Integers, Integers]:
    """Return for each sorted entry the rows of its part before it, and those of its whole part."""
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    number = np.cumsum(np.diff(part, prepend=-1) != 0) - 1
    totals = np.add.reduceat(rows, starts)
    return before - before[starts][number], totals[number]


def _divide(
    entries: Entries, places: Integers, column: Integers, space: _Space, *, apart: bool
) -> Bits:
    """Return which entries lie above the allowed cut next to the median (equal values together).

    With `apart`, only the cut that leaves all missing values and nothing else above it.
    """
    order, value, before = _sorted_by_value(entries, places, column, space)
    part, rows = entries.part[order], entries.rows[order]
    left, total = _totals(part, rows, before)
    # A cut before entry i: the value changes there, inside a part.
    begins = np.zeros(len(order), dtype=bool)
    begins[1:] = (part[1:] == part[:-1]) & (value[1:] != value[:-1])
    if apart:
        begins &= value == space.absent[column[part]]
    least = space.conditions.smallest
    cuts = np.flatnonzero(begins & (left >= least) & (total - left >= least))
    if not len(cuts):
        return np.zeros(len(entries.rows), dtype=bool)
    off = np.abs(2 * left[cuts] - total[cuts])
    by_part = np.lexsort((off, part[cuts]))
    best = cuts[by_part][np.diff(part[cuts][by_part], prepend=-1) != 0]
    limit = np.full(int(entries.part.max()) + 1, np.iinfo(np.int64).max)
    limit[part[best]] = value[best]
    right = np.zeros(len(entries.rows), dtype=bool)
    right[order] = value >= limit[part]
    return right


def _halve(
    entries: Entries, places: Integers, column: Integers, space: _Space
) -> tuple[Entries, Bits]:
    """Return entries such that each part falls into two equal halves, and which are in the upper.

    The entry at the median is divided where the middle falls inside it.
    """
    order, _, before = _sorted_by_value(entries, places, column, space)
    part, rows = entries.part[order], entries.rows[order]
    left, total = _totals(part, rows, before)
    half = total // 2
    over = (left < half) & (left + rows > half)
    kept = np.where(over, half - left, rows)
    both = entries.rows.copy()
    both[order] = kept
    divided = order[over]
    right = np.zeros(len(entries.rows) + len(divided), dtype=bool)
    right[order] = left >= half
    right[len(entries.rows) :] = True
    grown = Entries(
        np.concatenate([entries.combination, entries.combination[divided]]),
        np.concatenate([entries.sensitive, entries.sensitive[divided]]),
        np.concatenate([both, (rows - kept)[over]]),
        np.concatenate([entries.part, entries.part[divided]]),
    )
    return grown, right


def _both_satisfy(entries: Entries, right: Bits, wanting: Bits, space: _Space) -> Bits:
    """Return which parts have two halves that satisfy all models."""
    parts = len(wanting)
    inside = np.flatnonzero(wanting[entries.part])
    halves = entries.some(inside, entries.part[inside] * 2 + right[inside])
    good = judge(halves, space.conditions, space.whole, 2 * parts)
    there = np.bincount(halves.part, minlength=2 * parts) > 0
    return wanting & (good & there).reshape(parts, 2).all(axis=1)


def read_off(groups: Groups, axes: Sequence[ColumnOrder], entries: Entries) -> Recoding:
    """Return the recoding of parts: each column reads the stretch that its part covers."""
    order = np.argsort(entries.part, kind="stable")
    ordered = entries.part[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    labels, cells = [], []
    for place, axis in enumerate(axes):
        ranks = axis.rank[groups.codes[place][entries.combination[order]]]
        made, cell = axis.labels(
            np.minimum.reduceat(ranks, starts), np.maximum.reduceat(ranks, starts)
        )
        labels.append(made)
        cells.append(cell)
    # Two stretches may read the same, so classes are told apart by their texts.
    klass, read = merged_by_text(labels, cells)
    number = np.empty(int(ordered[-1]) + 1, dtype=np.int64)
    number[ordered[starts]] = klass
    return Recoding(
        entries.combination,
        entries.sensitive,
        number[entries.part],
        entries.rows,
        tuple(labels),
        read,
    )


_APART = 2.0
"""Where missing values stand on an axis from 0 to 1: apart, so that they are cut off first."""


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """One column: `rank[value]` is its place in the order, `spot[rank]` its position from 0 to 1.

    Numbers and dates stand by size; other values by their hierarchy, so that every label of it
    covers a stretch without gaps.
    """

    values: tuple[CellValue, ...] = field(repr=False)
    ladder: ColumnLevels
    rank: Integers = field(repr=False)
    spot: Floats = field(repr=False)
    mass: Integers = field(repr=False)
    by_size: bool

    @property
    def lacks(self) -> bool:
        """Return whether missing values stand at the end of the axis, apart from all others."""
        return self.by_size and self.values[-1] is None

    def labels(self, low: Integers, high: Integers) -> tuple[ClassLabels, Integers]:
        """Return what the stretches from rank `low` to `high` read, and the label of each."""
        width = len(self.values)
        stretches, cells = np.unique(low * width + high, return_inverse=True)
        back = np.argsort(self.rank)
        first, last = back[stretches // width].tolist(), back[stretches % width].tolist()
        make = self._by_size if self.by_size else self._by_ladder
        made = [make(a, b) for a, b in zip(first, last, strict=True)]
        texts = tuple(text for text, _, _ in made)
        share = np.array([part for _, part, _ in made])
        mass = np.array([rows for _, _, rows in made], dtype=np.int64)
        return ClassLabels(texts, share, mass), cells

    def _by_size(self, first: int, last: int) -> tuple[str, float, int]:
        low, high = int(self.rank[first]), int(self.rank[last])
        by_rank = np.bincount(self.rank, weights=self.mass)
        rows = int(by_rank[low : high + 1].sum())
        absent = self.values[last] is None and low < high
        end = int(np.flatnonzero(self.rank == high - 1)[0]) if absent else last
        text = _range(self.values[first], self.values[end])
        if absent:
            return f"{text} or missing", 1.0, rows
        return text, float(self.spot[high] - self.spot[low]), rows

    def _by_ladder(self, first: int, last: int) -> tuple[str, float, int]:
        for rung in self.ladder.rungs:
            if rung.codes[first] == rung.codes[last]:
                label = int(rung.codes[first])
                return rung.labels[label], float(rung.share[label]), int(rung.mass[label])
        # The hierarchy ends in several labels: name what the stretch holds.
        top = self.ladder.rungs[-1]
        low, high = self.rank[first], self.rank[last]
        some = np.unique(top.codes[(self.rank >= low) & (self.rank <= high)])
        text = " or ".join(top.labels[label] for label in some.tolist())
        return text, min(1.0, float(top.share[some].sum())), int(top.mass[some].sum())


def make_axes(groups: Groups, ladders: Sequence[ColumnLevels]) -> tuple[ColumnOrder, ...]:
    """Return an axis for each quasi-identifier."""
    return tuple(
        _axis(values, ladder) for values, ladder in zip(groups.values, ladders, strict=True)
    )


def _axis(values: tuple[CellValue, ...], ladder: ColumnLevels) -> ColumnOrder:
    known = [value for value in values if value is not None]
    by_size = bool(known) and all(_has_size(value) for value in known)
    if by_size:
        rank = np.arange(len(values))  # groups keep values in order, missing last
        spot = _positions([_amount(value) for value in known])
        if len(known) < len(values):
            spot = np.append(spot, _APART)
    else:
        # From the top down, so that values under one label stand side by side at every level.
        keys = [rung.codes for rung in ladder.rungs]
        rank = np.empty(len(values), dtype=np.int64)
        rank[np.lexsort(keys)] = np.arange(len(values))
        spot = _positions(list(range(len(values))))
    first = ladder.rungs[0]
    return ColumnOrder(values, ladder, rank, spot, first.mass[first.codes], by_size)


def _has_size(value: CellValue) -> bool:
    if isinstance(value, date):
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _amount(value: CellValue) -> float:
    return float(value.toordinal()) if isinstance(value, date) else float(value or 0)


def _positions(amounts: Sequence[float]) -> Floats:
    places = np.asarray(amounts, dtype=np.float64)
    reach = float(places.max() - places.min()) if len(places) else 0.0
    return (places - places.min()) / reach if reach else np.zeros(len(places))


def _range(low: CellValue, high: CellValue) -> str:
    if low == high:
        return spelled(low)
    plain = isinstance(low, int) and isinstance(high, int) and low >= 0
    return f"{low}-{high}" if plain else f"{spelled(low)} to {spelled(high)}"
