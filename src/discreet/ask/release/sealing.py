"""A plan to reads that may run: rendered, judged by the kernel, and priced by what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from discreet.ask.plan.ir import Relation, scans_of
from discreet.ask.plan.plan import Plan
from discreet.ask.sql.refuse import refusal, too_large
from discreet.ask.sql.write.statement import render
from discreet.base.event import Quote, Region
from discreet.base.schema import Dataset, Table
from discreet.data.catalog.axes import axis_name, home
from discreet.data.catalog.catalog import Catalog, engine_name
from discreet.data.engines.base import Engine
from discreet.privacy.account.price import price
from discreet.privacy.kernel.canonical import (
    CatalogScans,
    Declared,
    canonical_select,
    column_types,
    dataset_of,
    ranked_select,
    region_of,
)
from discreet.privacy.kernel.functions import TooLong
from discreet.privacy.kernel.mechanism import Mechanisms
from discreet.privacy.kernel.nodes import SelectNode, TooWide, Unfit
from discreet.privacy.kernel.seal import Read, admit, parse, sealed


@dataclass(frozen=True, slots=True)
class Sealed:
    """What may run, with the mechanisms and the region that the kernel derived from it."""

    reads: tuple[Read, ...]
    mechanisms: Mechanisms
    region: Region

    def quote(self, plan: Plan) -> Quote:
        """Return the price: of the derived event on the derived region."""
        found = price(
            self.mechanisms.event, epsilon=plan.epsilon, delta=plan.delta, region=self.region
        )
        if found.cost.epsilon is not None and found.cost.epsilon > plan.epsilon.value:
            raise Unfit("the noise that was planned is too small for the SQL that was written")
        return found


def seal(plan: Plan, catalog: Catalog, engine: Engine) -> Sealed:
    """Return the sealed reads of a plan. An unfit plan is our own bug: nothing has been charged."""
    question = plan.question
    scans = declared_scans(_named_tables(question.statement.source, catalog), engine)
    dialect = engine.capabilities.dialect
    reads = []
    try:
        for draft in render(question, engine):
            tree = parse(draft.sql, dialect, engine.tree(draft.sql))
            reads.append(sealed(draft, tree, scans))
    except TooWide:
        raise refusal("too wide") from None
    except TooLong as found:
        raise refusal("long text", what=f"{found.letters:,}") from None
    except RecursionError:
        # How deeply a question is nested is its own affair, and public.
        raise too_large() from None
    mechanisms = admit(plan.mechanisms, tuple(reads))
    billed = {
        region_of(
            read.facts, scans.tables, axes_of(question.snapshots), homes_of(question.snapshots)
        )
        for read in reads
    }
    datasets = {dataset_of(read.facts, scans.tables).name for read in reads}
    if len(billed) != 1 or datasets != {question.dataset.name}:
        raise Unfit("the reads of one statement are about different people")
    return Sealed(tuple(reads), mechanisms, billed.pop())


def _named_tables(source: Relation, catalog: Catalog) -> list[tuple[Dataset, Table]]:
    """Return the catalog's own tables that a plan names; what else the plan says of them is not read."""
    found = []
    for scan in scans_of(source):
        assert scan.dataset is not None, "every table belongs to a dataset"
        dataset = catalog.dataset(scan.dataset.name)
        found.append((dataset, catalog.table(scan.table.name, dataset.name)))
    return found


def declared_scans(tables: Iterable[tuple[Dataset, Table]], engine: Engine) -> CatalogScans:
    """Return what the kernel must know of these tables of the catalog."""
    found = {}
    for dataset, table in tables:
        view = None
        if not (engine.capabilities.canonical or table.copied):
            view = cache(_view(dataset, table, engine))
        found[engine_name(dataset, table)] = Declared(dataset, table, view)
    return CatalogScans(found)


def _view(
    dataset: Dataset, table: Table, engine: Engine
) -> Callable[[tuple[int, ...], bool], SelectNode]:
    def tree(places: tuple[int, ...], ranked: bool) -> SelectNode:
        dialect = engine.capabilities.dialect
        relation = engine.relation(engine_name(dataset, table))
        types, whole = column_types(dataset, table, engine)
        if ranked:
            sql = ranked_select(table, types, dialect, relation, whole=whole)
        else:
            sql = canonical_select(table, places, types, dialect, relation, whole=whole)
        return parse(sql, dialect, engine.tree(sql))

    return tree


def axes_of(snapshots: Mapping[str, str]) -> Callable[[Dataset, Table, int], str | None]:
    """Return what names the axis of a table's column, by its place, in these snapshots."""

    def axis(dataset: Dataset, table: Table, place: int) -> str | None:
        column = table.columns[place].by_day()
        return axis_name(dataset, table, column, snapshots.get(table.name, ""))

    return axis


def homes_of(snapshots: Mapping[str, str]) -> Callable[[Dataset, Table], Region]:
    """Return what names the region of all releases of a table in these snapshots."""
    return lambda dataset, table: home(dataset, table, snapshots.get(table.name, ""))
