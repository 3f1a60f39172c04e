"""Names of tables in SQL and on disk."""

from __future__ import annotations

import re

from discreet.errors import InvalidInput

_NAME = re.compile(r"[a-z0-9_]{1,60}")


def checked_name(name: str) -> str:
    """Return `name` if it can name a stored table: small letters, digits and underscores."""
    if _NAME.fullmatch(name) is None:
        raise InvalidInput(
            "A stored table is named with at most 60 small letters, digits and underscores."
        )
    return name


def quoted(name: str) -> str:
    """Return `name` as a standard SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
