"""A small world for attacking the curator: a catalog, nasty rows, neighbours, exact results."""

from __future__ import annotations

import functools
import random
import warnings
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from discreet.ask.plan.plan import Plan, PublicGroups, Question, ask, make_plan
from discreet.ask.release.sealing import Sealed, seal
from discreet.ask.release.snapshots import hold
from discreet.ask.sql.bind import bind
from discreet.base.numbers import Delta, Epsilon
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import Capabilities, Engine, Exact, PaidReader, engine_failed
from discreet.privacy.kernel.look import exact, rank_utilities
from discreet.privacy.ledger.accounts import DataVersion, NewVersion, Versions
from discreet.testing.engine import LiveHeld
from duckdb_kit import room
from nasty_rows import BIG, REALS, SCHEMAS, UNIT, Nasty, arrow, world_rows
from noise_kit import appearance_bounds
from permits import paid
from world_catalog import DATASET, TABLES, catalog_of


class MemoryEngine:
    """DuckDB in this process: fast, and it raises what the real one hides."""

    capabilities = Capabilities(dialect="duckdb")

    def __init__(self, tables: dict[str, pa.Table], *, hide: bool = False) -> None:
        self.connection = room()
        self.hide = hide
        self.asked: list[str] = []
        self.types: dict[str, list[tuple[str, str]]] = {}
        self.places: dict[str, str] = {}
        for name, table in tables.items():
            self.connection.register("incoming", table)
            self.connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')
            self.connection.unregister("incoming")
            described = self.connection.execute(f'DESCRIBE "{name}"').fetchall()
            engine_name = f"{DATASET[name]}.{name}"
            self.types[engine_name] = [(row[0], row[1]) for row in described]
            self.places[engine_name] = f'"{name}"'

    def beside(self, places: dict[str, str]) -> MemoryEngine:
        """Return an engine over the same database that reads other rows."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.asked = []
        other.places = {**self.places, **places}
        return other

    def relation(self, name: str) -> str:
        # A name of its own, so that the SQL is the same text whichever rows it reads.
        return f'"source.{name}"'

    def columns(self, name: str) -> list[tuple[str, str]]:
        return self.types[name]

    def names(self, name: str) -> list[str]:
        return [column for column, _ in self.types[name]]

    def fingerprint(self, name: str) -> str:
        return "one and the same"

    def has(self, name: str) -> bool:
        return name in self.places

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        self.asked.append(sql)
        for name, place in self.places.items():
            sql = sql.replace(f'"source.{name}"', place)
        try:
            return Exact(plain_table(_fetched(self.connection, sql)))
        except duckdb.Error:
            if self.hide:
                raise engine_failed() from None
            raise

    owner_reader = Engine.owner_reader

    def hold(self, tables: Any, **_how: Any) -> LiveHeld:
        return LiveHeld(self, tables)

    def tree(self, sql: str) -> str:
        ((found,),) = self.connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
        return found

    def cancel(self) -> None: ...

    def close(self) -> None: ...


def _fetched(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Return the few rows of a SELECT, which a relation would plan twice to save a copy of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return connection.execute(sql).to_arrow_table()


class StoredEngine(MemoryEngine):
    """The same over canonical rows as a snapshot stores them, which are read by other SQL."""

    capabilities = Capabilities(dialect="duckdb", canonical=True)

    def hold(self, tables: Any, **_how: Any) -> LiveHeld:
        held = super().hold(tables)
        types = {name: dict(self.types[name]) for name in self.types}
        rows = {}
        for name, recipe in tables.items():
            found = recipe.stored(types[name], self.places[name], salt="")
            rows[f'canon."{name}"'] = f"({found})"

        def run(sql: str, *, seconds: float | None = None) -> Exact:
            for stored, select in rows.items():
                sql = sql.replace(stored, select)
            return self._run(sql)

        held._run = run
        return held


def without(engine: MemoryEngine, dataset: str, unit: int) -> MemoryEngine:
    """Return the neighbour in which one unit is not there."""
    return engine.beside(
        {
            f"{dataset}.{table}": (
                f'(SELECT * FROM "{table}" WHERE "{column}" IS DISTINCT FROM {unit})'
            )
            for table, column in UNIT.items()
            if DATASET[table] == dataset
        }
    )


def replaced(engine: MemoryEngine, dataset: str, unit: int, rng: random.Random) -> MemoryEngine:
    """Return the neighbour in which one unit's rows are those of somebody else."""
    places = {}
    for table, column in UNIT.items():
        if DATASET[table] != dataset:
            continue
        rows = 1 if table == "people" else rng.randint(0, 30)
        fresh = arrow(table, Nasty(rng).unit(table, unit, rows))
        name = f"other_{table}"
        engine.connection.register("incoming", fresh)
        engine.connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM incoming')
        engine.connection.unregister("incoming")
        kept = f'SELECT * FROM "{table}" WHERE "{column}" IS DISTINCT FROM {unit}'
        places[f"{dataset}.{table}"] = f'({kept} UNION ALL SELECT * FROM "{name}")'
    return engine.beside(places)


class NoLedger:
    """As much of a ledger as holding tables needs: which versions of the data there are."""

    identity = "test"

    def __init__(self) -> None:
        self._versions = Versions()

    def version(self, group: str) -> DataVersion | None:
        return self._versions.latest(group)

    def begin_version(self, new: NewVersion, *, after: DataVersion | None) -> DataVersion:
        assert self.version(new.group) == after, "nobody else begins any"
        began = DataVersion(**asdict(new), number=self._versions.next_number(new))
        self._versions.enter(began)
        return began


def desk_of(catalog: Catalog, engine: Any) -> Any:
    """Return a desk at which nobody pays and nothing is drawn."""
    return SimpleNamespace(catalog=catalog, ledger=NoLedger(), engine=engine, rng=None)


@dataclass(frozen=True)
class Planned:
    """A question with its plan and generated SQL: everything but the rows."""

    sql: str
    proposed: Plan
    catalog: Catalog
    rendered: list[Sealed] = field(default_factory=list, compare=False)

    @property
    def plan(self) -> Plan:
        """Return the plan, with the mechanisms that were admitted once it has been sealed."""
        if not self.rendered:
            return self.proposed
        return replace(self.proposed, mechanisms=self.rendered[0].mechanisms)

    @property
    def question(self) -> Question:
        return self.proposed.question

    def sealed(self, engine: Any) -> Sealed:
        if not self.rendered:
            self.rendered.append(seal(self.proposed, self.catalog, engine))
        return self.rendered[0]

    def exact(self, engine: Any) -> Any:
        sealed = self.sealed(engine)
        with hold(self.question.statement.source, desk_of(self.catalog, engine)) as held:
            return exact_of(self.question, sealed, paid(held))


SNAPSHOTS = dict.fromkeys(UNIT, "1")


def exact_of(question: Question, sealed: Sealed, reader: PaidReader) -> Any:
    """Return the exact results of sealed reads, which nobody but a test may see."""
    return exact(
        sealed.reads,
        sealed.mechanisms,
        tuple(key.domain for key in question.statement.keys),
        question.groups if isinstance(question.groups, PublicGroups) else None,
        reader,
    )


def planned(
    sql: str,
    catalog: Catalog,
    *,
    epsilon: str = "1",
    max_rows: int | None = None,
    on: type[MemoryEngine] = MemoryEngine,
) -> Planned:
    """Return the plan of a question for one kind of engine; refusals pass through."""
    statement = bind(sql, catalog, max_rows=max_rows)
    question = ask(statement, catalog, SNAPSHOTS)
    delta = catalog.budget_of(question.dataset).delta
    plan = make_plan(question, epsilon=Epsilon.of(epsilon), budget_delta=Delta(delta.value))
    found = Planned(sql, plan, catalog)
    found.sealed(_empty(on))
    return found


@functools.cache
def _empty(on: type[MemoryEngine]) -> MemoryEngine:
    """Return an engine without rows: the SQL depends on the types of columns only."""
    return on({name: arrow(name, []) for name in TABLES})


@dataclass(frozen=True)
class Change:
    """How far two exact results are apart."""

    l1: dict[str, int]
    l2_squared: dict[str, int]
    coordinates: int
    lonely: tuple[int, ...]
    utilities: dict[str, Fraction]

    @property
    def nothing(self) -> bool:
        return not any(self.l1.values()) and not any(self.utilities.values()) and not self.lonely


def change(plan: Plan, first: Any, second: Any) -> Change:
    """Return the change of every measure and of every utility between two exact results."""
    groups = list(dict.fromkeys([*first.groups, *second.groups]))
    one, two = _by_group(first), _by_group(second)
    l1, l2, moved = {}, {}, set()
    for name, _ in plan.question.measured.measures:
        total = squares = 0
        for group in groups:
            zero = dict.fromkeys(first.measures, 0)
            gap = one.get(group, zero)[name] - two.get(group, zero)[name]
            total, squares = total + abs(gap), squares + gap * gap
            if gap:
                moved.add(group)
        l1[name], l2[name] = total, squares
    return Change(l1, l2, len(moved), _lonely(plan, one, two), _utilities(plan, first, second))


def _by_group(exact: Any) -> dict[Any, dict[str, int]]:
    return {
        group: {name: values[i] for name, values in exact.measures.items()}
        for i, group in enumerate(exact.groups)
    }


def _lonely(plan: Plan, one: dict[Any, Any], two: dict[Any, Any]) -> tuple[int, ...]:
    """Return the counts in the groups that only one of the neighbours has."""
    units = plan.question.measured.units
    if units is None:
        return ()
    found = [one[g][units] for g in one if g not in two]
    found += [two[g][units] for g in two if g not in one]
    return tuple(sorted(found))


@functools.lru_cache(maxsize=4096)
def risk(law: Any, threshold: int, units: int) -> Fraction:
    """Return an upper bound of the chance that a group of `units` units appears."""
    return appearance_bounds((law), threshold, units=units)[1]


def _utilities(plan: Plan, first: Any, second: Any) -> dict[str, Fraction]:
    found = {}
    for name, selection in plan.mechanisms.selections.items():
        one = dict(zip(first.groups, first.histograms[name], strict=True))
        two = dict(zip(second.groups, second.histograms[name], strict=True))
        empty = np.zeros(selection.bins, dtype=np.int64)
        total = Fraction(0)
        for group in {*one, *two}:
            sides = (side.get(group, empty) for side in (one, two))
            gap = np.subtract(*(rank_utilities(side, selection.quantile) for side in sides))
            total += Fraction(int(np.abs(gap).max()), selection.quantile.denominator)
        found[name] = total
    return found


def violations(plan: Plan, moved: Change) -> list[str]:
    """Return every way in which a change is larger than what was declared."""
    stability, measured = plan.question.stability, plan.question.measured
    found = []
    for name, measure in measured.measures:
        if moved.l1[name] > stability.l1(measure.bound):
            found.append(
                f"{measure.kind.value}: l1 {moved.l1[name]} > {stability.l1(measure.bound)}"
            )
        if moved.l2_squared[name] > stability.l2_squared(measure.bound):
            found.append(
                f"{measure.kind.value}: l2 squared {moved.l2_squared[name]} > "
                f"{stability.l2_squared(measure.bound)}"
            )
    if moved.coordinates > stability.coordinates:
        found.append(f"{moved.coordinates} groups > {stability.coordinates}")
    if measured.units is not None and plan.mechanisms.threshold is not None:
        law, threshold = plan.mechanisms.laws[measured.units], plan.mechanisms.threshold
        chance = sum((risk(law, threshold, count) for count in moved.lonely), Fraction(0))
        if chance > plan.delta.value / 2:
            found.append(f"groups of one unit {moved.lonely} appear with chance {float(chance)}")
    for name, total in moved.utilities.items():
        if total > plan.mechanisms.selections[name].sensitivity:
            found.append(f"utility {total} > {plan.mechanisms.selections[name].sensitivity}")
    return found


__all__ = [
    "BIG",
    "DATASET",
    "REALS",
    "SCHEMAS",
    "SNAPSHOTS",
    "TABLES",
    "UNIT",
    "Change",
    "MemoryEngine",
    "Nasty",
    "Planned",
    "arrow",
    "catalog_of",
    "change",
    "planned",
    "replaced",
    "violations",
    "without",
    "world_rows",
]
