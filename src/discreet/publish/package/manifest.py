"""The manifest: what the owner signs. It names every other member by its hash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from discreet.publish.contents import Contents, Fact, PriceEvent, PublishedTable
from discreet.publish.package.verifier import moves
from discreet.publish.verify import FORMAT, SIZES


def manifest_of(contents: Contents, key: bytes, members: Mapping[str, Any]) -> bytes:
    """Return the manifest as the bytes that are signed.

    Keys, measures, sides and rules are written as they are: their fields are names of the format.
    """
    data = {
        "format": FORMAT,
        "release": contents.name,
        "dataset": contents.dataset,
        "created": contents.created,
        "snapshot": contents.snapshot,
        "key": key.hex(),
        "private": contents.private,
        "privacy": privacy_of(contents),
        "events": [event_json(event) for event in contents.events],
        "tables": {table.name: _table(table) for table in contents.tables},
        "measurements": {
            each.name: {
                "table": each.table,
                "measure": each.measure,
                "keys": each.rows.schema.names[:-2],
                "rows": each.rows.num_rows,
            }
            for each in contents.measurements
        },
        "mappings": {m.name: {"fine": m.fine, "coarse": m.coarse} for m in contents.mappings},
        "agreements": [asdict(each) for each in contents.agreements],
        "facts": [_fact(fact) for fact in contents.facts],
        "rules": [asdict(rule) for rule in contents.rules],
        "members": dict(members),
    }
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode()


def privacy_of(contents: Contents) -> dict[str, str | None]:
    """Return the promise: who is protected from what, at which price, in exact text."""
    return {
        "unit": contents.unit,
        "neighbours": contents.neighbours,
        "epsilon": str(contents.epsilon),
        "delta": str(contents.delta),
        "rho": None if contents.rho is None else str(contents.rho),
    }


def event_json(event: PriceEvent) -> dict[str, Any]:
    """Return one noisy vector under the names by which its law is counted."""
    moved = moves()[event.law]
    return {
        "measurement": event.measurement,
        "law": event.law,
        SIZES[moved]: str(event.scale),
        moved: str(event.sensitivity),
        "cells": event.cells,
        "coordinates": event.coordinates,
    }


def _table(table: PublishedTable) -> dict[str, Any]:
    return {
        "sql": table.sql,
        "keys": [asdict(key) for key in table.keys],
        "measures": [asdict(each) | {"step": str(each.step)} for each in table.measures],
        "rows": table.rows.num_rows,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "name": fact.name,
        "side": asdict(fact.side),
        "source": fact.source,
        "reason": fact.reason,
        "approver": fact.approver,
    }
