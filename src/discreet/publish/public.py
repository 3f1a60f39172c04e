"""The rows of public tables for a release: each table is read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.engine.base import Engine, Held
from discreet.plan.ir import Scan
from discreet.publish.families.bound import PublicRows
from discreet.release.public_rows import read_public


def public_rows(engine: Engine, held: Held) -> PublicRows:
    """Return the reader of public tables; a table is read once."""
    known: dict[str, Mapping[str, Sequence[Any]]] = {}

    def rows(scan: Scan) -> Mapping[str, Sequence[Any]]:
        if scan.table.name not in known:
            known[scan.table.name] = read_public(scan, engine, held)
        return known[scan.table.name]

    return rows
