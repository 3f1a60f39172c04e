"""Several parts of an output at once: added-up evidence, and a tree of conditions on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.attack.audit.bins import Binning
from discreet.attack.audit.features import OpenedOutputs, OutputPart, OutputValues
from discreet.core.arrays import Bits, Floats, Integers

_SOFT = 0.5  # added to every count before taking ratios
MOST_LEAVES = 32
_GROWN_ON = 5_000
_LEAST_GAIN = 6.0


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPart:
    """One part, its bins, and how strongly each bin speaks for the first input."""

    part: OutputPart
    bins: Binning
    weights: Floats

    @classmethod
    def of(cls, part: OutputPart, first: OpenedOutputs, second: OpenedOutputs) -> WeightedPart:
        """Return the evidence of one part on these outputs of the two inputs."""
        ours, theirs = first.column(part), second.column(part)
        bins = Binning.of(ours, theirs)
        counts = [np.bincount(bins.places(side), minlength=bins.size) for side in (ours, theirs)]
        return cls(part, bins, np.log((counts[0] + _SOFT) / (counts[1] + _SOFT)))

    def places(self, outputs: OpenedOutputs) -> Integers:
        """Return the bin of each output."""
        return self.bins.places(outputs.column(self.part))


@dataclass(frozen=True, slots=True, eq=False)
class SummedEvidence:
    """Several parts at once: their weights added up, as if they were independent."""

    pieces: tuple[WeightedPart, ...]
    words: str = "the evidence of all parts together"

    def column(self, outputs: OpenedOutputs) -> OutputValues:
        """Return the summed weight of each output."""
        total = np.zeros(len(outputs))
        for piece in self.pieces:
            total += piece.weights[piece.places(outputs)]
        return total


@dataclass(frozen=True, slots=True)
class Branch:
    """One question of a tree: does the weight of a piece lie at or below `cut`? Leaves hold a number."""

    piece: int
    cut: float
    low: Branch | int
    high: Branch | int


@dataclass(frozen=True, slots=True, eq=False)
class ConditionTree:
    """A tree of conditions on several parts: what happens together, and not one by one."""

    pieces: tuple[WeightedPart, ...]
    root: Branch | int
    words: str = "the combination of parts"

    @classmethod
    def grown(
        cls, pieces: tuple[WeightedPart, ...], first: OpenedOutputs, second: OpenedOutputs
    ) -> ConditionTree:
        """Return the tree whose leaves tell these outputs apart best, grown leaf by leaf."""
        cut = _GROWN_ON
        columns = np.stack(
            [
                piece.weights[
                    np.concatenate([piece.places(first)[:cut], piece.places(second)[:cut]])
                ]
                for piece in pieces
            ]
        )
        ours = np.arange(columns.shape[1]) < min(len(first), cut)
        return cls(pieces, _grow(columns, ours, np.arange(columns.shape[1]), [0], 0))

    def column(self, outputs: OpenedOutputs) -> OutputValues:
        """Return the leaf of each output, as a word."""
        columns = np.stack([piece.weights[piece.places(outputs)] for piece in self.pieces])
        found = np.empty(len(outputs), dtype=np.int64)
        _fall(self.root, columns, np.arange(len(outputs)), found)
        return found


def _fall(node: Branch | int, columns: Floats, rows: Integers, found: Integers) -> None:
    if isinstance(node, int):
        found[rows] = node
        return
    low = columns[node.piece, rows] <= node.cut
    _fall(node.low, columns, rows[low], found)
    _fall(node.high, columns, rows[~low], found)


def _grow(
    columns: Floats,
    ours: Bits,
    rows: Integers,
    leaves: list[int],
    depth: int,
) -> Branch | int:
    """Return the best question for these rows and the trees below it; `leaves` counts them."""
    best = _best_cut(columns[:, rows], ours[rows]) if 2**depth < MOST_LEAVES else None
    if best is None:
        leaves[0] += 1
        return leaves[0] - 1
    piece, cut = best
    low = columns[piece, rows] <= cut
    return Branch(
        piece,
        cut,
        _grow(columns, ours, rows[low], leaves, depth + 1),
        _grow(columns, ours, rows[~low], leaves, depth + 1),
    )


def _best_cut(columns: Floats, ours: Bits) -> tuple[int, float] | None:
    best, gain = None, _LEAST_GAIN
    for number, values in enumerate(columns):
        levels, place = np.unique(values, return_inverse=True)
        if len(levels) < 2:
            continue
        first = np.bincount(place[ours], minlength=len(levels)).cumsum()
        second = np.bincount(place[~ours], minlength=len(levels)).cumsum()
        gains = _information(first, second) + _information(first[-1] - first, second[-1] - second)
        found = int(np.argmax(gains[:-1]))
        more = float(gains[found] - _information(first[-1:], second[-1:])[0])
        if more > gain:
            best, gain = (number, float((levels[found] + levels[found + 1]) / 2)), more
    return best


def _information(first: Integers, second: Integers) -> Floats:
    """Return the log likelihood of leaves that hold so many of each input."""
    total = first + second + 2 * _SOFT
    return np.asarray(
        first * np.log((first + _SOFT) / total) + second * np.log((second + _SOFT) / total)
    )
