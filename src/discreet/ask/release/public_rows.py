"""The rows of public tables, read from the held state: they hold nobody's data and cost nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.ask.plan.ir import Scan
from discreet.ask.sql.write.blocks import BlockWriter
from discreet.data.catalog.catalog import engine_name
from discreet.data.engines.base import Engine, Held, open_exact
from discreet.errors import InternalError
from discreet.privacy.kernel.look import canonical


def read_public(scan: Scan, engine: Engine, held: Held) -> Mapping[str, Sequence[Any]]:
    """Return the declared values of each column of a public table."""
    if not scan.public or scan.dataset is None:
        raise InternalError("only public tables are read for nothing")
    fields = [f for f in scan.fields if f.origin is not None]
    block = BlockWriter(engine, frozenset(f.name for f in fields)).block(scan)
    cells = [f"{block.cells[f.name].value} AS k{i}" for i, f in enumerate(fields)]
    reader = held.public_reader(engine_name(scan.dataset, scan.table))
    table = open_exact(reader.run(f"SELECT {', '.join(cells)} {block.body()}"))
    return {
        f.origin.column.name: [canonical(v, f.domain) for v in table.column(i).to_pylist()]
        for i, f in enumerate(fields)
        if f.origin is not None
    }
