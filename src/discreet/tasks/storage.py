"""`discreet.storage()`: where rows, answers and charges lie at rest, and what encrypts each place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.api.curator import found_config
from discreet.api.opened_catalog import StoredPlace, places_of
from discreet.catalog.policy_file import load
from discreet.core.display.lines import ShownInLines, ShownLines


@dataclass(frozen=True, slots=True, repr=False)
class StorageReport(ShownInLines):
    """Every place that holds something private, and what the catalog asks of them."""

    required: bool
    vouched: str
    places: tuple[StoredPlace, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object that `discreet storage --json` prints."""
        found = [
            {"what": p.what, "path": p.path, "at_rest": p.volume.rest.value, "how": p.volume.how}
            for p in self.places
        ]
        return {"required": self.required, "vouched": self.vouched, "places": found}

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return [
            (place.what, f"{place.volume.rest.value}, {place.volume.how}: {place.path}")
            for place in self.places
        ]


def storage(config: str | Path | None = None) -> StorageReport:
    """Return where rows, answers and charges lie at rest, and what encrypts each place; reads no row.

    >>> discreet.storage("discreet.toml").to_json()["required"]             # doctest: +SKIP
    False
    """
    catalog = load(found_config(config))
    asked = catalog.storage
    return StorageReport(asked.encrypted, asked.vouched, places_of(catalog))
