"""Functions that engines compute, in SQL: total on every value, and the same wherever they are had."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engine.dialects import DIALECTS
from discreet.errors import QueryRefused
from discreet.kernel.cells import constant
from discreet.kernel.seal import MOST_PARTS
from discreet.plan import expr as e
from discreet.plan.kinds import SCALARS
from discreet.sql.write.cells import clamped


def engine_call(node: e.Call, value: str, dialect: str) -> str:
    """Return the SQL of a function that engines compute; a count between its two bounds."""
    row = SCALARS[node.function]
    spelling = row.sql.get(dialect) if isinstance(row.sql, Mapping) else row.sql
    if spelling is None:
        known = " or ".join(row.sql) if isinstance(row.sql, Mapping) else "none"
        raise QueryRefused(
            f"{node.function.upper()} over so many values needs another engine: {known}.",
            hint="Use LIKE, or declare the values of the column.",
            construct="pattern",
        )
    given = [
        constant(option, dialect) if isinstance(option, str) else str(_whole(option))
        for option in node.options
    ]
    found = spelling(value, given, node.options)
    if row.between is None:
        return found
    return clamped(f"CAST({found} AS BIGINT)", *row.between)


def _whole(option: object) -> int:
    if not isinstance(option, int) or isinstance(option, bool) or option < 0:
        raise QueryRefused(
            "Free text is cut at whole numbers from 0 on only.",
            hint="Count from the beginning of the text.",
            construct="text",
        )
    return option


def like(node: e.Like, value: str, dialect: str) -> str:
    """Return LIKE without an escape sign; a text in small letters for ILIKE."""
    row = DIALECTS[dialect]
    if "\\" in node.pattern and row.escapes_in_like:
        raise QueryRefused(
            "A backslash in LIKE means different things to different engines.",
            hint="Use _ for that sign.",
            construct="text",
        )
    if row.backtracks and node.pattern.count("%") > MOST_PARTS:
        raise QueryRefused(
            f"LIKE with more than {MOST_PARTS} % over free text takes too long on this engine.",
            hint="Put several LIKE together with AND.",
            construct="text",
        )
    pattern = node.pattern.lower() if node.ignore_case else node.pattern
    written = f"LOWER({value})" if node.ignore_case else value
    return f"({written} LIKE {constant(pattern, dialect)})"


def joined(parts: list[str], dialect: str) -> str:
    """Return texts one behind the other."""
    found = f"CAST({parts[0]} AS {DIALECTS[dialect].text})" if len(parts) == 1 else parts[0]
    for part in parts[1:]:
        found = f"({found} || {part})"
    return found
