"""Constants in generated SQL, quoted for each dialect."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.engine.dialect.names import text_constant


def constant(value: Any, dialect: str) -> str:
    """Return a constant that is not a number in steps: text, truth value, date or NULL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return text_constant(value, dialect)
        case dt.datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return str(int(value))


def decimal(value: Fraction) -> str:
    """Return a decimal constant: exact where the fraction has a finite decimal."""
    if value.denominator == 1:
        return str(value.numerator)
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")
