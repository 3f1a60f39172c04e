"""The SQL of codes against a slow reference in Python, and the bound on a person's rows."""

import datetime as dt
from collections import Counter
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from copying import MemoryEngine, catalog_of, people, visits
from discreet.base.schema import CategoryDomain, IntegerDomain, NumberDomain
from discreet.data.engines.base import open_exact
from discreet.data.engines.guard import only_select
from discreet.measure.columns import Bins, Coded, binned, outline_of, scan_of
from discreet.measure.learned_domains import first_cells
from discreet.measure.private_marginals import CountSensitivity
from discreet.measure.sealing import cell_sql, codes_sql, seal_codes


def coded(catalog, engine, table="people"):
    found = outline_of(catalog, table, bins=Bins.AUTO, has_delta=False)
    return [item for item in found.items if isinstance(item, Coded)]


def run(engine, sql):
    only_select(sql, "duckdb")
    return [tuple(row.values()) for row in open_exact(engine.owner_reader().run(sql)).to_pylist()]


ODD = pa.table(
    {
        "id": [1, 2, 3, 4, 5],
        "sex": ["Male", " Male", None, "Female", "Male"],
        "age": [0, 120, 121, -1, None],
        "income": [1000.0, 1000.01, -0.001, float("nan"), 0.005],
        "born": [dt.date(1900, 1, 1), dt.date(2021, 1, 1), None, dt.date(2020, 12, 31), None],
        "seen": [dt.datetime(2024, 1, 1, 7)] * 5,
        "member": [True, False, None, True, False],
        "job": ["x"] * 5,
        "note": ["y"] * 5,
    }
)


def reference(column, value):
    """Return the code of one value, or None where the row is left out."""
    missing = column.values if column.missing else None
    if value is None or value != value:
        return missing
    domain = column.domain
    if isinstance(value, dt.datetime):
        place = (value.date() - domain.lower.date()).days
    elif isinstance(value, dt.date):
        place = (value - domain.lower).days
    elif isinstance(value, bool):
        place = int(value)
    elif isinstance(value, str):
        place = domain.position(value)
    else:
        exact = Fraction(str(value))
        if not domain.lower <= exact <= domain.upper:
            return missing
        step = getattr(domain, "step", Fraction(1))
        place = int((exact - domain.lower) / step + Fraction(1, 2))
    if place is None or not 0 <= place < column.positions:
        return missing
    codes = [c for c in range(column.values) if column.span(c)[0] <= place < column.span(c)[1]]
    return codes[0]


@pytest.mark.parametrize("table", [people(), ODD], ids=["plain", "odd"])
def test_codes_are_those_of_the_reference(table, tmp_path):
    catalog = catalog_of(tmp_path)
    engine = MemoryEngine({"town.people": table, "clinic.visits": visits()})
    columns = coded(catalog, engine)
    found = run(engine, codes_sql(scan_of(catalog, "people"), engine, columns))
    expected = []
    for row in table.to_pylist():
        codes = tuple(reference(column, row[column.name]) for column in columns)
        if None not in codes:
            expected.append(codes)
    assert Counter(found) == Counter(expected)
    assert found


def test_a_persons_rows_are_bounded(tmp_path):
    catalog = catalog_of(tmp_path)
    engine = MemoryEngine({"town.people": people(), "clinic.visits": visits(50)})
    scan = scan_of(catalog, "visits")
    columns = [Coded("ward", scan.table.column("ward").domain), Coded("cost", IntegerDomain(0, 99))]
    sealed = seal_codes(scan, engine, columns)
    assert sealed.unit == CountSensitivity(2)
    found = run(engine, sealed.sql)
    assert len(found) == 100  # three visits each, two of which count
    alone = MemoryEngine({"town.people": people(), "clinic.visits": visits(50).slice(0, 3)})
    own = run(alone, codes_sql(scan, alone, columns))
    assert not Counter(own) - Counter(found)  # which of them stay depends on the person alone


def test_a_row_that_lacks_a_complete_column_is_left_out_wherever_that_column_is_not_read(tmp_path):
    catalog = catalog_of(tmp_path, complete=True)
    costs = [None if i % 3 == 0 else i % 7 for i in range(150)]
    paid = visits(50).set_column(2, "cost", pa.array(costs))
    engine = MemoryEngine({"town.people": people(), "clinic.visits": paid})
    sexes = seal_codes(
        scan_of(catalog, "people"), engine, [Coded("sex", CategoryDomain(("Female", "Male")))]
    )
    ages = people()["age"]
    assert len(run(engine, sexes.sql)) == len(ages) - ages.null_count == 360
    wards = seal_codes(
        scan_of(catalog, "visits"), engine, [Coded("ward", CategoryDomain(("A", "B", "C")))]
    )
    assert wards.unit == CountSensitivity(2)
    assert len(run(engine, wards.sql)) == 100  # of each person's three visits one has no cost


EDGES = [
    (0,),
    (0, 250, 500, 750),
    (0, 3, 8, 13),
    (0, 1, 2, 3, 10, 20, 30, 100),
    (0, 7, 8, 900),
    first_cells(IntegerDomain(-1000, 1000)),
]


@pytest.mark.parametrize("edges", EDGES, ids=len)
def test_bins_in_sql_are_bins(edges):
    places = np.arange(-5, max(edges) + 50)
    sql = f"SELECT {cell_sql('p', edges, 'duckdb')} FROM (SELECT unnest($1) AS p)"
    connection = duckdb.connect()
    found = [row[0] for row in connection.execute(sql, [places.tolist()]).fetchall()]
    expected = np.maximum(np.searchsorted(np.array(edges), places, side="right") - 1, 0)
    assert found == expected.tolist()


def test_a_learned_number_may_have_coarser_steps(tmp_path):
    catalog = catalog_of(tmp_path)
    engine = MemoryEngine({"town.people": people(), "clinic.visits": visits()})
    domain = NumberDomain(Fraction(100), Fraction(900), Fraction(1))
    column = Coded("income", domain, (0, 300, 600), open_ends=True)
    found = run(engine, codes_sql(scan_of(catalog, "people"), engine, [column]))
    incomes = people()["income"].to_pylist()
    expected = [0 if x < 400 else 1 if x < 700 else 2 for x in incomes]
    assert Counter(code for (code,) in found) == Counter(expected)


def test_equal_bins_divide_instead_of_comparing():
    column = binned(Coded("x", IntegerDomain(0, 500_000)))
    assert cell_sql("p", column.edges, "duckdb").count("WHEN p") <= 2
