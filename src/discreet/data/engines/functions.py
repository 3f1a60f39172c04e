"""SQL that means the same on every engine: what is common, written from the facts of a dialect.

Every expression here is total: whatever a cell holds, it gives a value or NULL and never raises.
In a template, $0, $1 ... stand for the arguments, which must be complete SQL expressions. What an
engine spells by itself stands with its `Dialect`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from discreet.data.engines.dialects import DIALECTS, Dialect

# 18 digits fit into 64 bits whatever they are; that is also the reach of `integer_of_*`.
_REACH = 10**18 - 1
_EXACT = 2**53 - 1

_WHOLE = "[+-]?[0-9]{1,18}"
_REAL = "[+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?"
_POINT_ZERO = "(0|-?[1-9][0-9]*)[.]0+"
# A time may follow, a line break not: engines disagree on what a dot matches.
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][ -~]*)?"


def _matches(dialect: Dialect, pattern: str) -> str:
    """Return the test that the whole of $0 fits `pattern`."""
    return filled(dialect.fits, "$0", f"'{pattern}'", f"'^({pattern})$'")


def _finite(dialect: Dialect, value: str) -> str:
    # NaN sorts above every number on all three, so one comparison removes it; 0 swallows -0.
    kind = dialect.double
    known = f" AND NOT isnan(CAST({value} AS DOUBLE))" if dialect.nan_passes else ""
    tiny = f"{value} > -1e-300 AND {value} < 1e-300"
    return (
        f"CASE WHEN {tiny if dialect.raises_on_tiny else f'{value} = 0'} THEN CAST(0 AS {kind}) "
        f"WHEN {value} >= -1e300 AND {value} <= 1e300{known} THEN CAST({value} AS {kind}) END"
    )


def _whole_double(dialect: Dialect, value: str) -> str:
    return (
        f"CASE WHEN {value} >= -{_EXACT} AND {value} <= {_EXACT} AND {value} = floor({value}) "
        f"THEN {dialect.try_cast}({value} AS BIGINT) END"
    )


def _number_of_text(dialect: Dialect) -> str:
    kind = dialect.double
    cast = f"CAST($0 AS {kind})"
    zero = f"WHEN {cast} = 0 THEN CAST(0 AS {kind}) ELSE {cast}"
    return f"CASE WHEN {_matches(dialect, _REAL)} THEN CASE {zero} END END"


def _integer_of_text(dialect: Dialect) -> str:
    real = _whole_double(dialect, f"CAST($0 AS {dialect.double})")
    return (
        f"CASE WHEN {_matches(dialect, _WHOLE)} THEN CAST($0 AS BIGINT) "
        f"WHEN {_matches(dialect, _REAL)} THEN {real} END"
    )


def _date_of_text(dialect: Dialect) -> str:
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


def _second_of_text(dialect: Dialect) -> str:
    """Return the second of the day that a text says behind its day: 0 where it says no time."""
    cast = dialect.try_cast
    hour, minute = (f"{cast}(substr($0, {a}, 2) AS INT)" for a in (12, 15))
    # Behind HH:MM stands a colon where seconds are written.
    second = f"CASE WHEN substr($0, 17, 1) = ':' THEN {cast}(substr($0, 18, 2) AS INT) ELSE 0 END"
    real = f"{hour} <= 23 AND {minute} <= 59 AND {second} <= 59"
    whole = f"CAST({hour} * 3600 + {minute} * 60 + {second} AS BIGINT)"
    return (
        f"CASE WHEN length($0) = 10 THEN CAST(0 AS BIGINT) WHEN {_matches(dialect, _CLOCK)} "
        f"THEN CASE WHEN {real} THEN {whole} END END"
    )


def _second_of_timestamp(dialect: Dialect) -> str:
    # Nothing else is asked for its parts.
    known = _in_calendar(dialect.moment, dialect.moment)
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


def _date_of_timestamp(dialect: Dialect) -> str:
    return _in_calendar(dialect.moment, f"CAST({dialect.moment} AS DATE)")


def _text_of_timestamp(dialect: Dialect) -> str:
    # DuckDB fails on moments before its calendar begins, also in the branch of a CASE that they
    # do not take: a file's whole dictionary is cast at once. So only the others are cast.
    return filled(dialect.as_text, _in_calendar(dialect.moment, "$0"))


def _boolean_of(value: str) -> str:
    return (
        f"CASE WHEN {value} IN ('true', 't', 'yes', 'y', '1') THEN TRUE "
        f"WHEN {value} IN ('false', 'f', 'no', 'n', '0') THEN FALSE END"
    )


def _boolean_of_decimal(dialect: Dialect) -> str:
    # By its text: compared with a whole number, DuckDB fails on a decimal of 38 places, and Spark rounds it.
    one, zero = (
        filled(_matches(dialect, pattern), dialect.as_text)
        for pattern in ("1([.]0*)?", "0?([.]0*)?(E-[0-9]+)?")
    )
    return f"CASE WHEN {one} THEN TRUE WHEN {zero} THEN FALSE END"


def _text_of_number(dialect: Dialect) -> str:
    """Return a double as text where all engines spell it alike, NULL elsewhere.

    Whole numbers end in .0; fractions are shortest decimals, without an exponent.
    """
    whole = filled(dialect.as_text, f"{dialect.try_cast}($0 AS BIGINT)")
    return (
        f"CASE WHEN abs($0) <= {_EXACT} AND $0 = floor($0) THEN {whole} || '.0' "
        f"WHEN abs($0) >= 0.001 AND abs($0) < 10000000 THEN {dialect.as_text} END"
    )


def _person_of_text(dialect: Dialect) -> str:
    # Few texts end in 0, and a pattern takes ten times as long as looking at the end.
    whole = f"$0 LIKE '%0' AND {_matches(dialect, _POINT_ZERO)}"
    return f"CASE WHEN {whole} THEN split_part($0, '.', 1) ELSE $0 END"


_ROUND_DAY = "$0 BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"


def _common(dialect: Dialect) -> Mapping[str, str]:
    quotient = f"CAST($0 AS BIGINT) {dialect.quotient} CAST($1 AS BIGINT)"
    return {
        # -- from text: padded, grouped or half-numeric text is NULL, never an error
        "integer_of_text": _integer_of_text(dialect),
        "number_of_text": _number_of_text(dialect),
        "date_of_text": _date_of_text(dialect),
        "boolean_of_text": _boolean_of("lower($0)"),
        # -- from numbers: beyond reach, fractional, NaN or infinite is NULL
        "integer_of_integer": (
            f"CASE WHEN $0 BETWEEN -{_REACH} AND {_REACH} THEN CAST($0 AS BIGINT) END"
        ),
        "integer_of_decimal": (
            f"CASE WHEN $0 BETWEEN -{_REACH} AND {_REACH} AND $0 = floor($0) "
            "THEN CAST($0 AS BIGINT) END"
        ),
        "integer_of_number": _whole_double(dialect, "$0"),
        "number_of_number": _finite(dialect, "$0"),
        "boolean_of_number": "CASE WHEN $0 = 1 THEN TRUE WHEN $0 = 0 THEN FALSE END",
        "boolean_of_decimal": _boolean_of_decimal(dialect),
        "boolean_of_integer": "CASE WHEN $0 = 1 THEN TRUE WHEN $0 = 0 THEN FALSE END",
        # -- from dates and times
        "date_of_date": f"CASE WHEN {_ROUND_DAY} THEN $0 END",
        "date_of_timestamp": _date_of_timestamp(dialect),
        # -- the second of the day
        "second_of_text": _second_of_text(dialect),
        "second_of_timestamp": _second_of_timestamp(dialect),
        "second_of_date": "CASE WHEN $0 IS NOT NULL THEN CAST(0 AS BIGINT) END",
        # -- to text
        "text_of_any": dialect.as_text,
        "text_of_timestamp": _text_of_timestamp(dialect),
        "text_of_number": _text_of_number(dialect),
        # A writer makes whole numbers 7.0 once one of them is missing, and 7.00 of money.
        "person_of_text": _person_of_text(dialect),
        # -- integers; $0 and $1 within the reach above
        "shift_right": "($0 >> $1)",
        "divide": f"CASE WHEN $1 <> 0 THEN {quotient} END",
        # The divisor is known not to be 0.
        "whole_quotient": quotient,
        "modulo": "CASE WHEN $1 <> 0 THEN CAST($0 AS BIGINT) % CAST($1 AS BIGINT) END",
        "divide_number": (
            f"CASE WHEN $1 <> 0 THEN CAST($0 AS {dialect.double}) / CAST($1 AS {dialect.double}) END"
        ),
        "floor_to_integer": (
            f"CASE WHEN $0 >= -{_EXACT} AND $0 <= {_EXACT} "
            f"THEN {dialect.try_cast}(floor($0) AS BIGINT) END"
        ),
        "bit_and": "(CAST($0 AS BIGINT) & CAST($1 AS BIGINT))",
        "bit_or": "(CAST($0 AS BIGINT) | CAST($1 AS BIGINT))",
        # -- aggregates: exact, and without overflow for 10^19 rows (Spark: 2^42, four million millions)
        "sum_integer": "CAST(SUM(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
        "sum_distinct": "CAST(SUM(DISTINCT CAST($0 AS BIGINT)) AS DECIMAL(38, 0))",
        # -- dates
        "day_of_number": "(DATE '1970-01-01' + CAST($0 AS INTEGER))",
        **{
            part: f"CAST(EXTRACT({part.upper()} FROM $0) AS BIGINT)"
            for part in ("year", "quarter", "month", "week", "day", "doy")
        },
        "weekday": "CAST(EXTRACT(ISODOW FROM $0) AS BIGINT)",
    }


_ARGUMENT = re.compile(r"\$([0-9])")


@lru_cache
def templates(dialect: str) -> Mapping[str, str]:
    """Return the templates of all functions in a dialect."""
    row = DIALECTS[dialect]
    return {**_common(row), **row.functions}


def filled(template: str, *arguments: str) -> str:
    """Return a template with its arguments as they are."""
    return _ARGUMENT.sub(lambda found: arguments[int(found[1])], template)


def function(name: str, dialect: str, *arguments: str) -> str:
    """Return the SQL of one of the `templates` of `dialect`, applied to SQL expressions.

    >>> function("modulo", "duckdb", '"age"', "10")
    'CASE WHEN (10) <> 0 THEN CAST(("age") AS BIGINT) % CAST((10) AS BIGINT) END'
    """
    # In patterns a $ stands before ' and never before a digit.
    return filled(templates(dialect)[name], *(f"({argument})" for argument in arguments))
