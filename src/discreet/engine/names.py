"""Names of tables in SQL and on disk."""

from __future__ import annotations

import re
from collections.abc import Container

from discreet.errors import InvalidInput

_NAME = re.compile(r"[a-z0-9_]{1,60}")


def is_name(name: str) -> bool:
    """Return whether a stored table could have this name."""
    return _NAME.fullmatch(name) is not None


def require_free(name: str, sources: Container[str]) -> None:
    """Refuse to hide a source behind a table of ours, and what cannot name one."""
    if checked_name(name) in sources:
        raise InvalidInput(f"There is a source called '{name}' already.")


def checked_name(name: str) -> str:
    """Return `name` if it can name a stored table: small letters, digits and underscores."""
    if not is_name(name):
        raise InvalidInput(
            "A stored table is named with at most 60 small letters, digits and underscores."
        )
    return name


def quoted(name: str, dialect: str = "duckdb") -> str:
    """Return `name` as an identifier; for Spark a word in double quotes would be a text."""
    mark = "`" if dialect == "spark" else '"'
    return mark + name.replace(mark, mark * 2) + mark
