"""Dates that PostgreSQL's functions make of constants: TO_DATE, TO_TIMESTAMP and MAKE_DATE."""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from discreet.server.pgwire.parameters import literal

_PATTERNS = {
    "YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S", "US": "%f",
}  # fmt: skip
_PART = re.compile("|".join(_PATTERNS))


def fold_dates(tree: exp.Expr) -> None:
    """Put the date in the place of a function of constants; what is not understood stays."""
    for node in list(tree.find_all(exp.Anonymous, exp.UnixToTime, exp.DateFromParts)):
        value = _value(node)
        if value is not None:
            node.replace(literal(value))


def _value(node: exp.Expr) -> dt.date | None:
    match node:
        case exp.DateFromParts():
            return _made([node.args.get(name) for name in ("year", "month", "day")])
        case exp.UnixToTime():  # TO_TIMESTAMP, as the parser calls it
            return _read(node.this, node.args.get("scale"))
        case exp.Anonymous() if node.name.upper() == "TO_DATE" and len(node.expressions) == 2:
            found = _read(*node.expressions)
            return None if found is None else found.date()
    return None


def _made(parts: list[exp.Expr | None]) -> dt.date | None:
    numbers = [part.name for part in parts if isinstance(part, exp.Literal) and part.is_int]
    try:
        return dt.date(*map(int, numbers)) if len(numbers) == 3 else None
    except (ValueError, OverflowError):
        return None


def _read(written: exp.Expr, form: exp.Expr | None) -> dt.datetime | None:
    if not (isinstance(written, exp.Literal) and isinstance(form, exp.Literal)):
        return None
    pattern = _PART.sub(lambda part: _PATTERNS[part.group()], form.name.upper().replace("%", "%%"))
    try:
        return dt.datetime.strptime(written.name, pattern)  # noqa: DTZ007  # dates have no zone
    except ValueError:
        return None
