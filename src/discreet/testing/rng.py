"""Repeatable sources of words, for tests and examples only: what they touch is not private.

And random words that make an alias table draw a chosen value.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet.errors import InternalError
from discreet.privacy.noise.alias_tables import AliasTable
from discreet.privacy.noise.rng import WORD_BITS, Rng, Words


class SeededRng:
    """Words that a seed determines. Anyone who knows or guesses the seed can subtract the noise.

    >>> SeededRng(1).words(2).tolist() == SeededRng(1).words(2).tolist()
    True
    """

    private = False

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._stream = np.random.PCG64(seed)

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        drawn: Words = self._stream.random_raw(count)
        return drawn

    def __repr__(self) -> str:
        return f"SeededRng({self.seed})"


class FakeBits:
    """Words from a script, and after its end from `then`; without `then` the end is an error.

    For forcing what chance would never show: ties, the far ends of tables, long refinements.

    >>> FakeBits([0, 2**64 - 1]).words(2).tolist()
    [0, 18446744073709551615]
    """

    private = False

    def __init__(self, script: Iterable[int], *, then: Rng | None = None) -> None:
        self._script = list(script)
        self._then = then
        self.used = 0

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        scripted = self._script[self.used : self.used + count]
        self.used += count
        missing = count - len(scripted)
        head = np.array(scripted, dtype=np.uint64)
        if not missing:
            return head
        if self._then is None:
            raise InternalError(f"The script of {len(self._script)} words is used up.")
        return np.concatenate([head, self._then.words(missing)])


def words_for(table: AliasTable, value: int) -> list[int]:
    """Return words that make `table` say `value`: one for the draw, then those that refine it."""
    rest_bits = WORD_BITS - table.index_bits
    slots: list[int] = np.flatnonzero(table.outcomes == value).tolist()
    for slot in slots:
        cell, above = divmod(slot, 2)
        limit = int(table.limits[cell])
        if above and limit < (1 << rest_bits) - 1:
            return [(cell << rest_bits) | (limit + 1)]
        if not above and limit > 0:
            return [(cell << rest_bits) | (limit - 1)]
    if not slots:
        raise InternalError(f"The table has no outcome {value}.")
    # Rarer than a word can say: tie with the table's word, then go on with zeros until below.
    cell = next(slot // 2 for slot in slots if slot % 2 == 0)
    words = [(cell << rest_bits) | int(table.limits[cell])]
    known = rest_bits
    while table.threshold(cell, known)[0] <= 0:
        words.append(0)
        known += WORD_BITS
    return words
