"""Where chance comes from: words of the operating system, never kept for later."""

from __future__ import annotations

import os
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
