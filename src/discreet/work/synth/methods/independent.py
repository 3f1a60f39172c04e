"""Noisy histograms, one for each column, and nothing about how columns hang together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

import numpy as np

from discreet.base.arrays import Floats
from discreet.base.display import Progress, silent
from discreet.errors import InvalidInput
from discreet.measure.one_way_marginals import Singles, by_root, settle
from discreet.measure.private_marginals import Measured, PrivateMarginals, whole
from discreet.measure.shape import CodeGroups, Shape
from discreet.work.synth.models.coarse import coarsen, live_codes, seen_ends, within
from discreet.work.synth.models.conditional_chain import Network, Node


class Split(StrEnum):
    """How the budget is split among the columns."""

    ROOT = "root"
    EQUAL = "equal"


def fit(
    marginals: PrivateMarginals,
    *,
    bins: int | None = None,
    split: str = Split.ROOT,
    progress: Progress = silent,
) -> Network:
    """Return a model with independent columns.

    By default every code has its own bar, a column's part of the budget goes with the square root
    of its size (`singles.by_root` says why), and codes that noise hides are smoothed (`smooth`). `bins=20, split="equal"` is the published
    DataSynthesizer: at most 20 bars, each of neighbouring codes that are made up evenly again, and
    epsilon/d for each of d columns.

    Guarantee: one private marginal of each column; their shares add up to 1.
    """
    if split not in tuple(Split) or (bins is not None and bins < 1):
        raise InvalidInput(
            "The independent method splits by 'root' or 'equal' and needs at least one bin.",
            hint='The published method is bins=20, split="equal".',
        )
    sizes = marginals.shape.sizes
    bars = [_bars(size, bins) for size in sizes]
    weights = [1] * len(sizes) if split == Split.EQUAL else [int(each.max()) + 1 for each in bars]
    measured = []
    for column, share in enumerate(by_root(Fraction(1), weights)):
        progress(column, len(sizes), "counting columns")
        merged = {} if bins is None else {column: bars[column]}
        measured += marginals.measure([(column,)], share=share, merged=merged)
    singles = settle(measured)
    if bins is None:
        laws = list(smooth(singles, marginals.shape.ordered, marginals.shape.gaps))
    else:
        laws = [_evenly(singles.counts[column], bars[column]) for column in range(len(sizes))]
    progress(len(sizes), len(sizes), "done")
    return _network(marginals.shape, singles.total, laws)


def smooth(
    singles: Singles, ordered: Mapping[int, int], gaps: frozenset[int]
) -> tuple[Floats, ...]:
    """Return each column's law: codes that the noise hides share the rows of their neighbours.

    Clipping noisy counts at nothing would give all rows of many rare codes to the few of them that
    noise made large.
    """
    ends = seen_ends(singles, ordered)
    deviation = max(map(singles.deviation, range(len(singles.counts))))
    groups = coarsen(singles, deviation, ends, gaps)
    rows = [
        np.bincount(each, weights=counts * live_codes(each.size, ends, column)).astype(np.float64)
        for column, (each, counts) in enumerate(zip(groups, singles.counts, strict=True))
    ]
    inside = within(singles, groups, rows, ends)
    return tuple(
        (mass / mass.sum())[each] * chances
        for mass, each, chances in zip(rows, groups, inside, strict=True)
    )


def single_tables(
    marginals: PrivateMarginals, measured: Sequence[Measured]
) -> tuple[Measured, ...]:
    """Return one table for each column: measured already, or with what is left of the budget.

    Guarantee: at most the share that is left; which columns lack a table is noisy or public.
    """
    by_code = whole(measured, marginals.shape)
    have = {each.columns[0]: each for each in by_code if len(each.columns) == 1}
    lacking = [column for column in range(marginals.shape.width) if column not in have]
    if lacking and marginals.left > 0:
        found = marginals.measure([(column,) for column in lacking], share=marginals.left)
        have |= {each.columns[0]: each for each in found}
    return tuple(have[column] for column in sorted(have))


def smooth_columns(shape: Shape, tables: Sequence[Measured]) -> Network:
    """Return independent columns from these tables, smoothed; uniform where there is none."""
    if not tables:
        return _network(shape, 1.0, _uniform(shape))
    singles, places = settle(tables), {each.columns[0]: i for i, each in enumerate(tables)}
    ordered = {places[c]: bins for c, bins in shape.ordered.items() if c in places}
    gaps = frozenset(places[c] for c in shape.gaps if c in places)
    return _placed(shape, tables, singles.total, smooth(singles, ordered, gaps))


def plain_columns(shape: Shape, tables: Sequence[Measured]) -> Network:
    """Return independent columns, each the nearest possible table to its noisy one.

    No farther from it than the truth is, so it agrees with it wherever the truth does.
    """
    if not tables:
        return _network(shape, 1.0, _uniform(shape))
    singles = settle(tables)
    return _placed(shape, tables, singles.total, singles.counts)


def _placed(
    shape: Shape, tables: Sequence[Measured], total: float, laws: Sequence[Floats]
) -> Network:
    every = _uniform(shape)
    for each, law in zip(tables, laws, strict=True):
        every[each.columns[0]] = law
    return _network(shape, total, every)


def _uniform(shape: Shape) -> list[Floats]:
    return [np.full(size, 1 / size) for size in shape.sizes]


def _network(shape: Shape, total: float, laws: Sequence[Floats]) -> Network:
    nodes = tuple(Node(column, (), law / law.sum()) for column, law in enumerate(laws))
    return Network(shape, total, nodes)


def _bars(size: int, bins: int | None) -> CodeGroups:
    """Return the bar of each code: equally many neighbours each, or every code by itself."""
    codes = np.arange(size, dtype=np.int64)
    return codes if bins is None or size <= bins else codes * bins // size


def _evenly(counts: Floats, bars: CodeGroups) -> Floats:
    """Return the chance of each code: its bar's, shared evenly among the bar's codes."""
    chances: Floats = (counts / counts.sum() / np.bincount(bars))[bars]
    return chances
