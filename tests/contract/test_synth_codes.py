"""The codes of a table and their marginals are the same on every engine."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pyarrow.parquet as pq
import pytest

from copying import MemoryEngine, catalog_of, people, visits
from curator_kit import desk_of
from discreet.ask.release.snapshots import hold
from discreet.data.engines.connect import connect
from discreet.measure import sealing
from discreet.measure.columns import Bins, Coded, RangeToLearn, outline_of
from discreet.measure.learned_domains import LearningContext, learn
from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.sealing import seal_codes, store_codes
from discreet.privacy.noise.rng import SystemRng
from engines import ENGINES, LIMITS, SPARK, fill_postgres, postgres_url
from permits import paid
from town_source import town_source

TOWN = town_source()
TABLES = {"town.people": people(600), "clinic.visits": visits(120)}


@pytest.fixture(scope="module", params=ENGINES)
def engine(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("codes")
    names = {name: name.split(".")[1] for name in TABLES}
    if request.param == "postgres":
        fill_postgres(postgres_url(), {names[name]: table for name, table in TABLES.items()})
        sources = {name: f"town.{table}" for name, table in names.items()}
        found = connect(postgres_url(), sources, base=folder, limits=LIMITS)
    else:
        for name, table in TABLES.items():
            pq.write_table(table, folder / f"{names[name]}.parquet")
        url = {"duckdb": "duckdb:", "spark": SPARK}[request.param]
        sources = {name: f"{table}.parquet" for name, table in names.items()}
        found = connect(url, sources, base=folder, limits=LIMITS)
    yield found
    found.close()


def marginals(engine, base, table, *, every=False):
    catalog = catalog_of(base)
    outline = outline_of(catalog, table, bins=Bins.AUTO, has_delta=False)
    columns = [item for item in outline.items if isinstance(item, Coded)]
    columns = [_odd_bins(column) for column in columns]
    codes = seal_codes(outline.scan, engine, columns)
    # Grouping costs Spark seconds each; fetching compares every column at once.
    wanted = [(), (0,), (0, 1)]
    if every:
        wanted += itertools.combinations(range(len(columns)), 2)
    with hold(outline.scan, desk_of(catalog, engine)) as held:
        return store_codes(paid(held), codes).marginals(wanted)


def _odd_bins(column):
    """Return the column with bins of several widths, as learned ones have."""
    if column.edges is None or len(column.edges) < 8:
        return column
    kept = (*column.edges[:3], *column.edges[3::2])
    return Coded(column.name, column.domain, kept, column.missing, open_ends=True)


@pytest.mark.parametrize("table", ["people", "visits"])
@pytest.mark.slow_on_spark
def test_codes_and_marginals_are_the_same_everywhere(engine, table, tmp_path):
    expected = marginals(MemoryEngine(TABLES), tmp_path, table)
    found = marginals(engine, tmp_path, table)
    for one, two in zip(found, expected, strict=True):
        assert (one == two).all()
    assert expected[0] == {"people": 600, "visits": 240}[table]


def test_codes_that_are_fetched_are_counted_the_same(engine, tmp_path, monkeypatch):
    expected = marginals(MemoryEngine(TABLES), tmp_path, "people", every=True)
    monkeypatch.setattr(sealing, "MANY", 2)
    found = marginals(engine, tmp_path, "people", every=True)
    for one, two in zip(found, expected, strict=True):
        assert (one == two).all()


@pytest.mark.slow_on_spark
def test_learning_sees_the_same_rows_everywhere(engine, tmp_path):
    catalog = catalog_of(tmp_path)
    outline = outline_of(catalog, "people", bins=Bins.QUANTILE, has_delta=True)
    # Next to no noise: the same ranges, the same words.
    rich = MarginalBudget(Fraction(1000), concentrated=True)
    found = []
    for each in (engine, MemoryEngine(TABLES)):
        with hold(outline.scan, desk_of(catalog, each)) as held:
            context = LearningContext(each, paid(held), rich, Fraction(1, 10**6), TOWN, SystemRng())
            found.append(learn(outline, context, lambda _: None).encoding)
    assert found[0] == found[1]
    assert [item.name for item in outline.items if isinstance(item, RangeToLearn)]
    assert {c.name for c in found[0].coded} >= {"income", "born", "job"}
