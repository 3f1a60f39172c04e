"""Lazy exact comparison of a uniform real with a threshold, one word at a time.

The uniform number is never complete: its first bits are known and more are drawn only as long as
they could still change the answer. So no outcome is ever decided by rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from discreet.noise.rng import Rng

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
