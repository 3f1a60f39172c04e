"""Dialects of SQL: one `Dialect` for each engine, and names of tables and columns and constants of text as it writes them.

The one place that puts marks around a name or a text, and that replaces names of tables in generated SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
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


DUCKDB = Dialect(
    name="duckdb",
    grammar="duckdb",
    # It compares moments in the finer of two units, where the bounds themselves overflow.
    moment="TRY_CAST($0 AS TIMESTAMP)",
    byte="UTINYINT",
    # It decides comparisons from a Parquet file's least and greatest value, which leave NaN out: a
    # NaN may pass any of them there. So a cast gives NULL where it would fail, and NaN is asked for by
    # name.
    try_cast="TRY_CAST",
    nan_passes=True,
    quotient="//",
    trim="trim",
    fits="regexp_full_match($0, $1)",
    # Setting bits takes a sixth of the time of a hash table.
    distinct="BIT_COUNT(BITSTRING_AGG(CAST($0 AS BIGINT), $1, $2))",
    enums=True,
    wide_integers=frozenset({"hugeint", "uhugeint", "ubigint"}),
    decimal_texts=True,
    escapes_in_like=False,
    functions={
        # In the order and by the equality of its bytes, whatever the source's collation calls equal.
        "text_of_any": '(CAST($0 AS VARCHAR) COLLATE "C")',
        # Compared with 10^18, a decimal that leaves fewer digits before its point fails where there is a row.
        "integer_of_decimal": (
            "CASE WHEN regexp_full_match(CAST($0 AS VARCHAR), '-?[0-9]{0,18}([.]0*)?') "
            "THEN COALESCE(TRY_CAST(split_part(CAST($0 AS VARCHAR), '.', 1) AS BIGINT), 0) END"
        ),
        "hash60": "CAST('0x' || substr(md5($0), 1, 15) AS BIGINT)",
        "sha256": "sha256($0)",
        "whole_of_bytes": "CAST(TRY_CAST($0[$1:$1 + $2 - 1] AS BIT) AS BIGINT)",
        "bit_xor": "xor(CAST($0 AS BIGINT), CAST($1 AS BIGINT))",
        # Of numbers up to 2^21: in 64 bits, for 2^42 rows, in two thirds of the time.
        "sum_small": "CAST(sum_no_overflow(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
        "day_number": "date_diff('day', DATE '1970-01-01', $0)",
    },
    forbidden=(
        r"read_\w+|parquet_\w+|sniff_csv|glob|query|query_table|getvariable|current_setting|getenv"
        r"|random|setseed|uuid\w*|gen_random_uuid|nextval|currval|error|write_log|sql_auto_complete"
        r"|checkpoint|force_checkpoint|arrow_scan\w*|pandas_scan|python_map_function|which_secret"
    ),
)


POSTGRES = Dialect(
    name="postgres",
    grammar="postgres",
    double="DOUBLE PRECISION",
    text="TEXT",
    as_text='(CAST($0 AS TEXT) COLLATE "C")',
    fits="$0 ~ $2",
    group="regexp_replace($0, $1, '\\$2')",
    truth={"MIN": "BOOL_AND", "MAX": "BOOL_OR"},
    collates=True,
    raises_on_tiny=True,
    long_texts_fail=True,
    functions={
        "hash60": "CAST(CAST('x' || substr(md5($0), 1, 15) AS BIT(60)) AS BIGINT)",
        "sha256": "encode(sha256(convert_to($0, 'UTF8')), 'hex')",
        "whole_of_bytes": (
            "CAST(CAST('x' || lpad(encode(substring($0 FROM $1 FOR $2), 'hex'), 16, '0') "
            "AS BIT(64)) AS BIGINT)"
        ),
        "bit_xor": "(CAST($0 AS BIGINT) # CAST($1 AS BIGINT))",
        "sum_small": "CAST(SUM(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
        "day_number": "CAST($0 - DATE '1970-01-01' AS BIGINT)",
    },
    forbidden=(
        r"lo_\w+|dblink\w*|query_to_\w+|table_to_\w+|schema_to_\w+|database_to_\w+|cursor_to_\w+"
        r"|xml\w*|set_config|current_setting|nextval|setval|currval|random\w*|gen_random_uuid"
        r"|has_\w+_privilege|inet_\w+|version|ts_stat|txid_\w+|setseed"
    ),
)


# A sum where SUM leaves 64 bits: 21 bits at a time. Decimals of 19 digits take three times as long.
_SUM_IN_PARTS = (
    "(CAST(SUM(shiftright(CAST($0 AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104"
    " + CAST(SUM(shiftright(CAST($0 AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152"
    " + CAST(SUM(CAST($0 AS BIGINT) & 2097151) AS DECIMAL(38, 0)))"
)

SPARK = Dialect(
    name="spark",
    grammar="spark",
    mark="`",
    backslashes=True,
    text="STRING",
    small="SHORT",
    as_text="CAST($0 AS STRING)",
    quotient="div",
    # Java's $ also matches before a last line break, so the match is compared with the whole.
    fits="regexp_extract($0, $2, 0) = $0",
    tells_empty=False,
    types_follow_rows=True,
    backtracks=True,
    narrow_sums=True,
    functions={
        "hash60": "CAST(conv(substr(md5($0), 1, 15), 16, 10) AS BIGINT)",
        "sha256": "sha2($0, 256)",
        "whole_of_bytes": "CAST(conv(hex(substring($0, $1, $2)), 16, -10) AS BIGINT)",
        "shift_right": "shiftright($0, $1)",
        "bit_xor": "(CAST($0 AS BIGINT) ^ CAST($1 AS BIGINT))",
        "sum_integer": _SUM_IN_PARTS,
        "sum_small": _SUM_IN_PARTS,
        "sum_distinct": ("CAST(SUM(DISTINCT CAST($0 AS DECIMAL(19, 0))) AS DECIMAL(38, 0))"),
        "day_number": "CAST(unix_date($0) AS BIGINT)",
        "day_of_number": "date_from_unix_date(CAST($0 AS INTEGER))",
        "weekday": "CAST(EXTRACT(DAYOFWEEK_ISO FROM $0) AS BIGINT)",
    },
    forbidden=(
        r"reflect|java_method|try_reflect|input_file_\w+|rand|randn|random|uuid|raise_error"
        r"|assert_true|transform|read_files|version|shuffle|monotonically_increasing_id|csv|json|text"
    ),
)


DIALECTS: dict[str, Dialect] = {
    row.name: row
    for row in (
        DUCKDB,
        POSTGRES,
        SPARK,
    )
}
"""By their names, which engines say in their capabilities."""


def quoted(name: str, dialect: str = "duckdb") -> str:
    """Return `name` as an identifier; for Spark a word in double quotes would be a text."""
    mark = DIALECTS[dialect].mark
    return mark + name.replace(mark, mark * 2) + mark


def text_constant(value: str, dialect: str = "duckdb") -> str:
    """Return `value` as a constant of text.

    >>> text_constant("it's")
    "'it''s'"
    """
    if DIALECTS[dialect].backslashes:
        # Spark reads '' as two joined literals, and \\ as an escape.
        escaped = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return "'" + value.replace("'", "''") + "'"


@lru_cache
def _tokens(dialect: str) -> re.Pattern[str]:
    row = DIALECTS[dialect]
    # Literals first: a text that looks like a name stays the text that it is.
    text = _ESCAPED if row.backslashes else _PLAIN
    name = f"{row.mark}((?:[^{row.mark}]|{row.mark * 2})*){row.mark}"
    return re.compile(rf"{text}|(?<![\w.])canon\.{name}|{name}", re.DOTALL)


_PLAIN = "'(?:[^']|'')*'"
_ESCAPED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""


def canon(name: str, dialect: str) -> str:
    """Return the name under which generated SQL reads the canonical rows of a table.

    >>> canon("census.people", "postgres")
    'canon."census.people"'
    """
    return f"canon.{quoted(name, dialect)}"


def placed(sql: str, dialect: str, places: Mapping[str, str]) -> str:
    """Return `sql` with each `canon` name replaced by the relation in `places`.

    Guarantee: only whole tokens are replaced, never a part of a literal or of another name, so
        nothing that a user may write (a value, an alias) is ever taken for a table of ours.

    >>> placed('SELECT 1 FROM canon."t" AS a', "postgres", {"t": "public.t"})
    'SELECT 1 FROM public.t AS a'
    """
    mark = DIALECTS[dialect].mark

    def put(token: re.Match[str]) -> str:
        if token[1] is None:
            return token[0]
        name = token[1].replace(mark * 2, mark)
        return places.get(name, token[0])

    return _tokens(dialect).sub(put, sql)
