"""Functions of free text in SQL: total on every text, and the same on every engine that has them."""

from __future__ import annotations

from discreet.engine.functions import TEXT
from discreet.errors import QueryRefused
from discreet.kernel.canonical.literals import constant
from discreet.kernel.seal import MOST_PARTS
from discreet.plan import expr as e
from discreet.plan.functions import LONGEST_TEXT


def text_call(node: e.Call, value: str, dialect: str) -> str:
    """Return the SQL of one function of a text."""
    given = [
        str(int(option)) if not isinstance(option, str) else constant(option, dialect)  # type: ignore[arg-type]  # numbers by the grammar
        for option in node.options
    ]
    match node.function:
        case "lower" | "upper" | "trim":
            return f"{node.function.upper()}({value})"
        case "left":
            return f"SUBSTR({value}, 1, {_whole(node.options[0])})"
        case "substring":
            places = ", ".join(str(_whole(option)) for option in node.options)
            return f"SUBSTR({value}, {places})"
        case "replace":
            return f"REPLACE({value}, {', '.join(given)})" if node.options[0] else value
        case "split_part":
            _whole(node.options[1])
            return f"SPLIT_PART({value}, {', '.join(given)})"
        case "starts_with":
            return f"(SUBSTR({value}, 1, {len(str(node.options[0]))}) = {given[0]})"
        case "length":
            most = LONGEST_TEXT
            count = f"CAST(LENGTH({value}) AS BIGINT)"
            return (
                f"CASE WHEN {count} > {most} THEN {most} WHEN {count} < 0 THEN 0 ELSE {count} END"
            )
        case _:
            return _pattern(node, value, given, dialect)


def _whole(option: object) -> int:
    if not isinstance(option, int) or isinstance(option, bool) or option < 0:
        raise QueryRefused(
            "Free text is cut at whole numbers from 0 on only.",
            hint="Count from the beginning of the text.",
            construct="text",
        )
    return option


def _pattern(node: e.Call, value: str, given: list[str], dialect: str) -> str:
    if dialect != "duckdb":
        # Other engines search by backtracking: how long that takes would follow from single rows.
        raise QueryRefused(
            "Regular expressions over free text need the DuckDB engine.",
            hint="Use LIKE, or declare the values of the column.",
            construct="pattern",
        )
    if node.function == "matches":
        return f"regexp_matches({value}, {given[0]})"
    return f"regexp_replace({value}, {', '.join(given)})"


def like(node: e.Like, value: str, dialect: str) -> str:
    """Return LIKE without an escape sign; a text in small letters for ILIKE."""
    if "\\" in node.pattern and dialect != "duckdb":
        raise QueryRefused(
            "A backslash in LIKE means different things to different engines.",
            hint="Use _ for that sign.",
            construct="text",
        )
    if dialect == "spark" and node.pattern.count("%") > MOST_PARTS:
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
    found = f"CAST({parts[0]} AS {TEXT[dialect]})" if len(parts) == 1 else parts[0]
    for part in parts[1:]:
        found = f"({found} || {part})"
    return found
