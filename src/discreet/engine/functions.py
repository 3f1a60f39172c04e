"""SQL that means the same on every engine: a table from dialect to template.

Every expression here is total: whatever a cell holds, it gives a value or NULL and never raises.
In a template, $0, $1 ... stand for the arguments, which must be complete SQL expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

_Templates = Mapping[str, str]

# 18 digits fit into 64 bits whatever they are; that is also the reach of `integer_of_*`.
_REACH = 10**18 - 1
_EXACT = 2**53 - 1

_WHOLE = "[+-]?[0-9]{1,18}"
_REAL = "[+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?"
# A time may follow, a line break not: engines disagree on what a dot matches.
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][ -~]*)?"


def _matches(dialect: str, pattern: str) -> str:
    """Return the test that the whole of $0 fits `pattern`."""
    if dialect == "duckdb":
        return f"regexp_full_match($0, '{pattern}')"
    if dialect == "postgres":
        return f"$0 ~ '^({pattern})$'"
    # Java's $ also matches before a last line break, so the match is compared with the whole.
    return f"regexp_extract($0, '^({pattern})$', 0) = $0"


def _same(template: str, **others: str) -> _Templates:
    """Return one template for all engines but those that are named."""
    return dict.fromkeys(("duckdb", "postgres", "spark"), template) | others


_SUM_IN_PARTS = (
    "(CAST(SUM(shiftright(CAST($0 AS BIGINT), 42)) AS DECIMAL(38, 0)) * 4398046511104"
    " + CAST(SUM(shiftright(CAST($0 AS BIGINT), 21) & 2097151) AS DECIMAL(38, 0)) * 2097152"
    " + CAST(SUM(CAST($0 AS BIGINT) & 2097151) AS DECIMAL(38, 0)))"
)
"""A sum where SUM leaves 64 bits: 21 bits at a time. Decimals of 19 digits take three times as long there."""


def _each(**templates: str) -> _Templates:
    return templates


DOUBLE = {"duckdb": "DOUBLE", "postgres": "DOUBLE PRECISION", "spark": "DOUBLE"}
TEXT = {"duckdb": "VARCHAR", "postgres": "TEXT", "spark": "STRING"}


# DuckDB decides comparisons from a Parquet file's least and greatest value, which leave NaN out: a
# NaN may pass any of them there. So on DuckDB a cast gives NULL where it would fail, and NaN is
# asked for by name.
TRY_CAST = {"duckdb": "TRY_CAST", "postgres": "CAST", "spark": "CAST"}


def _finite(dialect: str, value: str) -> str:
    # NaN sorts above every number on all three, so one comparison removes it; 0 swallows -0.
    kind = DOUBLE[dialect]
    known = f" AND NOT isnan(CAST({value} AS DOUBLE))" if dialect == "duckdb" else ""
    # PostgreSQL raises where a decimal is too small for a double.
    tiny = f"{value} > -1e-300 AND {value} < 1e-300"
    return (
        f"CASE WHEN {tiny if dialect == 'postgres' else f'{value} = 0'} THEN CAST(0 AS {kind}) "
        f"WHEN {value} >= -1e300 AND {value} <= 1e300{known} THEN CAST({value} AS {kind}) END"
    )


def _whole_double(dialect: str, value: str) -> str:
    return (
        f"CASE WHEN {value} >= -{_EXACT} AND {value} <= {_EXACT} AND {value} = floor({value}) "
        f"THEN {TRY_CAST[dialect]}({value} AS BIGINT) END"
    )


def _number_of_text(dialect: str) -> str:
    kind = DOUBLE[dialect]
    cast = f"CAST($0 AS {kind})"
    zero = f"WHEN {cast} = 0 THEN CAST(0 AS {kind}) ELSE {cast}"
    return f"CASE WHEN {_matches(dialect, _REAL)} THEN CASE {zero} END END"


def _integer_of_text(dialect: str) -> str:
    real = _whole_double(dialect, f"CAST($0 AS {DOUBLE[dialect]})")
    return (
        f"CASE WHEN {_matches(dialect, _WHOLE)} THEN CAST($0 AS BIGINT) "
        f"WHEN {_matches(dialect, _REAL)} THEN {real} END"
    )


def _date_of_text(dialect: str) -> str:
    year, month, day = (f"CAST(substr($0, {a}, {n}) AS INT)" for a, n in ((1, 4), (6, 2), (9, 2)))
    leap = f"{year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0)"
    last = (
        f"CASE WHEN {month} = 2 THEN CASE WHEN {leap} THEN 29 ELSE 28 END "
        f"WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END"
    )
    real = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {last}"
    whole = f"CASE WHEN {real} THEN CAST(substr($0, 1, 10) AS DATE) END"
    return f"CASE WHEN {_matches(dialect, _DAY)} THEN {whole} END"


# As far as a time is written in one way on all engines; a zone is not read, as with the day.
_CLOCK = (
    "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?"
    "( ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?))?"
)


def _second_of_text(dialect: str) -> str:
    """Return the second of the day that a text says behind its day: 0 where it says no time."""
    cast = TRY_CAST[dialect]
    hour, minute = (f"{cast}(substr($0, {a}, 2) AS INT)" for a in (12, 15))
    # Behind HH:MM stands a colon where seconds are written.
    second = f"CASE WHEN substr($0, 17, 1) = ':' THEN {cast}(substr($0, 18, 2) AS INT) ELSE 0 END"
    real = f"{hour} <= 23 AND {minute} <= 59 AND {second} <= 59"
    whole = f"CAST({hour} * 3600 + {minute} * 60 + {second} AS BIGINT)"
    return (
        f"CASE WHEN length($0) = 10 THEN CAST(0 AS BIGINT) WHEN {_matches(dialect, _CLOCK)} "
        f"THEN CASE WHEN {real} THEN {whole} END END"
    )


# DuckDB compares moments in the finer of two units, where the bounds themselves overflow.
_MOMENT = {"duckdb": "TRY_CAST($0 AS TIMESTAMP)", "postgres": "$0", "spark": "$0"}


def _second_of_timestamp(dialect: str) -> str:
    # Nothing else is asked for its parts.
    known = _in_calendar(_MOMENT[dialect], _MOMENT[dialect])
    # Whole parts: PostgreSQL and Spark count parts of seconds in SECOND.
    return (
        f"CAST(EXTRACT(HOUR FROM {known}) * 3600 + EXTRACT(MINUTE FROM {known}) * 60 + "
        f"FLOOR(EXTRACT(SECOND FROM {known})) AS BIGINT)"
    )


def _in_calendar(value: str, found: str) -> str:
    return (
        f"CASE WHEN {value} >= TIMESTAMP '0001-01-01 00:00:00' AND {value} < TIMESTAMP "
        f"'9999-12-31 00:00:00' THEN {found} END"
    )


def _date_of_timestamp(dialect: str) -> str:
    return _in_calendar(_MOMENT[dialect], f"CAST({_MOMENT[dialect]} AS DATE)")


def _boolean_of(value: str) -> str:
    return (
        f"CASE WHEN {value} IN ('true', 't', 'yes', 'y', '1') THEN TRUE "
        f"WHEN {value} IN ('false', 'f', 'no', 'n', '0') THEN FALSE END"
    )


def _by_dialect(build: Callable[[str], str]) -> _Templates:
    return {dialect: build(dialect) for dialect in DOUBLE}


def _text_of_number(dialect: str) -> str:
    """Return a double as text where all engines spell it alike, NULL elsewhere.

    Whole numbers end in .0; fractions are shortest decimals, without an exponent.
    """
    text = (
        '(CAST({} AS TEXT) COLLATE "C")'
        if dialect == "postgres"
        else f"CAST({{}} AS {TEXT[dialect]})"
    )
    whole = text.format(f"{TRY_CAST[dialect]}($0 AS BIGINT)")
    return (
        f"CASE WHEN abs($0) <= {_EXACT} AND $0 = floor($0) THEN {whole} || '.0' "
        f"WHEN abs($0) >= 0.001 AND abs($0) < 10000000 THEN {text.format('$0')} END"
    )


_QUOTIENT = {
    dialect: f"CAST($0 AS BIGINT) {sign} CAST($1 AS BIGINT)"
    for dialect, sign in (("duckdb", "//"), ("postgres", "/"), ("spark", "div"))
}
_ROUND_DAY = "$0 BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"

FUNCTIONS: Mapping[str, _Templates] = MappingProxyType(
    {
        # -- from text: padded, grouped or half-numeric text is NULL, never an error
        "integer_of_text": _by_dialect(_integer_of_text),
        "number_of_text": _by_dialect(_number_of_text),
        "date_of_text": _by_dialect(_date_of_text),
        "boolean_of_text": _same(_boolean_of("lower($0)")),
        # -- from numbers: beyond reach, fractional, NaN or infinite is NULL
        "integer_of_integer": _same(
            f"CASE WHEN $0 BETWEEN -{_REACH} AND {_REACH} THEN CAST($0 AS BIGINT) END"
        ),
        "integer_of_decimal": _same(
            f"CASE WHEN $0 BETWEEN -{_REACH} AND {_REACH} AND $0 = floor($0) "
            "THEN CAST($0 AS BIGINT) END"
        ),
        "integer_of_number": _by_dialect(lambda dialect: _whole_double(dialect, "$0")),
        "number_of_number": _by_dialect(lambda dialect: _finite(dialect, "$0")),
        "boolean_of_integer": _same("CASE WHEN $0 = 1 THEN TRUE WHEN $0 = 0 THEN FALSE END"),
        # -- from dates and times
        "date_of_date": _same(f"CASE WHEN {_ROUND_DAY} THEN $0 END"),
        "date_of_timestamp": _by_dialect(_date_of_timestamp),
        # -- the second of the day
        "second_of_text": _by_dialect(_second_of_text),
        "second_of_timestamp": _by_dialect(_second_of_timestamp),
        "second_of_date": _same("CASE WHEN $0 IS NOT NULL THEN CAST(0 AS BIGINT) END"),
        # -- to text
        # In the order and by the equality of its bytes, whatever the source's collation calls equal.
        "text_of_any": _each(
            duckdb='(CAST($0 AS VARCHAR) COLLATE "C")',
            postgres='(CAST($0 AS TEXT) COLLATE "C")',
            spark="CAST($0 AS STRING)",
        ),
        # DuckDB fails on moments before its calendar begins, also in the branch of a CASE that they
        # do not take: a file's whole dictionary is cast at once. So only the others are cast.
        "text_of_timestamp": _each(
            duckdb=f"CAST({_in_calendar('TRY_CAST($0 AS TIMESTAMP)', '$0')} AS VARCHAR)",
            postgres=f'(CAST({_in_calendar("$0", "$0")} AS TEXT) COLLATE "C")',
            spark=f"CAST({_in_calendar('$0', '$0')} AS STRING)",
        ),
        "text_of_number": _by_dialect(_text_of_number),
        # -- a hash of text that sorts: the first 60 bits of MD5 as a non-negative BIGINT
        "hash60": _each(
            duckdb="CAST('0x' || substr(md5($0), 1, 15) AS BIGINT)",
            postgres="CAST(CAST('x' || substr(md5($0), 1, 15) AS BIT(60)) AS BIGINT)",
            spark="CAST(conv(substr(md5($0), 1, 15), 16, 10) AS BIGINT)",
        ),
        # -- the same as 64 hexadecimal digits, where people choose the text
        "sha256": _each(
            duckdb="sha256($0)",
            postgres="encode(sha256(convert_to($0, 'UTF8')), 'hex')",
            spark="sha2($0, 256)",
        ),
        # -- bytes: up to 8 of $0 (from place $1, counted from 1; $2 of them) as a number, the foremost byte
        # first; 8 of them as a signed one. NULL or 0 where there are none.
        "whole_of_bytes": _each(
            duckdb="CAST(TRY_CAST($0[$1:$1 + $2 - 1] AS BIT) AS BIGINT)",
            postgres="CAST(CAST('x' || lpad(encode(substring($0 FROM $1 FOR $2), 'hex'), 16, '0') "
            "AS BIT(64)) AS BIGINT)",
            spark="CAST(conv(hex(substring($0, $1, $2)), 16, -10) AS BIGINT)",
        ),
        "shift_right": _same("($0 >> $1)", spark="shiftright($0, $1)"),
        # -- integers; $0 and $1 within the reach above
        "divide": _by_dialect(lambda dialect: f"CASE WHEN $1 <> 0 THEN {_QUOTIENT[dialect]} END"),
        # The divisor is known not to be 0.
        "whole_quotient": _QUOTIENT,
        "modulo": _same("CASE WHEN $1 <> 0 THEN CAST($0 AS BIGINT) % CAST($1 AS BIGINT) END"),
        "divide_number": _by_dialect(
            lambda d: (
                f"CASE WHEN $1 <> 0 THEN CAST($0 AS {DOUBLE[d]}) / CAST($1 AS {DOUBLE[d]}) END"
            )
        ),
        "floor_to_integer": _by_dialect(
            lambda dialect: (
                f"CASE WHEN $0 >= -{_EXACT} AND $0 <= {_EXACT} "
                f"THEN {TRY_CAST[dialect]}(floor($0) AS BIGINT) END"
            )
        ),
        "bit_and": _same("(CAST($0 AS BIGINT) & CAST($1 AS BIGINT))"),
        "bit_or": _same("(CAST($0 AS BIGINT) | CAST($1 AS BIGINT))"),
        "bit_xor": _each(
            duckdb="xor(CAST($0 AS BIGINT), CAST($1 AS BIGINT))",
            postgres="(CAST($0 AS BIGINT) # CAST($1 AS BIGINT))",
            spark="(CAST($0 AS BIGINT) ^ CAST($1 AS BIGINT))",
        ),
        # -- aggregates: exact, and without overflow for 10^19 rows (Spark: 2^42, four million millions)
        "sum_integer": _same(
            "CAST(SUM(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))", spark=_SUM_IN_PARTS
        ),
        # The same of numbers up to 2^21: in 64 bits, for 2^42 rows, in two thirds of the time.
        "sum_small": _each(
            duckdb="CAST(sum_no_overflow(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
            postgres="CAST(SUM(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
            spark=_SUM_IN_PARTS,
        ),
        "sum_distinct": _same(
            "CAST(SUM(DISTINCT CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
            spark="CAST(SUM(DISTINCT CAST($0 AS DECIMAL(19, 0))) AS DECIMAL(38, 0))",
        ),
        # -- dates
        "day_number": _each(
            duckdb="date_diff('day', DATE '1970-01-01', $0)",
            postgres="CAST($0 - DATE '1970-01-01' AS BIGINT)",
            spark="CAST(unix_date($0) AS BIGINT)",
        ),
        "day_of_number": _same(
            "(DATE '1970-01-01' + CAST($0 AS INTEGER))",
            spark="date_from_unix_date(CAST($0 AS INTEGER))",
        ),
        **{
            part: _same(f"CAST(EXTRACT({part.upper()} FROM $0) AS BIGINT)")
            for part in ("year", "quarter", "month", "week", "day", "doy")
        },
        "weekday": _same(
            "CAST(EXTRACT(ISODOW FROM $0) AS BIGINT)",
            spark="CAST(EXTRACT(DAYOFWEEK_ISO FROM $0) AS BIGINT)",
        ),
    }
)

_ARGUMENT = re.compile(r"\$([0-9])")


def function(name: str, dialect: str, *arguments: str) -> str:
    """Return the SQL of one of FUNCTIONS in `dialect`, applied to SQL expressions.

    >>> function("modulo", "duckdb", '"age"', "10")
    'CASE WHEN (10) <> 0 THEN CAST(("age") AS BIGINT) % CAST((10) AS BIGINT) END'
    """
    template = FUNCTIONS[name][dialect]
    # In patterns a $ stands before ' and never before a digit.
    return _ARGUMENT.sub(lambda found: f"({arguments[int(found[1])]})", template)
