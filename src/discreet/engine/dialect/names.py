"""Names of tables and columns in SQL."""

from __future__ import annotations

from discreet.engine.dialects import DIALECTS


def quoted(name: str, dialect: str = "duckdb") -> str:
    """Return `name` as an identifier; for Spark a word in double quotes would be a text."""
    mark = DIALECTS[dialect].mark
    return mark + name.replace(mark, mark * 2) + mark
