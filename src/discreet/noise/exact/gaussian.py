"""Discrete Gaussian noise of any variance: one table, or blocks with exact rejection.

Up to sigma 55 one table holds the law itself. Above, a magnitude is q * B + r: the block q comes
from a table of the envelope exp(-(qB)^2 / 2v), r is uniform in the block, and the pair is kept with
probability exp(-gamma), gamma = r (2qB + r) / 2v. That decision is made in 32-bit fixed point with
certified error; the few lanes that it leaves open are decided exactly. Past a table's end a
magnitude is drawn from its exact conditional law, so nothing is cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial

import numpy as np

from discreet.core.arrays import Integers
from discreet.errors import InternalError
from discreet.noise.exact.alias_tables import AliasTable, build_table
from discreet.noise.exact.certified import exp_bounds
from discreet.noise.exact.geometric import SIGN_BIT, geometric_sampler
from discreet.noise.exact.refine import WORD_BITS, is_below
from discreet.noise.exact.weights import GaussianSides
from discreet.noise.rng import Rng, Words

TABLE_SIGMA = 55
REACH_SQUARED_PERCENT = 8464  # tables reach 9.2 sigma: going beyond has a chance of e^-42
ONE = 32  # fixed-point numbers here are counted in units of 2^-32
FRACTION_BITS = 24  # r / B is looked at to this many bits
FACTOR_BITS = 42
EXP_ERROR = 8
_COEFFICIENTS = tuple((1 << ONE) // factorial(n) for n in range(9))


def draw_tail(variance: Fraction, start: int, rng: Rng) -> int:
    """Return k >= start with probability proportional to exp(-k^2 / (2 variance)), start > 0.

    Guarantee: exact. With k = start + y the weight is a constant times exp(-y start / variance)
        times exp(-y^2 / (2 variance)): a geometric y, kept with the last factor's probability.
    """
    sampler = geometric_sampler(Fraction(variance, start))
    while True:
        words = rng.words(sampler.words_per_draw).reshape(-1, 1)
        y = int(sampler.geometric(words, rng)[0])
        if _keep(Fraction(y * y, 2 * variance), 0, 0, rng):
            if start + y >= 1 << 61:
                raise InternalError("A Gaussian draw does not fit into 64 bits.")
            return start + y


def _keep(gamma: Fraction, prefix: int, known: int, rng: Rng) -> bool:
    """Return True with probability exp(-gamma), given the first bits of the uniform number."""
    if not gamma:
        return True
    return is_below(prefix, known, lambda bits: exp_bounds(-gamma, bits), rng)


@dataclass(frozen=True, slots=True, eq=False)
class TableSampler:
    """The law itself in one table, whose ends are `last` and -1 - last."""

    table: AliasTable
    variance: Fraction
    last: int

    def draw(self, size: int, rng: Rng) -> Integers:
        """Return `size` numbers; their law is exact (note 0002, claim 3)."""
        drawn = self.table.draw(rng.words(size), rng)
        ends = (drawn == self.last) | (drawn == ~self.last)
        for lane in np.flatnonzero(ends).tolist():
            if drawn[lane] > 0:
                drawn[lane] = draw_tail(self.variance, self.last, rng)
            else:
                drawn[lane] = -draw_tail(self.variance, self.last + 1, rng)
        return drawn


@dataclass(frozen=True, slots=True, eq=False)
class BlockSampler:
    """Blocks of 2^shift magnitudes; `factor` is B^2 / (2 variance) in units of 2^-42, rounded down.

    `slack` bounds, in units of 2^-32, how far fixed point can be from the truth for blocks below
    `safe`; all others are decided exactly.
    """

    blocks: AliasTable
    last: int
    variance: Fraction
    shift: int
    factor: int
    safe: int
    slack: int

    def draw(self, size: int, rng: Rng) -> Integers:
        """Return `size` numbers; their law is exact (note 0002, claim 4).

        How many candidates are refused does not depend on the values that are kept.
        """
        kept: list[Integers] = []
        missing = size
        while missing:
            candidates = missing + missing // 40 + 4
            batch = self._accepted(rng.words(2 * candidates).reshape(2, -1), rng)[:missing]
            kept.append(batch)
            missing -= batch.size
        return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)

    def _accepted(self, words: Words, rng: Rng) -> Integers:
        block = self._blocks(words[0], rng)
        # The second word's first bit is the sign, the next ones are r, and the others begin the
        # uniform number of the coin. On the negative side r runs from 1 to B: there is one zero.
        side = words[1].view(np.int64) >> SIGN_BIT
        rest = words[1] << np.uint64(1)
        inside = (rest >> np.uint64(WORD_BITS - self.shift)).view(np.int64) - side
        coin = ((rest << np.uint64(self.shift)) >> np.uint64(ONE)).view(np.int64)
        chance = self._chance(block, inside)
        accepted = coin < chance - self.slack
        unsure = ~accepted & (coin < chance + self.slack) | (block >= self.safe)
        for lane in np.flatnonzero(unsure).tolist():
            accepted[lane] = self._decide(
                int(block[lane]), int(inside[lane]), int(words[1][lane]), rng
            )
        magnitude = (block << np.int64(self.shift)) + inside
        kept: Integers = ((magnitude ^ side) - side)[accepted]
        return kept

    def _blocks(self, words: Words, rng: Rng) -> Integers:
        """Return block numbers by the envelope's law, which is a Gaussian magnitude itself."""
        block = self.blocks.draw(words, rng)
        for lane in np.flatnonzero(block == self.last).tolist():
            envelope = Fraction(self.variance, 1 << (2 * self.shift))
            block[lane] = draw_tail(envelope, self.last, rng)
            if int(block[lane]) >> (61 - self.shift):
                raise InternalError("A Gaussian draw does not fit into 64 bits.")
        return block

    def _decide(self, block: int, inside: int, word: int, rng: Rng) -> bool:
        """Return the exact decision on one candidate."""
        gamma = Fraction(inside * ((block << (self.shift + 1)) + inside), 2 * self.variance)
        known = WORD_BITS - 1 - self.shift
        return _keep(gamma, word & ((1 << known) - 1), known, rng)

    def _chance(self, block: Integers, inside: Integers) -> Integers:
        """Return exp(-gamma) in units of 2^-32, off by less than `slack` for safe blocks."""
        left = FRACTION_BITS - self.shift
        fraction = inside << np.int64(left) if left >= 0 else inside >> np.int64(-left)
        # fraction <= 2^24 and block < 2^9: the product stays below 2^58, the next one below 2^64.
        product = fraction * ((block << np.int64(FRACTION_BITS + 1)) + fraction)
        scaled = (product >> np.int64(26)).view(np.uint64) * np.uint64(self.factor)
        return _exp_minus((scaled >> np.uint64(ONE)).view(np.int64))


def _exp_minus(gamma: Integers) -> Integers:
    """Return exp(-gamma), both in units of 2^-32, off by less than 8 units for gamma <= 2/5.

    Each of the roundings costs at most 2 units and is multiplied by gamma at every later step: 4
    units in all. What the series leaves out is below (2/5)^9 / 9!, that is 4 units.
    """
    value = np.full_like(gamma, _COEFFICIENTS[-1])
    for coefficient in _COEFFICIENTS[-2::-1]:
        value *= gamma
        value >>= np.int64(ONE)
        np.subtract(np.int64(coefficient), value, out=value)
    return value


@lru_cache(maxsize=64)
def gaussian_sampler(variance: Fraction) -> TableSampler | BlockSampler:
    """Return the sampler for sigma^2 = `variance`, built once."""
    shift = 0
    while variance > TABLE_SIGMA**2 << (2 * shift):
        shift += 1
    envelope = Fraction(variance, 1 << (2 * shift))
    half = 4
    while (half - 1) ** 2 * 100 < REACH_SQUARED_PERCENT * envelope:
        half *= 2
    last = half - 1
    if not shift:
        values = [*range(half), *(~magnitude for magnitude in range(half))]
        table = build_table(GaussianSides(variance, last, (0, 1)), values)
        return TableSampler(table, variance, last)
    rate = Fraction(1, 2 * envelope)  # gamma is rate * f * (2 block + f) with f = r / B <= 1
    safe = min(last, int(Fraction(1, 5 * rate)) - 1)
    # The four roundings of gamma: of f, of the product, of the factor, of the result.
    rounding = int(rate * (2 * safe + 2) * (1 << (ONE - FRACTION_BITS))) + 1 + 3
    coin = 1 << max(0, shift + 1 - ONE)
    return BlockSampler(
        blocks=build_table(GaussianSides(envelope, last, (0,)), list(range(half))),
        last=last,
        variance=variance,
        shift=shift,
        factor=int(rate * (1 << FACTOR_BITS)),
        safe=safe,
        slack=rounding + EXP_ERROR + coin,
    )
