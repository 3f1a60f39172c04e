"""The table that an anonymization reads, as the server and its child find it."""

from __future__ import annotations

from discreet.anonymize.source import AnonymizeSource, declared_source, find_table
from discreet.api import Curator


def source_of(curator: Curator, table: str, where: str | None) -> tuple[str, AnonymizeSource]:
    """Return the dataset and the table in the curator's engine, hidden columns marked."""
    dataset, name = find_table(curator.catalog, table)
    return dataset, declared_source(curator.engine, curator.catalog, dataset, name, where=where)
