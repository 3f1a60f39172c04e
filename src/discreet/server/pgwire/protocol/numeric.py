"""The binary spelling of PostgreSQL's numeric: groups of four decimal digits."""

from __future__ import annotations

import struct
from decimal import Decimal

_NEGATIVE = 0x4000
_NOT_A_NUMBER = 0xC000
MAX_GROUPS = 1000
"""A longer number than 4,000 digits is a mistake or an attack."""


def write_numeric(value: Decimal) -> bytes:
    """Return `value` in the protocol's spelling."""
    if not value.is_finite():
        return struct.pack("!hhHh", 0, 0, _NOT_A_NUMBER, 0)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int), "finite numbers have one"
    scale = max(0, -exponent)
    written = "".join(map(str, digits)) + "0" * max(0, exponent)
    written = written.rjust(scale + 1, "0")
    whole, part = written[: len(written) - scale], written[len(written) - scale :]
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    part = part.ljust(-(-len(part) // 4) * 4, "0")
    groups = [int((whole + part)[i : i + 4]) for i in range(0, len(whole + part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups.pop(0)
        weight -= 1
    while groups and groups[-1] == 0:
        groups.pop()
    if not groups:
        weight = 0
    head = struct.pack("!hhHh", len(groups), weight, _NEGATIVE if sign and groups else 0, scale)
    return head + b"".join(struct.pack("!h", group) for group in groups)


def read_numeric(data: bytes) -> Decimal:
    """Return the number that the protocol's spelling says; ValueError where it says none."""
    count, weight, sign, _scale = struct.unpack("!hhHh", data[:8])
    if sign not in (0, _NEGATIVE) or not 0 <= count <= MAX_GROUPS or abs(weight) > MAX_GROUPS:
        raise ValueError
    groups = struct.unpack(f"!{count}h", data[8:])
    if any(not 0 <= group < 10_000 for group in groups):
        raise ValueError
    digits = "".join(f"{group:04d}" for group in groups).lstrip("0")
    if not digits:
        return Decimal(0)
    # From its parts: arithmetic would round to the context's precision.
    return Decimal((int(sign != 0), tuple(map(int, digits)), 4 * (weight - count + 1)))
