"""Geometric numbers and discrete Laplace noise of any scale, by digits.

A geometric number splits exactly into independent digits: if P(Y >= k) = t^k then the quotient and
the remainder of Y by B are independent, the quotient geometric with t^B and the remainder a
geometric modulo B. A discrete Laplace number is Y or -1 - Y, with the side independent of Y. So the
top digit and the side come from one table and each lower digit from another: one word each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.core.arrays import Integers
from discreet.errors import InternalError
from discreet.noise.exact.alias_tables import AliasTable, build_table
from discreet.noise.exact.weights import GeometricDigits, GeometricSides
from discreet.noise.rng import Rng, Words

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
