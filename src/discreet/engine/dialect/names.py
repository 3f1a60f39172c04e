"""Names of tables and columns in SQL, and constants of text: the one place that puts marks around either."""

from __future__ import annotations

from discreet.engine.dialects import DIALECTS


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
