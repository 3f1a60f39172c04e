"""Discrete Laplace and discrete Gaussian noise: exact integers of any scale, added to numbers.

*Discrete Laplace.* A geometric number splits exactly into independent digits: if P(Y >= k) = t^k then the quotient
and the remainder of Y by B are independent, the quotient geometric with t^B and the remainder a
geometric modulo B. A discrete Laplace number is Y or -1 - Y, with the side independent of Y. So the
top digit and the side come from one table and each lower digit from another: one word each.

*Discrete Gaussian.* Up to sigma 55 one table holds the law itself. Above, a magnitude is q * B + r: the block q
comes from a table of the envelope exp(-(qB)^2 / 2v), r is uniform in the block, and the pair is kept with
probability exp(-gamma), gamma = r (2qB + r) / 2v. That decision is made in 32-bit fixed point with
certified error; the few lanes that it leaves open are decided exactly. Past a table's end a
magnitude is drawn from its exact conditional law, so nothing is cut off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import factorial, prod
from operator import index
from typing import TypeAlias

import numpy as np

from discreet.base.arrays import Integers
from discreet.base.numbers import Number, plain, to_fraction
from discreet.errors import InternalError, InvalidInput
from discreet.privacy.noise.alias_tables import AliasTable, build_table
from discreet.privacy.noise.certified import (
    GaussianSides,
    GeometricDigits,
    GeometricSides,
    exp_bounds,
)
from discreet.privacy.noise.rng import SYSTEM, WORD_BITS, Rng, Words, is_below

TOP_SCALE = 12  # the top digit's scale is at most this
REACH = 40  # its table reaches 40 scales: a restart has a chance of e^-40
DIGIT_BITS = 10
SIGN_BIT = np.int64(63)


@dataclass(frozen=True, slots=True, eq=False)
class GeometricSampler:
    """Tables for one scale: `top` holds the side and the top digit, `digits` the lower ones.

    `last` is the top digit from which the table says "or more"; `shifts` is where each digit goes.
    """

    top: AliasTable
    last: int
    shift: int
    digits: tuple[AliasTable, ...]
    shifts: tuple[int, ...]

    @property
    def words_per_draw(self) -> int:
        """Return how many words each draw takes, whatever its value."""
        return 1 + len(self.digits)

    def laplace(self, words: Words, rng: Rng) -> Integers:
        """Return discrete Laplace numbers from rows of words, one row for each digit.

        Guarantee: P(X = x) is proportional to exp(-|x| / scale) exactly. [note 0002, claim 2]
        """
        signed = self.top.draw(words[0], rng)
        side = signed >> SIGN_BIT  # 0, or -1 whose bits are all ones: x ^ -1 = -1 - x
        return self._join(signed ^ side, words, rng) ^ side

    def geometric(self, words: Words, rng: Rng) -> Integers:
        """Return geometric numbers from rows of words, one row for each digit.

        Guarantee: P(Y >= k) = exp(-k / scale) exactly. [note 0002, claim 2]
        """
        signed = self.top.draw(words[0], rng)
        return self._join(signed ^ (signed >> SIGN_BIT), words, rng)

    def _join(self, quotient: Integers, words: Words, rng: Rng) -> Integers:
        self._extend(quotient, rng)
        total = quotient << np.int64(self.shift)
        for table, shift, row in zip(self.digits, self.shifts, words[1:], strict=True):
            total |= table.draw(row, rng) << np.int64(shift)
        return total

    def _extend(self, quotient: Integers, rng: Rng) -> None:
        """Go on where the table ended: a geometric number forgets how far it has come."""
        lanes = np.flatnonzero(quotient == self.last)
        while lanes.size:
            signed = self.top.draw(rng.words(lanes.size), rng)
            more = signed ^ (signed >> SIGN_BIT)
            quotient[lanes] += more
            # Beyond a million times the scale, where nobody has ever been: refuse to wrap around.
            if int(quotient.max()) >> (62 - self.shift):
                raise InternalError("A geometric draw does not fit into 64 bits.")
            lanes = lanes[more == self.last]


@lru_cache(maxsize=64)
def geometric_sampler(scale: Fraction) -> GeometricSampler:
    """Return the tables for `scale`, built once."""
    shift = 0
    while scale > TOP_SCALE << shift:
        shift += 1
    top_scale = Fraction(scale, 1 << shift)
    half = 4
    while half - 1 < REACH * top_scale:
        half *= 2
    sides = GeometricSides(top_scale, half - 1, Fraction(1, scale))
    digits, shifts, start = [], [], 0
    for width in _widths(shift):
        each = GeometricDigits(Fraction(scale, 1 << start), 1 << width)
        digits.append(build_table(each, list(range(1 << width))))
        shifts.append(start)
        start += width
    return GeometricSampler(
        top=build_table(sides, [*range(half), *(~magnitude for magnitude in range(half))]),
        last=half - 1,
        shift=shift,
        digits=tuple(digits),
        shifts=tuple(shifts),
    )


def _widths(bits: int) -> list[int]:
    """Return widths of at most DIGIT_BITS that add up to `bits`, as even as possible."""
    count = -(-bits // DIGIT_BITS)
    return [(bits + i) // count for i in range(count)]


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


DrawShape: TypeAlias = int | tuple[int, ...]

SMALLEST_SCALE = Fraction(1, 1000)
GREATEST_SCALE = Fraction(10**12)
CHUNK = 1 << 15  # draws at a time: what they need stays in the processor's cache


def discrete_laplace(scale: Number, size: DrawShape, *, rng: Rng = SYSTEM) -> Integers:
    """Return integers with P(x) proportional to exp(-|x| / scale), as numpy int64.

    `scale` is any rational from 1/1000 to 10^12; a float means the decimal that it prints as.

    Guarantee: exact sampling, no floating point, the same work whatever the values are. Added to an
        integer query of L1 sensitivity s it is (s / scale)-DP. [Ghosh et al. 2009; note 0002]

    >>> discrete_laplace("1/1000", 3).tolist()      # a chance of e^-1000 to be anything else
    [0, 0, 0]
    """
    written = to_fraction(scale, name="scale")
    _check(written, SMALLEST_SCALE, GREATEST_SCALE, "scale")
    sampler = geometric_sampler(written)
    width = sampler.words_per_draw
    return _fill(
        size, lambda count: sampler.laplace(rng.words(count * width).reshape(width, count), rng)
    )


def discrete_gaussian_squared(
    sigma_squared: Number, size: DrawShape, *, rng: Rng = SYSTEM
) -> Integers:
    """Return integers with P(x) proportional to exp(-x^2 / (2 sigma_squared)), as numpy int64.

    `sigma_squared` is any rational from 10^-6 to 10^24.

    Guarantee: exact sampling, no floating point, work that does not depend on the values. Added to an
        integer query of L2 sensitivity s it is (s^2 / (2 sigma_squared))-zCDP. [CKS20, Theorem 4]

    >>> discrete_gaussian_squared(100, (2, 3)).shape
    (2, 3)
    """
    variance = to_fraction(sigma_squared, name="sigma_squared")
    _check(variance, SMALLEST_SCALE**2, GREATEST_SCALE**2, "sigma_squared")
    sampler = gaussian_sampler(variance)
    return _fill(size, lambda count: sampler.draw(count, rng))


def _check(value: Fraction, smallest: Fraction, greatest: Fraction, name: str) -> None:
    if not smallest <= value <= greatest:
        raise InvalidInput(
            f"{name} must lie between {plain(smallest)} and {plain(greatest)}, not {plain(value)}.",
            hint="Noise is added to integers: choose their unit so that the scale fits.",
        )


def _fill(size: DrawShape, draw: Callable[[int], Integers]) -> Integers:
    """Return an array of shape `size`, drawn in chunks."""
    shape = tuple(index(n) for n in size) if isinstance(size, tuple) else (index(size),)
    if any(n < 0 for n in shape):
        raise InvalidInput(f"size must not be negative, not {size}.")
    filled = np.empty(prod(shape), dtype=np.int64)
    for start in range(0, filled.size, CHUNK):
        part = filled[start : start + CHUNK]
        part[:] = draw(part.size)
    return filled.reshape(shape)
