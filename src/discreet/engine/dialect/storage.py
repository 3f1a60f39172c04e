"""What a column is in an engine, and what its owner declared it to be."""

from __future__ import annotations

import re
from enum import Enum


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
