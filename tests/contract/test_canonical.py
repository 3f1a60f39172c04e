"""The canonical rows of hostile sources: on DuckDB stored, elsewhere a SELECT; the same everywhere."""

from __future__ import annotations

import random

import pyarrow.parquet as pq
import pytest

from curator_kit import TABLES, arrow, catalog_of, world_rows
from discreet.base.schema import CategoryDomain, DateDomain, IntegerDomain, NumberDomain
from discreet.data.engines.base import open_exact
from discreet.data.engines.connect import connect
from discreet.data.engines.dialects import quoted
from discreet.privacy.kernel.canonical import (
    CanonicalRecipe,
    canonical_select,
    ranked_select,
    stored_columns,
)
from engines import LIMITS, fill_postgres, postgres_url
from permits import paid

DUCKDB_AND_POSTGRES = ["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)]


def engine_over(kind, rows, folder, catalog):
    content = {name: arrow(name, found) for name, found in rows.items()}
    if kind == "postgres":
        fill_postgres(postgres_url(), content)
        sources = {name: f"town.{name.split('.')[1]}" for name in catalog.sources}
        return connect(postgres_url(), sources, base=folder, limits=LIMITS)
    for name, table in content.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return connect("duckdb:", catalog.sources, base=folder, limits=LIMITS)


def canonical_rows(engine, catalog, name):
    """Return the canonical rows of a table, with the rank where there are people."""
    table = catalog.table(name)
    dataset = catalog.dataset_of(table)
    full = f"{dataset.name}.{name}"
    with engine.hold({full: CanonicalRecipe(dataset, table)}) as held:
        person = table.unit is not None and table.unit.column is not None
        names = [f"c{i}" for i in stored_columns(table)] + (["u", "r"] if person else [])
        if engine.capabilities.canonical:
            relation = f"canon.{quoted(full)}"
        else:
            types = {column.lower(): kind for column, kind in engine.columns(full)}
            given = (types, engine.capabilities.dialect, engine.relation(full))
            if person:
                select = ranked_select(table, *given, whole=True)
            else:
                select = canonical_select(table, stored_columns(table), *given)
            relation = f"({select})"
        sql = f"SELECT {', '.join(f't.{n} AS {n}' for n in names)} FROM {relation} AS t"
        found = open_exact(paid(held).run(sql)).to_pylist()
    return sorted(([row[n] for n in names] for row in found), key=repr), names


@pytest.mark.parametrize("name", TABLES)
def test_the_same_rows_on_every_engine(tmp_path, name):
    catalog = catalog_of(tmp_path)
    rows = world_rows(random.Random(f"canon {name}"), units=25)
    found = []
    for kind in ("duckdb", "postgres"):
        engine = engine_over(kind, rows, tmp_path, catalog)
        try:
            found.append(canonical_rows(engine, catalog, name))
        finally:
            engine.close()
    assert found[0] == found[1]
    assert found[0][0]


test_the_same_rows_on_every_engine = pytest.mark.postgres(test_the_same_rows_on_every_engine)


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_in_its_domain(tmp_path, name):
    catalog = catalog_of(tmp_path)
    rows = world_rows(random.Random(f"domain {name}"), units=40)
    engine = engine_over("duckdb", rows, tmp_path, catalog)
    try:
        found, names = canonical_rows(engine, catalog, name)
    finally:
        engine.close()
    table = catalog.table(name)
    for i, column in stored_columns(table).items():
        place = names.index(f"c{i}")
        cells = [row[place] for row in found if row[place] is not None]
        assert all(inside(cell, column.by_day().domain) for cell in cells), column.name
        assert cells, "some cells are good ones"
        if column.constant:
            values = {}
            for row in found:
                values.setdefault(row[names.index("u")], set()).add(row[place])
            assert all(len(kinds) == 1 for kinds in values.values())


def inside(cell, domain):
    match domain:
        case IntegerDomain(lower=lower, upper=upper) | DateDomain(lower=lower, upper=upper):
            return lower <= cell <= upper
        case NumberDomain(lower=lower, upper=upper, step=step):
            return lower <= cell * step <= upper
        case CategoryDomain(values=values):
            return cell in values
        case _:
            return True


def test_ranks_count_the_rows_of_each_person_whatever_their_order(tmp_path):
    catalog = catalog_of(tmp_path)
    rows = world_rows(random.Random(5), units=30)
    seen = []
    for turn in range(2):
        if turn:
            rows["visits"].reverse()
        engine = engine_over("duckdb", rows, tmp_path, catalog)
        try:
            found, names = canonical_rows(engine, catalog, "visits")
        finally:
            engine.close()
        ranks = {}
        for row in found:
            ranks.setdefault(row[names.index("u")], []).append(row[names.index("r")])
        assert all(sorted(each) == list(range(1, len(each) + 1)) for each in ranks.values())
        seen.append(found)
    assert seen[0] == seen[1]
    assert None not in ranks


def test_what_was_left_out_is_counted_for_the_owner(tmp_path):
    catalog = catalog_of(tmp_path)
    rows = world_rows(random.Random(6), units=12)
    engine = engine_over("duckdb", rows, tmp_path, catalog)
    table, dataset = catalog.table("visits"), catalog.dataset("clinic")
    try:
        with engine.hold({"clinic.visits": CanonicalRecipe(dataset, table)}) as held:
            dropped = held.dropped["clinic.visits"]
    finally:
        engine.close()
    # Of the rows that are somebody's: the others are left out as a whole.
    codes = [row["code"] for row in rows["visits"] if row["person"] is not None]
    outside = [code for code in codes if code is not None and not 0 <= code <= 100000]
    assert dropped["rows"] == len(rows["visits"])
    assert dropped["without_unit"] == 2
    assert dropped["c4"] == len(outside) > 0


@pytest.mark.parametrize("table", ["patients", "people"])
def test_it_is_counted_whatever_kinds_of_columns_there_are(tmp_path, table):
    """Also where every column is constant for its person, and where rows are nobody's but their own."""
    catalog = catalog_of(tmp_path)
    rows = world_rows(random.Random(7), units=12)
    engine = engine_over("duckdb", rows, tmp_path, catalog)
    found = catalog.table(table)
    dataset = catalog.dataset_of(found)
    try:
        with engine.hold({f"{dataset.name}.{table}": CanonicalRecipe(dataset, found)}) as held:
            dropped = held.dropped[f"{dataset.name}.{table}"]
    finally:
        engine.close()
    place = [column.name for column in found.columns].index("sex")
    known = set(found.columns[place].domain.values)
    mine = [row for row in rows[table] if table == "people" or row["person"] is not None]
    wrong = [row for row in mine if row["sex"] is not None and row["sex"] not in known]
    assert (dropped["rows"], dropped[f"c{place}"]) == (len(rows[table]), len(wrong))
