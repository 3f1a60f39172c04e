"""PostgreSQL types on the wire: object ids, text and binary forms of values; numeric as groups of four decimal digits."""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from discreet.errors import InvalidInput

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


_WRITTEN = re.compile(
    r"(?P<year>\d{4,5})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[T\s]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<part>\d{1,9}))?)?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?)?",
    re.IGNORECASE,
)


def read_date(written: str) -> dt.date:
    """Return the day of a date or a timestamp; the time of day and the zone are left out."""
    return _fields(written)[0].date()


def read_timestamp(written: str) -> dt.datetime:
    """Return a timestamp without a zone; one that is written is left out, as PostgreSQL does."""
    return _fields(written)[0]


def read_timestamptz(written: str) -> dt.datetime:
    """Return a timestamp in UTC, the zone of every session here, without saying so."""
    moment, offset = _fields(written)
    return moment - offset


def _fields(written: str) -> tuple[dt.datetime, dt.timedelta]:
    found = _WRITTEN.fullmatch(written.strip())
    if found is None:
        raise ValueError
    day = dt.date(int(found["year"]), int(found["month"]), int(found["day"]))
    part = int((found["part"] or "0").ljust(6, "0")[:6])
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    return dt.datetime.combine(day, dt.time(hour, minute, second, part)), _offset(
        found["zone"] or "Z"
    )


def _offset(zone: str) -> dt.timedelta:
    if zone[0] not in "+-":
        return dt.timedelta()
    digits = zone[1:].replace(":", "").ljust(6, "0")
    hours, minutes, seconds = (int(digits[at : at + 2]) for at in (0, 2, 4))
    size = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -size if zone[0] == "-" else size


EPOCH = dt.date(2000, 1, 1)
MOMENT = dt.datetime(2000, 1, 1)  # noqa: DTZ001  # the protocol's timestamps have no zone


@dataclass(frozen=True, slots=True)
class PgType:
    """A type: its number, its SQL name, its size in bytes (-1: varies), and its elements' type."""

    oid: int
    name: str
    size: int
    element: int = 0


@dataclass(frozen=True, slots=True)
class WireColumn:
    """One column of a result."""

    name: str
    type: PgType


BOOL = PgType(16, "bool", 1)
INT8 = PgType(20, "int8", 8)
INT2 = PgType(21, "int2", 2)
INT4 = PgType(23, "int4", 4)
TEXT = PgType(25, "text", -1)
OID = PgType(26, "oid", 4)
FLOAT4 = PgType(700, "float4", 4)
FLOAT8 = PgType(701, "float8", 8)
UNKNOWN = PgType(705, "unknown", -2)
VARCHAR = PgType(1043, "varchar", -1)
DATE = PgType(1082, "date", 4)
TIMESTAMP = PgType(1114, "timestamp", 8)
TIMESTAMPTZ = PgType(1184, "timestamptz", 8)
NUMERIC = PgType(1700, "numeric", -1)

ALL = {
    kind.oid: kind
    for kind in (
        BOOL,
        PgType(18, "char", 1),
        PgType(19, "name", 64),
        INT8,
        INT2,
        INT4,
        TEXT,
        OID,
        FLOAT4,
        FLOAT8,
        UNKNOWN,
        PgType(1042, "bpchar", -1),
        VARCHAR,
        DATE,
        TIMESTAMP,
        TIMESTAMPTZ,
        NUMERIC,
        PgType(1000, "_bool", -1, 16),
        PgType(1005, "_int2", -1, 21),
        PgType(1007, "_int4", -1, 23),
        PgType(1009, "_text", -1, 25),
        PgType(1015, "_varchar", -1, 1043),
        PgType(1016, "_int8", -1, 20),
        PgType(1022, "_float8", -1, 701),
        PgType(1028, "_oid", -1, 26),
        PgType(1115, "_timestamp", -1, 1114),
        PgType(1182, "_date", -1, 1082),
        PgType(1231, "_numeric", -1, 1700),
    )
}
ARRAYS = {kind.element: kind for kind in ALL.values() if kind.element}

MAX_ELEMENTS = 10_000
"""Elements of one array parameter."""

_WHOLE = {20: "!q", 21: "!h", 23: "!i", 26: "!I"}
_REAL = {700: "!f", 701: "!d"}


def sized(cell: bytes | None) -> bytes:
    """Return a cell as rows and arrays hold it: its length before it, -1 where it is NULL."""
    return b"\xff\xff\xff\xff" if cell is None else struct.pack("!i", len(cell)) + cell


def write(value: Any, kind: PgType, form: int) -> bytes | None:
    """Return a value as the client wants it: `form` 0 is text, 1 is binary."""
    if value is None:
        return None
    if form == 0:
        return _text(value, kind).encode("utf-8", "replace")
    return _binary(value, kind)


def _text(value: Any, kind: PgType) -> str:
    if kind.element:
        return _array_text(value, ALL[kind.element])
    if kind is BOOL:
        return "t" if value else "f"
    if kind.oid in _REAL:
        return _real_text(float(value))
    if kind.oid in _WHOLE and isinstance(value, float):
        return str(round(value))  # implied by several paid answers, a count may have decimals
    if isinstance(value, Decimal):
        return format(value, "f")
    return str(value)


def _real_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    written = repr(value)
    return written.removesuffix(".0")


def _array_text(values: list[Any], element: PgType) -> str:
    parts = []
    for value in values:
        if value is None:
            parts.append("NULL")
            continue
        if isinstance(value, list):
            parts.append(_array_text(value, element))
            continue
        written = _text(value, element)
        odd = not written or written.upper() == "NULL" or any(c in '{}",\\ \t\n' for c in written)
        escaped = written.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f'"{escaped}"' if odd else written)
    return "{" + ",".join(parts) + "}"


def _binary(value: Any, kind: PgType) -> bytes:
    if kind.element:
        return _array_binary(value, ALL[kind.element])
    if kind.oid in _WHOLE:
        return struct.pack(_WHOLE[kind.oid], round(value))
    if kind.oid in _REAL:
        return struct.pack(_REAL[kind.oid], float(value))
    if kind is BOOL:
        return b"\1" if value else b"\0"
    if kind is DATE:
        day = value if isinstance(value, dt.date) else dt.date.fromisoformat(str(value))
        return struct.pack("!i", (day - EPOCH).days)
    if kind is TIMESTAMP:
        value = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
        return struct.pack("!q", (value - MOMENT) // dt.timedelta(microseconds=1))
    if kind is NUMERIC:
        return write_numeric(Decimal(str(value)))
    return str(value).encode("utf-8", "replace")


def _array_binary(values: list[Any], element: PgType) -> bytes:
    missing = any(value is None for value in values)
    head = struct.pack("!iiI", 1 if values else 0, missing, element.oid)
    if values:
        head += struct.pack("!ii", len(values), 1)
    return head + b"".join(sized(write(value, element, 1)) for value in values)


def read(data: bytes | None, kind: PgType, form: int) -> Any:
    """Return a parameter's value: None, bool, int, Decimal, float, date, datetime or text."""
    if data is None:
        return None
    try:
        return _read_text(data, kind) if form == 0 else _read_binary(data, kind)
    except (ValueError, struct.error, OverflowError, InvalidOperation):
        raise InvalidInput(f"A parameter is not a valid {kind.name}.") from None


def _read_text(data: bytes, kind: PgType) -> Any:
    written = data.decode("utf-8")
    if "\0" in written:
        raise ValueError
    if kind.element:
        return _array_of_text(written.strip(), ALL[kind.element])
    reader = _FROM_TEXT.get(kind.oid)
    return written if reader is None else reader(written.strip())


_TRUTHS = {
    **dict.fromkeys(("t", "true", "y", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "off", "0"), False),
}


def _truth(written: str) -> bool:
    if written.lower() not in _TRUTHS:
        raise ValueError
    return _TRUTHS[written.lower()]


def _decimal(written: str) -> Decimal:
    found = Decimal(written)
    if not found.is_finite() or abs(found.adjusted()) > 100:
        raise ValueError
    return found


_FROM_TEXT: dict[int, Callable[[str], Any]] = {
    16: _truth,
    20: int,
    21: int,
    23: int,
    26: int,
    700: _decimal,
    701: _decimal,
    1082: read_date,
    1114: read_timestamp,
    1184: read_timestamptz,
    1700: _decimal,
}


def _read_binary(data: bytes, kind: PgType) -> Any:
    if kind.oid in _WHOLE:
        return struct.unpack(_WHOLE[kind.oid], data)[0]
    if kind.oid in _REAL:
        return _decimal(repr(struct.unpack(_REAL[kind.oid], data)[0]))
    if kind is BOOL:
        if data not in (b"\0", b"\1"):
            raise ValueError
        return data == b"\1"
    if kind is DATE:
        return EPOCH + dt.timedelta(days=struct.unpack("!i", data)[0])
    if kind.oid in (1114, 1184):
        return MOMENT + dt.timedelta(microseconds=struct.unpack("!q", data)[0])
    if kind is NUMERIC:
        return _decimal(str(read_numeric(data)))
    if kind.element:
        return _read_array(data, ALL[kind.element])
    return _read_text(data, TEXT)


def _read_array(data: bytes, element: PgType) -> list[Any]:
    dimensions, _missing, _oid = struct.unpack("!iiI", data[:12])
    if dimensions not in (0, 1):
        raise ValueError
    count = struct.unpack("!i", data[12:16])[0] if dimensions else 0
    if not 0 <= count <= MAX_ELEMENTS:
        raise ValueError
    found: list[Any] = []
    at = 20
    for _ in range(count):
        size: int = struct.unpack("!i", data[at : at + 4])[0]
        at += 4
        if size < -1 or at + size > len(data):
            raise ValueError
        found.append(None if size == -1 else _read_binary(data[at : at + size], element))
        at += max(size, 0)
    return found


_ELEMENT = re.compile(r'\s*+(?:"((?:[^"\\]|\\.)*+)"|([^",{}]*+))\s*+(?:,|$)')
"""Possessive, as every pattern of this endpoint is: nothing is tried twice (tests/security/test_regexes)."""


def _array_of_text(written: str, element: PgType) -> list[Any]:
    if not (written.startswith("{") and written.endswith("}")):
        raise ValueError
    inner, at = written[1:-1], 0
    found: list[Any] = []
    while at < len(inner):
        part = _ELEMENT.match(inner, at)
        if part is None or len(found) >= MAX_ELEMENTS:
            raise ValueError
        at = part.end()
        quoted, bare = part.groups()
        if quoted is None and bare.strip().upper() == "NULL":
            found.append(None)
            continue
        text = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else bare.strip()
        found.append(_read_text(text.encode(), element))
    return found
