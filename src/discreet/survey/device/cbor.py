"""The little of CBOR (RFC 8949) that donations need, in its one deterministic form.

Unsigned integers, byte strings, arrays and null, each with the shortest length. Whatever is anything
else, or longer than it says, is refused without being read further.
"""

from __future__ import annotations

from typing import TypeAlias

from discreet.errors import InvalidInput

Item: TypeAlias = "int | bytes | list[Item] | None"

_UNSIGNED, _BYTES, _ARRAY = 0, 2, 4
_NULL = 0xF6
DEEPEST = 3


def encoded(item: Item) -> bytes:
    """Return an item in deterministic CBOR.

    >>> encoded([1, None, b"a", 500]).hex()
    '8401f641611901f4'
    """
    if item is None:
        return bytes([_NULL])
    if isinstance(item, bytes):
        return _head(_BYTES, len(item)) + item
    if isinstance(item, list):
        return _head(_ARRAY, len(item)) + b"".join(encoded(each) for each in item)
    return _head(_UNSIGNED, item)


def decoded(data: bytes, *, most: int | None = None) -> Item:
    """Return the one item that `data` is, or refuse it, also where its arrays have more than `most` members in all."""
    item, end = _read(data, 0, 0, _Members(len(data) if most is None else most))
    if end != len(data):
        raise InvalidInput("There are bytes after the end.")
    return item


class _Members:
    """How many members arrays may still have."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, count: int) -> None:
        """Take so many, or refuse them before any is read."""
        self.left -= count
        if self.left < 0:
            raise InvalidInput("A report has fewer members.")


def _head(kind: int, size: int) -> bytes:
    if size < 24:
        return bytes([kind << 5 | size])
    for code, width in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if size < 1 << (8 * width):
            return bytes([kind << 5 | code]) + size.to_bytes(width, "big")
    raise InvalidInput("A number of a report has at most 64 bits.")


def _read(data: bytes, at: int, depth: int, members: _Members) -> tuple[Item, int]:
    if at >= len(data) or depth > DEEPEST:
        raise InvalidInput("The bytes end too early, or are nested too deeply.")
    first = data[at]
    if first == _NULL:
        return None, at + 1
    kind, size = first >> 5, first & 31
    at += 1
    if size >= 24:
        size, at = _long_size(data, at, size)
    if kind == _UNSIGNED:
        return size, at
    if size > len(data) - at:  # every member has at least one byte
        raise InvalidInput("The bytes end too early.")
    if kind == _BYTES:
        return data[at : at + size], at + size
    if kind != _ARRAY:
        raise InvalidInput("A report holds numbers, bytes and nulls only.")
    members.take(size)
    items: list[Item] = []
    for _ in range(size):
        item, at = _read(data, at, depth + 1, members)
        items.append(item)
    return items, at


def _long_size(data: bytes, at: int, code: int) -> tuple[int, int]:
    width = {24: 1, 25: 2, 26: 4, 27: 8}.get(code, 0)
    if not width or at + width > len(data):
        raise InvalidInput("A length is missing.")
    size = int.from_bytes(data[at : at + width], "big")
    if size < (24 if width == 1 else 1 << (4 * width)):
        raise InvalidInput("A length is not written in its shortest form.")
    return size, at + width
