"""Noisy histograms, one for each column, and nothing about how columns hang together."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidInput
from discreet.synth.encoding.merging import Groups
from discreet.synth.measure.private_marginals import PrivateMarginals
from discreet.synth.measure.simplex import Floats
from discreet.synth.measure.singles import by_root, settle
from discreet.synth.models.conditional_chain import Network, Node
from discreet.synth.progress import Progress, silent


class Split(StrEnum):
    """How the budget is split among the columns."""

    ROOT = "root"
    EQUAL = "equal"


def fit(
    door: PrivateMarginals,
    *,
    bins: int | None = None,
    split: str = Split.ROOT,
    progress: Progress = silent,
) -> Network:
    """Return a model with independent columns.

    By default every code has its own bar, and a column's part of the budget goes with the square
    root of its size (`singles.by_root` says why). `bins=20, split="equal"` is the published
    DataSynthesizer: at most 20 bars, each of neighbouring codes that are made up evenly again, and
    epsilon/d for each of d columns.

    Guarantee: one marginal of each column through the door; their shares add up to 1.
    """
    if split not in tuple(Split) or (bins is not None and bins < 1):
        raise InvalidInput(
            "The independent method splits by 'root' or 'equal' and needs at least one bin.",
            hint='The published method is bins=20, split="equal".',
        )
    sizes = door.shape.sizes
    bars = [_bars(size, bins) for size in sizes]
    weights = [1] * len(sizes) if split == Split.EQUAL else [int(each.max()) + 1 for each in bars]
    measured = []
    for column, share in enumerate(by_root(Fraction(1), weights)):
        progress(column, len(sizes), "counting columns")
        merged = {column: bars[column]}
        measured += door.measure([(column,)], share=share, merged=merged)
    singles = settle(measured)
    nodes = tuple(
        Node(column, (), _evenly(singles.counts[column], bars[column]))
        for column in range(len(sizes))
    )
    progress(len(sizes), len(sizes), "done")
    return Network(door.shape, singles.total, nodes)


def _bars(size: int, bins: int | None) -> Groups:
    """Return the bar of each code: equally many neighbours each, or every code by itself."""
    codes = np.arange(size, dtype=np.int64)
    return codes if bins is None or size <= bins else codes * bins // size


def _evenly(counts: Floats, bars: Groups) -> Floats:
    """Return the chance of each code: its bar's, shared evenly among the bar's codes."""
    chances: Floats = (counts / counts.sum() / np.bincount(bars))[bars]
    return chances
