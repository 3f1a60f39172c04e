"""Columns as axes: the order in which their values are cut, and what a stretch of it reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from discreet.anonymize.class_labels import ClassLabels
from discreet.anonymize.groups import CellValue, Groups, spelled
from discreet.anonymize.hierarchy.column_levels import ColumnLevels
from discreet.core.arrays import Floats, Integers

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
