"""Declarations as they stand, in the form in which the review shows a proposal. Public facts only."""

from __future__ import annotations

from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.columns import declared_settings
from discreet.catalog.declare.proposal import ColumnProposal
from discreet.errors import InvalidInput
from discreet.server.features.data.review.confirm import dataset_of
from discreet.server.features.data.review.proposal import plain_setting
from discreet.server.features.data.review.reveal import reveals
from discreet.server.features.data.upload.store import UploadStore


def declared_json(catalog: Catalog, store: UploadStore, dataset: str) -> dict[str, Any]:
    """Return the columns of a dataset's one table with their settings, and the upload it reads."""
    found = catalog.dataset(dataset)
    if len(found.tables) != 1 or catalog.path is None:
        raise InvalidInput(
            "This data set has several tables.", hint="Change it in discreet.toml by hand."
        )
    table = found.tables[0]
    text = catalog.path.read_text(encoding="utf-8-sig")
    settings = declared_settings(text, found.name, table.name)
    upload = next((u.id for u in store.all() if dataset_of(catalog, store, u) == found.name), None)
    unit = None if table.unit is None else table.unit.column
    proposals = [ColumnProposal(name, each) for name, each in settings.items() if name != unit]
    return {
        "dataset": found.name,
        "table": table.name,
        "unit": unit or "row",
        "upload": upload,
        "columns": [
            {
                "name": each.name,
                "type": each.type,
                "settings": {k: plain_setting(v) for k, v in each.settings.items()},
                "missing_rate": None,
                "seen": [],
                "reveals": reveals(each),
            }
            for each in proposals
        ],
    }
