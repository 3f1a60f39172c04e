"""Numbers of things in plain words: 1 charge, 2 charges."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "charge"), counted(1200, "charge"), counted(2, "copy", "copies")
    ('1 charge', '1,200 charges', '2 copies')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
