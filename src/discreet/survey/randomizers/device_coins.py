"""Random bytes as a device draws them: 32-bit words, exact uniform integers and dyadic coins."""

from __future__ import annotations

from typing import Protocol

WORD = 1 << 32
"""How many values a word has; a coin's probability is a whole number of these parts."""
HALF = WORD // 2


class ByteSource(Protocol):
    """Whatever yields uniform random bytes, in order."""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        ...


class Draws:
    """Words, uniform integers and coins read off a source of bytes.

    Guarantee: exact. A coin compares one word with a whole number of 2^32 parts; a uniform integer
        rejects the words beyond the last full multiple, so that every value is equally likely.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def word(self) -> int:
        """Return 4 bytes as one number, the most significant byte first."""
        return int.from_bytes(self._source.take(4), "big")

    def coin(self, parts: int) -> bool:
        """Return True with probability parts / 2^32."""
        return self.word() < parts

    def below(self, count: int) -> int:
        """Return a uniform integer of 0 .. count - 1; nothing is drawn where there is no choice."""
        if count == 1:
            return 0
        limit = WORD - WORD % count
        while True:
            word = self.word()
            if word < limit:
                return word % count
