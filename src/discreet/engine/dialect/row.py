"""One engine's SQL: how it is spelled and how it behaves, as far as engines differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One engine's SQL, as far as it is spelled or behaves differently from the others'.

    In a template $0, $1 ... stand for its arguments.
    """

    name: str
    grammar: str
    """What sqlglot calls the grammar that reads it."""
    functions: Mapping[str, str]
    """Templates of the functions that it spells by itself, and of common ones that it spells differently.

    By itself each engine spells `hash60` (the first 60 bits of MD5 as a BIGINT from 0 on: it sorts), `sha256` (64
    hexadecimal digits, where people choose the text), `whole_of_bytes` ($2 bytes of $0 from place $1, counted from
    1, at most 8, as a number, the foremost first; 8 of them as a signed one; NULL or 0 where there are none),
    `bit_xor`, `sum_small` (of integers up to 2^21) and `day_number` (days since 1970-01-01).
    """
    forbidden: str
    """Functions through which a SELECT reaches files, settings, other queries or the network: a pattern."""

    # -- words
    mark: str = '"'
    """What stands around names."""
    backslashes: bool = False
    """Whether a backslash escapes the sign behind it in a text."""
    double: str = "DOUBLE"
    """Type of numbers with 53 bits."""
    text: str = "VARCHAR"
    small: str = "SMALLINT"
    """Type of integers with 16 bits."""
    byte: str | None = None
    """The type of 8 bits without a sign, where grouping by it is faster."""
    try_cast: str = "CAST"
    """The cast that gives NULL where CAST fails, where there is one."""
    quotient: str = "/"
    """Between two integers: their quotient, cut to an integer."""
    trim: str = "btrim"
    as_text: str = "CAST($0 AS VARCHAR)"
    """$0 as a text that is compared by its bytes."""
    moment: str = "$0"
    """A moment that may be compared with any other."""
    fits: str
    """Whether the whole of $0 fits a pattern: $1, or $2 with its beginning and end marked."""
    tells_empty: bool = True
    """Whether `fits` tells an empty text that fits from one that does not."""
    group: str = "regexp_extract($0, $1, $2)"
    """Group number $2 of a text that fits the pattern $1."""
    truth: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What MIN and MAX of truth values are called, where they have names of their own."""
    distinct: str | None = None
    """How many whole numbers there are between $1 and $2 in $0, where bits are faster than COUNT."""

    # -- behaviour
    enums: bool = False
    """Whether categories are stored as ENUM, which is looked up by hash."""
    collates: bool = False
    """Whether texts are compared by the database's order, unless told otherwise."""
    nan_passes: bool = False
    """Whether a comparison may let a NaN pass."""
    raises_on_tiny: bool = False
    """Whether it raises where a double is too small or too large, and its decimals are of any size."""
    long_texts_fail: bool = False
    """Whether a pattern fails on a text of hundreds of millions of letters."""
    wide_integers: frozenset[str] = frozenset()
    """Types of integers that 64 bits may not hold."""
    decimal_texts: bool = False
    """Whether a decimal becomes the nearest double only by way of its text."""
    escapes_in_like: bool = True
    """Whether a backslash in LIKE stands for itself no longer."""
    backtracks: bool = False
    """Whether LIKE tries every way to share a text among its %: (letters)^(number of %) steps."""
    narrow_sums: bool = False
    """Whether SUM of 64-bit integers stays in 64 bits."""
    types_follow_rows: bool = False
    """Whether the type of a column may be what a writer of files made of its rows, so that it tells of them."""
