"""Releases planned on an engine in memory, whose exact cells a test may see."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pyarrow as pa

from curator_kit import MemoryEngine, NoLedger
from discreet.data.engines.base import Held
from discreet.work.publish.bound_tables import draft
from discreet.work.publish.measure import count_cells, member_cells
from discreet.work.publish.prepare import PlannedRelease
from discreet.work.publish.prepare import plan as make_plan
from discreet.work.publish.specification import parse_spec
from permits import paid
from publish_kit import COUNTY, STATE, Made, catalog_of, spec_text

LEDGER = NoLedger()


class CountyEngine(MemoryEngine):
    """The county's tables in memory."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.connection = duckdb.connect(config={"threads": "1"})
        self.hide, self.asked, self.types, self.places = False, [], {}, {}
        names = ("region", "sex", "job", "age", "pay")
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        more = {"wealth": [0.0] * len(rows), "note": [""] * len(rows), "raw": ["x"] * len(rows)}
        tables = {
            "people": pa.table({**columns, **more}),
            "regions": pa.table({"region": list(COUNTY), "county": list(COUNTY.values())}),
            "counties": pa.table({"county": list(STATE), "state": list(STATE.values())}),
        }
        for name, table in tables.items():
            self.connection.register("incoming", table)
            self.connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')
            self.connection.unregister("incoming")
            described = self.connection.execute(f'DESCRIBE "{name}"').fetchall()
            self.types[f"d.{name}"] = [(row[0], row[1]) for row in described]
            self.places[f"d.{name}"] = f'"{name}"'

    def schema(self, name: str) -> dict[str, str]:
        return {column.lower(): kind.lower() for column, kind in self.types[name]}


class CountyHeld(Held):
    """The county as it is: people in one table, and two that are public."""

    def __init__(self, engine: CountyEngine) -> None:
        self.fingerprints = dict.fromkeys(engine.places, "1")
        self.versions = dict.fromkeys(engine.places, "1")
        self.private = {name: "d" if name == "d.people" else None for name in engine.places}
        self._run = engine.owner_reader().run
        self._keep = engine.relation


@dataclass(frozen=True)
class InMemory:
    """A plan and the engine that it may be measured on."""

    plan: PlannedRelease
    held: Any

    def cells(self, number: int, place: int) -> Any:
        """Return the exact cells of one member."""
        family, read = self.plan.families[number], self.plan.reads[number, place]
        exact = count_cells(read, family, paid(self.held))
        return member_cells(exact, read, family, family.members[place])


def plan_in_memory(
    tables: list[Made],
    base: Path,
    rows: list[tuple[Any, ...]],
    *,
    delta: str = "1e-7",
    text: str | None = None,
    neighbours: str = "add-remove",
) -> InMemory:
    """Return a release planned on rows in memory."""
    catalog = catalog_of(base, neighbours=neighbours)
    written = text or spec_text(tables, delta=delta)
    drafted = draft(parse_spec(written, base=base), catalog)
    engine = CountyEngine(rows)
    held = CountyHeld(engine)
    found = make_plan(
        drafted, SimpleNamespace(catalog=catalog, ledger=LEDGER, engine=engine), held=held
    )
    return InMemory(found, held)
