"""Stored bounded tables, for engines whose canonical rows carry no rank: bounded once and reused."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from discreet.catalog.catalog import engine_name
from discreet.engine.base import Engine
from discreet.ledger.entry import Receipt
from discreet.plan.ir import Relation, Scan, scans_of
from discreet.sql.render import bounded_view


def stored_views(source: Relation, snapshots: Mapping[str, str], engine: Engine) -> dict[str, str]:
    """Return the stored bounded tables that exist already, by the name of their source."""
    found = {}
    for scan in _bounded(source, engine):
        name = view_name(scan, snapshots)
        if engine.has(name):
            found[_source(scan)] = engine.relation(name)
    return found


def make_views(
    source: Relation, snapshots: Mapping[str, str], engine: Engine, receipt: Receipt
) -> dict[str, str]:
    """Return all stored bounded tables, made now where they are missing. Reads rows: after paying."""
    assert receipt.request_id, "a charge comes before a look"
    return {
        _source(scan): engine.materialise(view_name(scan, snapshots), bounded_view(scan, engine))
        for scan in _bounded(source, engine)
    }


def _bounded(source: Relation, engine: Engine) -> list[Scan]:
    if engine.capabilities.canonical:
        return []
    return [scan for scan in scans_of(source) if scan.table.bounded]


def _source(scan: Scan) -> str:
    assert scan.dataset is not None, "every table belongs to a dataset"
    return engine_name(scan.dataset, scan.table)


def view_name(scan: Scan, snapshots: Mapping[str, str]) -> str:
    """Return the name of a bounded table; it says everything that the rows in it depend on."""
    columns = [
        (f.name.split(".", 1)[1], f.origin.column.fingerprint, f.origin.column.constant)
        for f in scan.fields
        if f.origin is not None
    ]
    said = repr((_source(scan), scan.table.max_rows, columns, snapshots.get(scan.table.name)))
    return f"bounded_{hashlib.sha256(said.encode()).hexdigest()[:24]}"
