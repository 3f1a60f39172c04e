"""Types of columns: what one is in an engine, what its owner declared it to be, and the SQL that reads one as the other."""

from __future__ import annotations

import re
from enum import Enum

from discreet.data.engines.dialects import DIALECTS
from discreet.data.engines.functions import function


class ColumnKind(Enum):
    """What the owner declared a column to be."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TEXT = "text"


class Storage(Enum):
    """What a column is in the engine, as far as reading it matters."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TEXT = "text"
    OTHER = "other"


_STORAGE: tuple[tuple[str, Storage], ...] = (
    (r"u?(tiny|small|big|huge)int|integer|u?int(eger)?\d?|byte|short|long", Storage.INTEGER),
    (r"(decimal|numeric)(\(.*\))?", Storage.DECIMAL),
    (r"double( precision)?|float\d?|real", Storage.NUMBER),
    (r"bool(ean)?", Storage.BOOLEAN),
    (r"date", Storage.DATE),
    (r"timestamp.*", Storage.TIMESTAMP),
    (r"(var)?char.*|character.*|bpchar|\"char\"|name|text|string", Storage.TEXT),
    (r"enum\(.*|citext|uuid", Storage.TEXT),
)


def storage(engine_type: str) -> Storage:
    """Return how a column of this engine type is read; OTHER is never read."""
    name = engine_type.strip().lower()
    if name.endswith("]"):  # a list of values is no value, whatever they are
        return Storage.OTHER
    for pattern, found in _STORAGE:
        if re.fullmatch(pattern, name):
            return found
    return Storage.OTHER


_READERS: dict[tuple[ColumnKind, Storage], str] = {
    (ColumnKind.INTEGER, Storage.INTEGER): "integer_of_integer",
    (ColumnKind.INTEGER, Storage.DECIMAL): "integer_of_decimal",
    (ColumnKind.INTEGER, Storage.NUMBER): "integer_of_number",
    (ColumnKind.INTEGER, Storage.TEXT): "integer_of_text",
    (ColumnKind.NUMBER, Storage.INTEGER): "number_of_number",
    (ColumnKind.NUMBER, Storage.DECIMAL): "number_of_number",
    (ColumnKind.NUMBER, Storage.NUMBER): "number_of_number",
    (ColumnKind.NUMBER, Storage.TEXT): "number_of_text",
    (ColumnKind.BOOLEAN, Storage.BOOLEAN): "",
    (ColumnKind.BOOLEAN, Storage.INTEGER): "boolean_of_integer",
    # A writer makes 0 and 1 doubles once one of them is missing: they are what they were.
    (ColumnKind.BOOLEAN, Storage.DECIMAL): "boolean_of_decimal",
    (ColumnKind.BOOLEAN, Storage.NUMBER): "boolean_of_number",
    (ColumnKind.BOOLEAN, Storage.TEXT): "boolean_of_text",
    (ColumnKind.DATE, Storage.DATE): "date_of_date",
    (ColumnKind.DATE, Storage.TIMESTAMP): "date_of_timestamp",
    (ColumnKind.DATE, Storage.TEXT): "date_of_text",
    (ColumnKind.TEXT, Storage.TEXT): "text_of_any",
    (ColumnKind.TEXT, Storage.INTEGER): "text_of_any",
    (ColumnKind.TEXT, Storage.DECIMAL): "text_of_any",
    (ColumnKind.TEXT, Storage.NUMBER): "text_of_number",
    (ColumnKind.TEXT, Storage.BOOLEAN): "text_of_any",
    (ColumnKind.TEXT, Storage.DATE): "text_of_any",
    (ColumnKind.TEXT, Storage.TIMESTAMP): "text_of_timestamp",
}

_SECONDS = {
    Storage.DATE: "second_of_date",
    Storage.TIMESTAMP: "second_of_timestamp",
    Storage.TEXT: "second_of_text",
}

_LONGEST = 1_000
_EMPTY = frozenset({"null", "void"})
"""Types of columns without any value."""

_PLAIN = {ColumnKind.INTEGER: "BIGINT", ColumnKind.BOOLEAN: "BOOLEAN", ColumnKind.DATE: "DATE"}


def readable(kind: ColumnKind, engine_type: str) -> bool:
    """Return whether a column of this engine type can hold any value of `kind`."""
    return (kind, storage(engine_type)) in _READERS


def type_name(kind: ColumnKind, dialect: str) -> str:
    """Return the type that `read_as` gives, in the words of a dialect."""
    if kind is ColumnKind.NUMBER:
        return DIALECTS[dialect].double
    return DIALECTS[dialect].text if kind is ColumnKind.TEXT else _PLAIN[kind]


def can_read(kind: ColumnKind, engine_type: str) -> bool:
    """Return whether a column of this engine type can hold values of a kind, or holds none at all."""
    return (kind, storage(engine_type)) in _READERS or holds_nothing(engine_type)


def holds_nothing(engine_type: str) -> bool:
    """Return whether a column of this engine type holds no value: a writer's choice where all are missing."""
    return engine_type.strip('" ').lower() in _EMPTY


def read_as(kind: ColumnKind, expression: str, *, engine_type: str, dialect: str) -> str:
    """Return SQL that reads a column as `kind`: one value or NULL for every cell.

    Guarantee: total, and a function of the cell and of the engine type alone.
    """
    stored = storage(engine_type)
    source = expression
    if stored is Storage.INTEGER and kind is not ColumnKind.TEXT:
        source = within_64_bits(expression, engine_type, dialect)
    if stored is Storage.TEXT:
        source = function("text_of_any", dialect, expression)
        source = source if kind is ColumnKind.TEXT else short(source, dialect)
    name = _READERS.get((kind, stored))
    if name is None:
        return f"CAST(NULL AS {type_name(kind, dialect)})"
    return function(name, dialect, source) if name else expression


def within_64_bits(expression: str, engine_type: str, dialect: str) -> str:
    """Return a column of integers, of which those that 64 bits cannot hold are missing.

    To compare a wider one with a fraction or with a bound below zero, DuckDB casts the column, which
    fails on what one row says.
    """
    wide = engine_type.strip().lower() in DIALECTS[dialect].wide_integers
    return f"TRY_CAST({expression} AS BIGINT)" if wide else expression


def second_of_day(expression: str, *, engine_type: str, dialect: str) -> str:
    """Return SQL for the second of a moment's day, from 0 to 86,399: one value or NULL.

    Guarantee: total, and a function of the cell and of the engine type alone.
    """
    stored = storage(engine_type)
    name = _SECONDS.get(stored)
    if name is None:
        return "CAST(NULL AS BIGINT)"
    if stored is Storage.TEXT:
        expression = short(function("text_of_any", dialect, expression), dialect)
    return function(name, dialect, expression)


def short(text: str, dialect: str) -> str:
    """Return the beginning of a text: PostgreSQL's patterns fail on hundreds of millions of letters.

    No number and no truth value is that long, and a day is told by the beginning.
    """
    return f"substr({text}, 1, {_LONGEST})" if DIALECTS[dialect].long_texts_fail else text
