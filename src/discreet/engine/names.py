"""Names of tables and columns in SQL."""

from __future__ import annotations


def quoted(name: str, dialect: str = "duckdb") -> str:
    """Return `name` as an identifier; for Spark a word in double quotes would be a text."""
    mark = "`" if dialect == "spark" else '"'
    return mark + name.replace(mark, mark * 2) + mark
