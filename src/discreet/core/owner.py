"""The owner's own name: in which she asks, and under which the history lists her."""

from __future__ import annotations

from collections.abc import Collection

from discreet.errors import CatalogError

OWNER = "owner"
"""The whole budget pays for her, unless an analyst of the catalog is called so."""


def name_of(analyst: str | None) -> str:
    """Return in whose name an analyst's share is asked of; for None, the whole budget, in the owner's."""
    return analyst or OWNER


def require_named(analyst: str | None, analysts: Collection[str]) -> None:
    """Refuse a question without a name where analysts are listed: nobody's share would pay for it."""
    if analyst is None and analysts:
        names = ", ".join((*analysts, OWNER))
        said = "This catalog lists analysts, so every question must say who asks."
        raise CatalogError(said, hint=f"Use --as NAME (analyst= in Python): {names}.")
