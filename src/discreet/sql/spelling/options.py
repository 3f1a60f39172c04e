"""`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (...)`, as GoogleSQL writes it: the price inside a statement.

Only the price is taken from it. Whose rows they are, how many of them count and delta stay what the owner
declared, so another privacy unit is refused, and the bounds that are written there have no effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.sql.refuse import refusal

_CLAUSE = re.compile(
    r"^(\s*SELECT)\s+WITH\s+DIFFERENTIAL_PRIVACY(?:\s+OPTIONS\s*\(([^()]*)\))?\s",
    re.IGNORECASE,
)
_KNOWN = frozenset(
    {"epsilon", "delta", "privacy_unit_column", "max_groups_contributed", "max_rows_contributed"}
)


@dataclass(frozen=True, slots=True)
class PricedStatement:
    """A statement without its options, and what they say: the price and whose rows they are."""

    text: str
    epsilon: str | None = None
    unit: str | None = None


def priced(text: str) -> PricedStatement:
    """Return a statement and the price that stands in it, if one does."""
    found = _CLAUSE.match(text)
    if found is None:
        return PricedStatement(text)
    options: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in (found[2] or "").split(","))):
        name, _, value = part.partition("=")
        name = name.strip().lower()
        if name not in _KNOWN:
            raise refusal("clause", what=f"The option '{name[:40]}' of DIFFERENTIAL_PRIVACY")
        options[name] = value.strip()
    unit = options.get("privacy_unit_column", "").strip('`"').rpartition(".")[2]
    rest = f"{found[1]} {text[found.end() :]}"
    return PricedStatement(rest, options.get("epsilon"), unit or None)
