"""Odd sources for `hunt.py`: the same declarations over many storage types, with and without one person."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
from hunt_sources import CELLS, NAMES, TOML, stored_as

from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.policy_file import loads
from discreet.base.schema import Dataset, Table
from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import Capabilities, Exact
from discreet.data.engines.dialects import quoted
from discreet.data.engines.child_limits import CLOSED
from discreet.data.engines.declared import Reached
from discreet.data.engines.declared import joined_rows
from discreet.privacy.kernel.sources import followed_path
from discreet.privacy.kernel.canonical import CanonicalRecipe

Rows = dict[str, list[dict[str, str | None]]]


class World:
    """One set of storage types; database 0 has its people, each further one somebody more."""

    def __init__(self, dice: random.Random, others: int) -> None:
        self.dice = dice
        self.neighbours = dice.choice(["add-remove", "replace-one"])
        self.whole = dice.random() < 0.4
        unit = (
            'type = "integer", lower = -10, upper = 100'
            if dice.random() < 0.3
            else 'type = "identifier"'
        )
        text = TOML.replace("NEIGHBOURS", self.neighbours).replace("UNIT", unit)
        text = text.replace("BOUND", dice.choice(["", 'bound = "table"']))
        text = text.replace("COMPLETE", dice.choice(["", ", complete = true"]))
        self.catalog: Catalog = loads(text, base=Path())
        self.numbered = self.whole or "integer" in unit
        self.connection = duckdb.connect(config={**CLOSED, "threads": "1"})
        self.connection.execute("SET TimeZone = 'UTC'")
        self.types = {
            t.name: self._stored(t) for d in self.catalog.datasets.values() for t in d.tables
        }
        self.columns: dict[str, list[str]] = {}
        names = [str(i) for i in range(1, 20)] if self.numbered else list(NAMES)
        dice.shuffle(names)
        if not self.numbered and dice.random() < 0.6:
            # People whom a collation might call one: some are there, one comes.
            rest = [name for name in names if name.strip().lower() != "eva"]
            names = ["eva", "Eva", "eva ", *rest, "EVA"]
        base = [self._person(name) for name in names[: dice.choice([0, 2, 4, 7])]]
        public = {name: self._rows(name, dice.choice([0, 2, 6])) for name in ("places", "wards")}
        shared = [self._rows("labs", 2, visit=key) for key in ("5", "6", "nobody")]
        self.bases = [*base, public, {"labs": [row for rows in shared for row in rows]}]
        self.people = [self._person(names[-1]) for _ in range(others)]
        self.size = others + 1
        self.canonical: list[dict[str, Counter[Any]]] = []
        self.readers: list[duckdb.DuckDBPyConnection] = []
        for place in range(self.size):
            self._make(
                place, [*self.bases, *self.people[place - 1 : place]] if place else self.bases
            )

    def _stored(self, table: Table) -> dict[str, str]:
        found = {}
        for column in table.columns:
            kind = type(column.domain).__name__.removesuffix("Domain").lower()
            if table.path is not None and column.name.lower() == table.path.column.lower():
                continue
            if table.unit is not None and table.unit.column == column.name:
                options = (
                    ["BIGINT", "INTEGER"] if self.whole else ["VARCHAR", "VARCHAR COLLATE NOCASE"]
                )
            else:
                options = stored_as(kind) if self.dice.random() < 0.4 else stored_as(kind)[:1]
                if not column.spelling.plain:
                    options = ["VARCHAR"]
            found[column.name] = self.dice.choice(options)
        return found

    def _rows(self, table: str, count: int, **fixed: str) -> list[dict[str, str | None]]:
        declared = self.catalog.table(table)
        found = []
        for _ in range(count):
            row: dict[str, str | None] = {}
            for name in self.types[table]:
                column = declared.column(name)
                kind = type(column.domain).__name__.removesuffix("Domain").lower()
                pool = (
                    CELLS[kind] if self.dice.random() < 0.4 else self._inside(column.domain, kind)
                )
                row[name] = None if self.dice.random() < 0.1 else self.dice.choice(pool)
            found.append({**row, **fixed})
        if count > 2 and self.dice.random() < 0.4:
            found = [found[0]] * count
        return found

    def _inside(self, domain: Any, kind: str) -> list[str]:
        """Return texts of values inside a domain, its ends among them."""
        if hasattr(domain, "values"):
            return list(domain.values)
        if kind == "timestamp":
            return ["2000-02-28 00:00:00", "2000-02-29 23:59:59", "2000-03-01 12:00:00"]
        if not hasattr(domain, "size") or kind == "boolean":
            return CELLS[kind][:12]
        values = [
            domain.value(place)
            for place in (0, domain.size - 1, domain.size // 2, min(1, domain.size - 1))
        ]
        return [str(float(value)) if kind == "number" else str(value) for value in values]

    def _person(self, name: str) -> Rows:
        """Return all rows of one person; visits may carry the number of somebody else's."""
        rows: Rows = {"folk": self._rows("folk", 1)}
        for table in ("patients", "visits", "notes"):
            rows[table] = self._rows(
                table, self.dice.choice([0, 1, 1, 1, 2, 5, 12]), person=self._spelled(name)
            )
        # A row belongs to everybody whom it reaches: what comes with somebody reaches them alone.
        key = str(100 + len(name) * 7 + self.dice.randrange(10**6) * 100)
        for row in rows["visits"]:
            row["id"] = self.dice.choice([key, key, None, "5", "6"])
        rows["labs"] = self._rows("labs", self.dice.choice([0, 1, 3, 9]), visit=key)
        return rows

    def _spelled(self, name: str) -> str:
        return (
            name
            if self.whole or not self.numbered
            else self.dice.choice([name, f"0{name}", f"{name}.0"])
        )

    def _make(self, place: int, people: list[Rows]) -> None:
        run = self.connection.execute
        run(f"ATTACH ':memory:' AS db{place}")
        run(f"USE db{place}")
        run("CREATE SCHEMA raw")
        run("CREATE SCHEMA canon")
        for table, types in self.types.items():
            cells = ", ".join(f"{quoted(n)} {kind}" for n, kind in types.items())
            run(f"CREATE TABLE raw.{table} ({cells})")
            rows = [tuple(row.values()) for rows in people for row in rows.get(table, ())]
            self.dice.shuffle(rows)
            if rows:
                # What a type cannot hold is missing in the source already.
                casts = ", ".join(
                    f"TRY_CAST(CAST(? AS VARCHAR) AS {k.split(' COLLATE')[0]})"
                    for k in types.values()
                )
                listed = ", ".join([f"({casts})"] * len(rows))
                run(
                    f"INSERT INTO raw.{table} VALUES {listed}",
                    [cell for row in rows for cell in row],
                )
        self.canonical.append({})
        self.readers.append(self.connection.cursor())
        self.readers[-1].execute(f"USE db{place}")
        for dataset in self.catalog.datasets.values():
            places = {table.name: self._relation(dataset, table) for table in dataset.tables}
            types = {
                f"{dataset.name}.{name}": self._described(where) for name, where in places.items()
            }
            for table in dataset.tables:
                self._canonical(dataset, table, places[table.name], types, place)

    def _described(self, relation: str) -> dict[str, str]:
        rows = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        return {str(row[0]).lower(): str(row[1]) for row in rows}

    def _relation(self, dataset: Dataset, table: Table) -> str:
        relation = f"raw.{table.name}"
        if table.path is None:
            return relation
        path = followed_path(dataset.name, table, {t.name: t for t in dataset.tables})
        types = self._described("raw.visits")
        steps = [Reached("raw.visits", types, step.here, step.key) for step in path.steps]
        return f"({joined_rows(relation, self._described(relation), steps, path.unit, quoted)})"

    def _canonical(
        self,
        dataset: Dataset,
        table: Table,
        relation: str,
        types: dict[str, dict[str, str]],
        place: int,
    ) -> None:
        recipe, name = CanonicalRecipe(dataset, table), f"{dataset.name}.{table.name}"
        recipe.check(types[name])
        sql = recipe.stored(types[name], relation, salt="salt")
        kept = f"canon.{quoted(name)}"
        self.connection.execute(f"CREATE TABLE {kept} AS {sql}")
        self.connection.execute(recipe.dropped(types[name], relation, stored=kept)).fetchall()
        found = self.connection.execute(f"SELECT * FROM {kept}")
        self.columns[name] = [column[0] for column in found.description or ()]
        self.canonical[place][name] = Counter(found.fetchall())


@dataclass
class Readers:
    """Stands for an engine that keeps canonical relations: reads trees, and one of the databases."""

    world: World
    capabilities: Capabilities = field(default=Capabilities(dialect="duckdb", canonical=True))

    def tree(self, sql: str) -> str:
        """Return DuckDB's own tree of a statement."""
        ((found,),) = self.world.connection.execute(
            "SELECT json_serialize_sql(?)", [sql]
        ).fetchall()
        return str(found)

    def run(self, place: int, sql: str) -> Exact:
        """Return the exact result of a statement over one of the databases."""
        return Exact(plain_table(self.world.readers[place].sql(sql).to_arrow_table()))
