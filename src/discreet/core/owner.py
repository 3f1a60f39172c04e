"""The owner's own name: in which she asks, and under which the history lists her."""

from __future__ import annotations

OWNER = "owner"
"""The whole budget pays for her, unless an analyst of the catalog is called so."""


def name_of(analyst: str | None) -> str:
    """Return in whose name an analyst's share is asked of; for None, the whole budget, in the owner's."""
    return analyst or OWNER
