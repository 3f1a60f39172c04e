"""Exact draws of an index from weights that are known only up to a few units."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Integers
from discreet.noise.exact.certified import exp_bounds
from discreet.noise.exact.exp_table import BITS, ExpTable, Gaps
from discreet.noise.exact.refine import is_below
from discreet.noise.exact.wide_multiply import below, wide_product
from discreet.noise.rng import Rng, Words


class WeightedDraw:
    """Exact inverse sampling from weights that are known only up to a few units.

    Candidate i owns floor(weight * word / 2^shift) tickets, plus `spare` tickets that together
    hold the rest of its true weight. A spare ticket counts with the probability that is missing;
    one that does not count means a new draw. So every draw that counts follows the exact law.
    """

    def __init__(self, tables: ExpTable, weights: Words) -> None:
        self.tables = tables
        self.weights = weights
        # Sum of weights <= 2^(shift - 2), so that all tickets together stay below 2^62.
        self.shift = (int(weights.sum()) - 1).bit_length() + 2
        self.factors = weights << np.uint64(64 - self.shift)
        # A weight of at most 2^(shift - 2) leaves less than slack/4 + 1 units.
        self.spare = tables.slack // 4 + 2

    def draw(self, gaps: Gaps, rng: Rng) -> Integers:
        """Return one index for each row of gaps.

        Guarantee: P(i) is exactly proportional to weight(i) * exp(-gap(i) * rate). Passes over
            the tickets do not stop early; a new draw has a probability below 2^-20 for up to a
            million even weights. [docs/notes/0004-exact-selection.md]
        """
        rows, candidates = gaps.shape
        words = self.tables.words(gaps.reshape(-1)).reshape(gaps.shape)
        tickets, _ = wide_product(words, self.factors)
        until = np.cumsum(tickets, axis=1, dtype=np.uint64)
        totals = until[:, -1] + np.uint64(self.spare * candidates)
        chosen = np.zeros(rows, dtype=np.int64)
        pending = np.arange(rows)
        while pending.size:
            drawn = below(totals[pending], rng)
            ends = until if pending.size == rows else until[pending]
            chosen[pending] = (ends <= drawn[:, None]).sum(axis=1, dtype=np.int64)
            again = []
            for lane in np.flatnonzero(chosen[pending] == candidates):
                row = pending[lane]
                index, unit = divmod(int(drawn[lane]) - int(until[row, -1]), self.spare)
                rest = self._rest(int(gaps[row, index]), index, int(tickets[row, index]) + unit)
                if is_below(0, 0, rest.bounds, rng):
                    chosen[row] = index
                else:
                    again.append(row)
            pending = np.array(again, dtype=np.intp)
        return chosen

    def _rest(self, gap: int, index: int, counted: int) -> _Rest:
        weight = int(self.weights[index])
        return _Rest(gap * self.tables.rate, weight, BITS - self.shift, counted)


@dataclass(frozen=True, slots=True)
class _Rest:
    """The part of weight * 2^bits * exp(-exponent) between `counted` and `counted` + 1."""

    exponent: Fraction
    weight: int
    precision: int
    counted: int

    def bounds(self, bits: int) -> tuple[int, int]:
        """Return certified bounds of 2^bits times that part."""
        guard = self.weight.bit_length()
        low, high = exp_bounds(-self.exponent, bits + self.precision + guard)
        floor = (self.weight * low >> guard) - (self.counted << bits)
        ceiling = -(-self.weight * high >> guard) - (self.counted << bits)
        one = 1 << bits
        return min(max(floor, 0), one), min(max(ceiling, 0), one)
