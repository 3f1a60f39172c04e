"""The manifest: what the owner signs. It names every other member by its hash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.publish.contents import (
    Contents,
    Fact,
    Only,
    PriceEvent,
    PublishedTable,
    Side,
    SumLink,
    ZeroRule,
)
from discreet.publish.package.archive import WrittenMember
from discreet.publish.verify import FORMAT


def manifest_of(contents: Contents, key: bytes, members: Mapping[str, WrittenMember]) -> bytes:
    """Return the manifest as the bytes that are signed."""
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
        "agreements": [
            {"left": _side(each.left), "right": _side(each.right)} for each in contents.agreements
        ],
        "facts": [_fact(fact) for fact in contents.facts],
        "rules": [_rule(rule) for rule in contents.rules],
        "members": {
            name: {"sha256": written.sha256, "bytes": written.size}
            for name, written in sorted(members.items())
        },
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
    """Return one noisy vector under the names that its law has."""
    names = ("sigma_squared", "l2_squared") if event.law == "gaussian" else ("scale", "l1")
    return {
        "measurement": event.measurement,
        "law": event.law,
        names[0]: _exact(event.scale),
        names[1]: _exact(event.sensitivity),
        "cells": event.cells,
        "coordinates": event.coordinates,
    }


def _exact(value: Fraction) -> str:
    return str(Fraction(value))


def _table(table: PublishedTable) -> dict[str, Any]:
    return {
        "sql": table.sql,
        "keys": [
            {"name": key.name, "meaning": key.meaning, "values": list(key.values)}
            for key in table.keys
        ],
        "measures": [
            {
                "name": measure.name,
                "meaning": measure.meaning,
                "step": str(measure.step),
                "non_negative": measure.non_negative,
            }
            for measure in table.measures
        ],
        "rows": table.rows.num_rows,
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "table": side.table,
        "measure": side.measure,
        "by": [_link(link) for link in side.by],
        "only": [_only(only) for only in side.only],
    }


def _link(link: SumLink) -> dict[str, Any]:
    return {"name": link.name, "key": link.key, "mapping": link.mapping}


def _only(only: Only) -> dict[str, Any]:
    return {"key": only.key, "values": list(only.values), "mapping": only.mapping}


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "name": fact.name,
        "side": _side(fact.side),
        "source": fact.source,
        "reason": fact.reason,
        "approver": fact.approver,
    }


def _rule(rule: ZeroRule) -> dict[str, Any]:
    return {
        "text": rule.text,
        "table": rule.table,
        "measure": rule.measure,
        "cells": [[_only(only) for only in group] for group in rule.cells],
    }
