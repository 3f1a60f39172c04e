"""Progress callback: steps are public numbers, never what was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int, int, str], None]
"""Told (done, of, what)."""


def silent(_done: int, _of: int, _what: str) -> None:
    """Tell nobody."""
