"""Repeatable noise, for a class that shall see the same numbers; only over rows that were declared public.

Nothing above the kernel holds a seeded generator: it is handed a `SeedRequest`, two plain values, and
`words_for` alone turns one into words, after it has looked at what the sealed reads are about.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.kernel.seal import Read
from discreet.privacy.noise.rng import Rng, Words


@dataclass(frozen=True, slots=True)
class SeedRequest:
    """Noise that can be drawn again, asked for: a seed, and the question that it is for.

    Different questions of one seed get independent noise.
    """

    seed: int
    question: str


def words_for(request: SeedRequest, reads: Sequence[Read]) -> Rng:
    """Return the words of a seed for these reads, or refuse.

    Guarantee: the noise of a read is repeatable only if the owner declared all rows of its dataset
        public. Which dataset that is was derived from the final SQL and the catalog by `sealed`, the
        same way as the price: no word of a page, a request or a planner is believed. (note 0068)
    """
    if not reads or not all(read.public_rows for read in reads):
        raise Unfit("repeatable noise for rows that nobody declared public")
    return _SeededWords(request)


class _SeededWords:
    """Words that a seed determines: blocks of SHAKE-256 over seed, question and place."""

    private = False

    def __init__(self, request: SeedRequest) -> None:
        text = f"discreet rehearsal\n{request.seed}\n{request.question}"
        self._start = hashlib.sha256(text.encode()).digest()
        self._calls = 0

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        self._calls += 1
        block = hashlib.shake_256(self._start + self._calls.to_bytes(8, "little"))
        return np.frombuffer(block.digest(8 * count), dtype="<u8").astype(np.uint64)
