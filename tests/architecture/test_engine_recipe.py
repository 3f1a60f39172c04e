"""The recipe of an engine holds: one new folder, one row among the dialects and one among the kinds."""

import duckdb
import pytest

import discreet
from discreet.data.engines import connect
from discreet.data.engines.dialects import DIALECTS
from discreet.data.engines.functions import templates
from discreet.errors import CatalogError

TOY = '''"""A toy engine: CSV files that DuckDB reads in this process, with a dialect of its own."""
from dataclasses import replace

import duckdb

from discreet.data.engines.dialects import DUCKDB
from discreet.data.engines.connect import EngineKind
from discreet.testing import FakeEngine

DIALECT = replace(
    DUCKDB,
    name="toy",
    byte=None,
    enums=False,
    distinct=None,
    truth={"MIN": "BOOL_AND", "MAX": "BOOL_OR"},
    functions={**DUCKDB.functions, "sum_small": "CAST(SUM(CAST($0 AS BIGINT)) AS DECIMAL(38, 0))"},
)


def opened(given):
    database = duckdb.connect()
    for name, source in given.sources.items():
        database.execute(f'CREATE TABLE "{name}" AS FROM read_csv(?, all_varchar = true)', [str(given.base / source)])
    told = {
        name: {row[0]: row[1] for row in database.execute(f'DESCRIBE "{name}"').fetchall()}
        for name in given.sources
    }

    def answer(sql):
        ASKED.append(sql)
        return database.sql(sql).to_arrow_table()

    class Toy(FakeEngine):
        def materialise(self, name, sql):
            database.execute(f'CREATE OR REPLACE TABLE "{name}" AS {sql}')
            return super().materialise(name, sql)

    return Toy(told, dialect="toy", answers=answer)


ASKED = []
KIND = EngineKind(schemes=("toy",), dialect=DIALECT, opened=opened, files=True)
'''
TOWN = """
[engine]
url = "{url}"
[datasets.town]
epsilon = 10000000000
[datasets.town.tables.people]
source = "people.csv"
unit = "who"
max_rows = 2
[datasets.town.tables.people.columns]
age = {{ type = "integer", lower = 0, upper = 120 }}
sex = {{ type = "category", values = ["Female", "Male"] }}
income = {{ type = "number", lower = 0, upper = 1000, step = 0.5 }}
member = {{ type = "boolean" }}
born = {{ type = "date", lower = 1900-01-01, upper = 2030-12-31 }}
"""
QUESTIONS = [
    "SELECT sex, COUNT(*) AS n, SUM(income) AS s, AVG(age) AS a FROM people GROUP BY sex ORDER BY sex",
    "SELECT COUNT(*) AS n FROM people WHERE member AND born >= DATE '1990-01-01' AND age % 3 = 1",
    "SELECT COUNT(DISTINCT who) AS p, VARIANCE(income) AS v FROM people",
    "SELECT COUNT(*) AS n FROM (SELECT who, MAX(member) AS ever FROM people GROUP BY who) t WHERE ever",
]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Return a toy engine, whose two lines stand among the others'."""
    (tmp_path / "toy_kind.py").write_text(TOY)
    monkeypatch.syspath_prepend(str(tmp_path))
    import toy_kind

    monkeypatch.setitem(DIALECTS, "toy", toy_kind.DIALECT)
    monkeypatch.setattr(connect, "KINDS", [*connect.KINDS, toy_kind.KIND])
    yield toy_kind
    templates.cache_clear()


@pytest.fixture
def opened(tmp_path):
    """Return a function that opens the same people behind a URL, in a folder of its own."""
    rows = (
        "SELECT range % 150 AS who, range % 90 AS age, if(range % 3 = 0, 'Male', 'Female') AS sex, "
    )
    rows += "(range % 40) / 2 AS income, range % 7 = 0 AS member, DATE '1980-01-01' + CAST(range * 61 AS INTEGER) AS born"

    def open_(url):
        folder = tmp_path / url.partition(":")[0]
        folder.mkdir()
        duckdb.sql(f"COPY ({rows} FROM range(240)) TO '{folder / 'people.csv'}'")
        (folder / "discreet.toml").write_text(TOWN.format(url=url))
        return discreet.open(folder / "discreet.toml")

    return open_


def test_an_engine(toy, opened):
    """Planned, sealed, answered and copied as on an engine that everybody knows: no other file knows its name."""
    with opened("toy:") as new, opened("duckdb:") as known:
        for sql in QUESTIONS:
            here, there = (curator.query(sql, epsilon="1000000000") for curator in (new, known))
            assert here.rows == there.rows
            assert here.error95 == there.error95
            assert here.cost == there.cost
        assert toy.ASKED
        assert not any("ENUM" in sql or "UTINYINT" in sql for sql in toy.ASKED)
        copies = [
            curator.synthesize("people", method="independent", epsilon="1000", rows=50)
            for curator in (new, known)
        ]
        assert copies[0].table.schema == copies[1].table.schema


def test_an_engine_that_is_not_listed_is_refused(opened):
    """The twin: without its lines it is nobody's URL."""
    with pytest.raises(CatalogError, match="No engine goes by 'toy:'"), opened("toy:") as curator:
        curator.query(QUESTIONS[0], epsilon=1)
