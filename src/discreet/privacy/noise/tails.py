"""Certified upper tails of integer noise: P(X >= m), between two exact fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from discreet.privacy.noise.certified import exp_bounds

_WIDEST = 1 << 12  # the greatest sigma that is summed term by term
_COARSE = 1 << 10  # terms to a sigma beyond that
_DEEPEST = 2048  # no amount that can be written is below 2^-2048


class Tail(Protocol):
    """The upper tail of a symmetric law on the integers."""

    @property
    def sharp(self) -> bool:
        """Return whether more bits bring the two bounds together."""
        ...

    def bounds(self, m: int, bits: int) -> tuple[Fraction, Fraction]:
        """Return fractions low <= P(X >= m) <= high; about `bits` bits are right where sharp."""
        ...


@dataclass(frozen=True, slots=True)
class LaplaceTail:
    """Discrete Laplace noise: P(X >= m) = t^m / (1 + t) for m >= 1, with t = exp(-1 / scale)."""

    scale: Fraction

    @property
    def sharp(self) -> bool:
        """Return True: the closed form is exact."""
        return True

    def bounds(self, m: int, bits: int) -> tuple[Fraction, Fraction]:
        """Return certified bounds of P(X >= m)."""
        if m <= 0:
            return _mirrored(self, m, bits)
        rate = 1 / self.scale
        # t^m is tiny: its own exponent says how many bits come before the first that matters.
        deep = bits + min(2 * math.ceil(m * rate) + 4, _DEEPEST)
        power_low, power_high = exp_bounds(-m * rate, deep)
        low, high = exp_bounds(-rate, deep)
        one = 1 << deep
        return Fraction(power_low, one + high), Fraction(power_high, one + low)


@dataclass(frozen=True, slots=True)
class GaussianTail:
    """Discrete Gaussian noise: P(X = k) proportional to exp(-k^2 / (2 * sigma_squared)).

    Sums run over the multiples of `block`, one unless sigma is large; each stands for its block of
    integers, at its left end for an upper bound and at its right end for a lower one.
    """

    sigma_squared: Fraction

    @property
    def block(self) -> int:
        """Return how many integers one term stands for."""
        sigma = math.isqrt(math.ceil(self.sigma_squared))
        return 1 if sigma <= _WIDEST else sigma // _COARSE

    @property
    def sharp(self) -> bool:
        """Return whether every integer has its own term."""
        return self.block == 1

    def bounds(self, m: int, bits: int) -> tuple[Fraction, Fraction]:
        """Return certified bounds of P(X >= m)."""
        if m <= 0:
            return _mirrored(self, m, bits)
        block = self.block
        variance = self.sigma_squared * Fraction(1, block * block)
        # Enough depth that the term at m still has `bits` bits.
        deep = _rounded(bits + min(math.ceil(m * m / self.sigma_squared), _DEEPEST))
        sums = _suffix_sums(variance, deep)
        one = 1 << deep
        upper = block * sums.high(m // block)
        lower = block * sums.low(-(-(m - 1) // block) + 1)
        least = one + 2 * block * sums.low(1)
        most = one + 2 * ((block - 1) * one + block * sums.high(1))
        return Fraction(lower, most), min(Fraction(upper, least), Fraction(1))


def _mirrored(tail: Tail, m: int, bits: int) -> tuple[Fraction, Fraction]:
    """Return bounds of P(X >= m) = 1 - P(X >= 1 - m) for m <= 0, by symmetry."""
    low, high = tail.bounds(1 - m, bits)
    return 1 - high, 1 - low


def _rounded(bits: int) -> int:
    """Return a depth from a short list, so that one table serves a whole search."""
    return -(-bits // 256) * 256


@dataclass(frozen=True, slots=True)
class _Sums:
    """Certified sums of exp(-j^2 / (2 * variance)) over j >= start, in units of 2^-bits."""

    lows: list[int]
    highs: list[int]

    def low(self, start: int) -> int:
        return self.lows[start] if start < len(self.lows) else 0

    def high(self, start: int) -> int:
        return self.highs[min(start, len(self.highs) - 1)]


@lru_cache(maxsize=8)
def _suffix_sums(variance: Fraction, bits: int) -> _Sums:
    """Return the sums for every start, by a recurrence of ratios that rounds outwards."""
    inverse = 1 / variance
    work = bits + 64
    ratio_low, ratio_high = exp_bounds(-inverse * Fraction(1, 2), work)
    step_low, step_high = exp_bounds(-inverse, work)
    low = high = 1 << work
    lows, highs = [low], [high]
    while high > 1 << 32:
        low, high = low * ratio_low >> work, -(-high * ratio_high >> work)
        ratio_low, ratio_high = ratio_low * step_low >> work, -(-ratio_high * step_high >> work)
        lows.append(low)
        highs.append(high)
    # The terms left out shrink at least as fast as a geometric series with this last ratio.
    highs.append(-(-high * ratio_high // ((1 << work) - ratio_high)))
    lows.append(0)
    for start in range(len(lows) - 2, -1, -1):
        lows[start] += lows[start + 1]
        highs[start] += highs[start + 1]
    return _Sums([value >> 64 for value in lows], [-(-value >> 64) for value in highs])
