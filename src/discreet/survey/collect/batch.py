"""A batch of donations: split into its members without reading them, so that a bad one spoils no other."""

from __future__ import annotations

from typing import Any

from discreet.errors import InvalidInput

MOST = 65_535
"""Donations in a batch."""
_BYTES, _ARRAY = 2, 4
_WIDTHS = {24: 1, 25: 2, 26: 4}


def donations_of(batch: bytes) -> list[bytes]:
    r"""Return the byte strings of a CBOR array, each of which may hold a donation.

    >>> donations_of(bytes.fromhex("82410142aabb"))
    [b'\x01', b'\xaa\xbb']
    """
    count, at = _head(batch, 0, _ARRAY)
    if count > MOST:
        raise InvalidInput(f"A batch holds at most {MOST:,} reports.")
    found = []
    for _ in range(count):
        size, at = _head(batch, at, _BYTES)
        found.append(batch[at : at + size])
        at += size
    if at != len(batch):
        raise InvalidInput("The bytes of a batch end too early or too late.")
    return found


def count_said(batch: bytes) -> int:
    """Return how many byte strings a batch says that it has, without reading them; 0 where it says nothing."""
    try:
        return _head(batch, 0, _ARRAY)[0]
    except InvalidInput:
        return 0


def twins_of(stated: Any) -> list[Any]:
    """Return the members of a JSON list, each of which may be a donation's twin."""
    if not isinstance(stated, list) or len(stated) > MOST:
        raise InvalidInput(f"A batch is a list of at most {MOST:,} reports.")
    return stated


def _head(data: bytes, at: int, kind: int) -> tuple[int, int]:
    """Return the size that stands at a place, and where its content begins."""
    if at >= len(data) or data[at] >> 5 != kind:
        raise InvalidInput("A batch is an array of byte strings.")
    size = data[at] & 31
    at += 1
    if size < 24:
        return size, at
    width = _WIDTHS.get(size, 0)
    if not width:
        raise InvalidInput("A length of a batch is not a plain one.")
    return int.from_bytes(data[at : at + width], "big"), at + width
