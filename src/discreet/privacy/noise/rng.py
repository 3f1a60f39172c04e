"""Random bits: words of the operating system, never kept for later, and exact uniform numbers made of them.

Uniform integers below a total come from exact 128-bit products of 64-bit words.

A uniform real is compared with a threshold lazily, one word at a time: it is never complete, its first bits are
known and more are drawn only as long as they could still change the answer. So no outcome is ever decided by
rounding.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]


class Rng(Protocol):
    """A source of independent, uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """Return `count` fresh words."""
        ...


class SystemRng:
    """Words straight from the operating system's generator.

    Guarantee: nothing is buffered between calls, so neither a fork nor a snapshot of this process
    can repeat a word; the kernel's generator is reseeded by the kernel itself.
    """

    def words(self, count: int) -> Words:
        """Return `count` fresh words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


SYSTEM = SystemRng()
"""Holds nothing, so one for all."""


_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def wide_product(first: Words, second: Words) -> tuple[Words, Words]:
    """Return the upper and the lower word of each product; at least one argument is an array.

    Schoolbook multiplication in 32-bit halves: no partial sum below can pass 2^64.
    """
    first_low, first_high = first & _LOW, first >> _HALF
    second_low, second_high = second & _LOW, second >> _HALF
    bottom = first_low * second_low
    cross, crossed = first_low * second_high, first_high * second_low
    middle = (bottom >> _HALF) + (cross & _LOW) + (crossed & _LOW)
    high = first_high * second_high + (cross >> _HALF) + (crossed >> _HALF) + (middle >> _HALF)
    return high, (middle << _HALF) | (bottom & _LOW)


def below(totals: Words, rng: Rng) -> Words:
    """Return, for each total T >= 1 of a flat array, an independent uniform integer in [0, T).

    Guarantee: exactly uniform. With X uniform on 128 bits, X*T = q*2^128 + r; among the X with
    r >= 2^128 mod T every q occurs floor(2^128 / T) times, so q is kept on that event and drawn
    again otherwise. The event fails with probability below T/2^128 <= 2^-64, so that in practice
    the work does not depend on T. [docs/notes/0004-exact-selection.md, lemma 1]
    """
    drawn = np.empty(totals.shape, dtype=np.uint64)
    pending = np.arange(totals.size)
    while pending.size:
        words = rng.words(2 * pending.size)
        limit = totals[pending]
        high, low = wide_product(words[: pending.size], limit)
        carried, last = wide_product(words[pending.size :], limit)
        middle = low + carried
        drawn[pending] = high + (middle < low)
        # r = middle*2^64 + last can be below 2^128 mod T < 2^64 only where middle is 0.
        suspects = np.flatnonzero(middle == 0)
        rejected = [lane for lane in suspects if int(last[lane]) < pow(2, 128, int(limit[lane]))]
        pending = pending[np.array(rejected, dtype=np.intp)]
    return drawn


def below_small(total: int, size: int, rng: Rng) -> Words:
    """Return independent uniform integers in [0, total) for one total of at most 2^32.

    Guarantee: exactly uniform, as `below` with one word instead of two.
    """
    words = rng.words(size).copy()
    limit, rest = np.uint64(total), pow(2, 64, total)
    while True:
        # For a word w: w*T >> 64 without a 128-bit product, since T has at most 33 bits.
        drawn: Words = ((words >> _HALF) * limit + (((words & _LOW) * limit) >> _HALF)) >> _HALF
        rejected = np.flatnonzero(words * limit < np.uint64(rest))
        if not rejected.size:
            return drawn
        words[rejected] = rng.words(rejected.size)


WORD_BITS = 64
Bounds: TypeAlias = Callable[[int], tuple[int, int]]
"""bits -> integers low <= 2^bits * threshold <= high; more bits must narrow (high - low) / 2^bits."""


def is_below(prefix: int, known: int, threshold: Bounds, rng: Rng) -> bool:
    """Return whether a uniform number in [0, 1) that starts with `prefix` is below `threshold`.

    `known` is how many bits `prefix` has. The further bits are drawn from `rng`.

    Guarantee: given the prefix, the answer is True with exactly the conditional probability
        of {U < threshold}, for any real threshold strictly between 0 and 1; no depth limit.
    """
    while True:
        low, high = threshold(known)
        if prefix < low:  # then the whole of [prefix, prefix + 1) lies at or below low
            return True
        if prefix >= high:
            return False
        prefix = prefix << WORD_BITS | int(rng.words(1)[0])
        known += WORD_BITS
