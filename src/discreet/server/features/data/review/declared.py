"""Declarations as they stand, in the form in which the review shows a proposal. Public facts only."""

from __future__ import annotations

from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.catalog.declare.columns import declared_settings
from discreet.catalog.declare.proposal import ColumnProposal
from discreet.core.schema import Table
from discreet.core.system.regular_file import read_text
from discreet.errors import InternalError, InvalidInput
from discreet.server.features.data.review.confirm import dataset_of
from discreet.server.features.data.review.proposal import plain_setting
from discreet.server.features.data.review.reveal import reveals
from discreet.server.features.data.upload.store import UploadStore


def declared_json(catalog: Catalog, store: UploadStore, dataset: str) -> dict[str, Any]:
    """Return the columns of a dataset's one table with their settings, and the upload it reads."""
    found, table = catalog.dataset(dataset), one_table(catalog, dataset)
    if catalog.path is None:
        raise InternalError("a server's catalog is read from its file")
    text = read_text(catalog.path, encoding="utf-8-sig")
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


def one_table(catalog: Catalog, dataset: str) -> Table:
    """Return the table of a dataset that has no other, or refuse."""
    found = catalog.dataset(dataset).tables
    if len(found) != 1:
        raise InvalidInput(
            "This data set has several tables.", hint="Change it in discreet.toml by hand."
        )
    return found[0]
