"""Test 4: questions that make databases fail say nothing about rows, on any engine.

Every column holds a canary in one person's rows. D has that person, D' has not. Outcome, shape and
charge must be the same on both, and no byte of a canary may come out anywhere.
"""

from __future__ import annotations

import itertools
import random
import traceback

import pyarrow.parquet as pq
import pytest

from curator_kit import MemoryEngine, arrow, catalog_of, world_rows
from discreet.curator import Curator
from discreet.errors import DiscreetError
from discreet.testing import SeededRng
from engines import ENGINES, fill_postgres, postgres_url
from sittings import FULL

TEXT = "CANARY-7351"
NUMBER = 7351735173517351
BYTES = (TEXT, str(NUMBER), "7351", "735173")

FORMS = (
    "CAST({x} AS INTEGER)",
    "CAST({x} AS BIGINT)",
    "CAST({x} AS SMALLINT)",
    "CAST({x} AS DOUBLE)",
    "CAST({x} AS DECIMAL(3, 1))",
    "CAST({x} AS DATE)",
    "CAST({x} AS VARCHAR)",
    "CAST({x} AS BOOLEAN)",
    "{x}::INTEGER",
    "1 / ({x} - 3)",
    "1 / {x}",
    "{x} / 0",
    "{x} % 0",
    "{x} // 0",
    "LN({x})",
    "LOG({x})",
    "SQRT({x})",
    "EXP({x})",
    "EXP({x} * 100000)",
    "POWER({x}, 64)",
    "POWER({x}, -1)",
    "POWER({x}, 0.5)",
    "{x} * {x} * {x} * {x} * {x}",
    "{x} + 9223372036854775807",
    "{x} * 9223372036854775807",
    "-{x} - 9223372036854775808",
    "ABS({x})",
    "ROUND({x}, 30)",
    "SUBSTRING({x}, -5, 3)",
    "LEFT({x}, -1)",
    "RIGHT({x}, 99999999999)",
    "EXTRACT(YEAR FROM {x})",
    "EXTRACT(EPOCH FROM {x})",
    "DATE_TRUNC('century', {x})",
    "{x} - DATE '0001-01-01'",
    "{x} + INTERVAL 9999 YEAR",
    "STRPTIME({x}, '%Y')",
    "JSON_EXTRACT({x}, '$')",
    "CAST({x} AS UUID)",
    "ERROR({x})",
    "CHR({x})",
    "REPEAT({x}, 999999999)",
    "{x}[0]",
    "CASE WHEN {x} = 3 THEN 1 / 0 ELSE 1 END",
    "COALESCE({x}, 'x')",
    "{x} = 'x'",
    "{x} > 3",
    "{x} LIKE '%7351%'",
    "GREATEST({x}, 7)",
    "LENGTH({x})",
    "LOWER({x})",
)
COLUMNS = ("age", "sex", "income", "balance", "score", "born", "married", "town", "badge", "note")
SHAPES = (
    "SELECT SUM({e}) AS a FROM people",
    "SELECT COUNT(*) AS a FROM people WHERE {e} = 1",
    "SELECT COUNT({e}) AS a FROM people",
    "SELECT MAX({e}) AS a FROM people",
)
ACCEPTED = (
    "SELECT sex, COUNT(*), SUM(balance), AVG(income), MEDIAN(age) FROM people GROUP BY sex",
    "SELECT SUM(LN(COUNT(*))) FROM people",
    "SELECT LN(COUNT(*) - 100), SQRT(-COUNT(*)), 1 / (COUNT(*) - COUNT(*)) FROM people",
    "SELECT EXP(SUM(balance)), POWER(SUM(income), 64), POWER(AVG(income), 64) FROM people",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING 1 / COUNT(*) > 0 ORDER BY LN(COUNT(*))",
    "SELECT COUNT(*), MIN(born), MAX(born) FROM people WHERE born > '2021-01-01'",
    "SELECT COUNT(*) FROM people WHERE LN(age - 50) > 0 AND 1 / (age - 3) > 0",
    "SELECT SUM(CAST(zip AS INTEGER)), SUM(CAST(sex AS VARCHAR) = 'x') FROM people",
    "SELECT CAST(COUNT(*) AS VARCHAR), UPPER(sex) FROM people GROUP BY 2",
    "SELECT ward, COUNT(DISTINCT person), SUM(cost) FROM visits GROUP BY ward",
    "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS s",
    "SELECT p.sex, SUM(v.code) FROM patients p JOIN visits v ON p.person = v.person GROUP BY 1",
    "SELECT EXTRACT(MONTH FROM day), STDDEV(cost) FROM visits GROUP BY 1",
)


def statements(count: int) -> list[str]:
    combined = [
        shape.format(e=form.format(x=column))
        for form, column, shape in itertools.product(FORMS, COLUMNS, SHAPES)
    ]
    random.Random(4).shuffle(combined)
    return [*ACCEPTED, *combined[: max(count - len(ACCEPTED), 0)]]


def canaries() -> dict[str, list[dict]]:
    """Return a world in which unit 5 carries canaries wherever there is room for one."""
    rows = world_rows(random.Random(4), 9)
    for row in rows["people"]:
        if row["row_number"] == 5:
            row.update(dict.fromkeys(("sex", "zip", "score", "town", "badge", "note"), TEXT))
            row.update(age=NUMBER, balance=NUMBER, income=float(NUMBER))
    for row in rows["visits"]:
        if row["person"] == 5:
            row.update(dict.fromkeys(("ward", "day", "reason"), TEXT), code=NUMBER)
            row.update(cost=float(NUMBER))
    for row in rows["patients"]:
        if row["person"] == 5:
            row.update(sex=TEXT, age=NUMBER, weight=float(NUMBER))
    return rows


def without_canaries(rows: dict[str, list[dict]]) -> dict[str, list[dict]]:
    key = {"people": "row_number", "visits": "person", "patients": "person"}
    return {
        table: [row for row in found if table not in key or row[key[table]] != 5]
        for table, found in rows.items()
    }


def place(kind: str, rows, folder):
    """Return a curator over these rows on this kind of engine."""
    tables = {name: arrow(name, found) for name, found in rows.items()}
    folder.mkdir()
    sources = None
    url = {"duckdb": "duckdb:", "memory": "duckdb:", "spark": "spark://local[2]"}.get(kind)
    if kind == "postgres":
        fill_postgres(postgres_url(), tables)
        url, sources = postgres_url(), {name: f"town.{name}" for name in tables}
    else:
        for name, table in tables.items():
            pq.write_table(table, folder / f"{name}.parquet")
    catalog = catalog_of(folder, engine=url, sources=sources)
    engine = MemoryEngine(tables, hide=True) if kind == "memory" else None
    return Curator(catalog, engine=engine, rng=SeededRng(4))


def outcomes(curator: Curator, sqls: list[str]) -> tuple[list[tuple], str]:
    """Return what each question ended in (kind, shape, charge), and everything that was said."""
    found, said = [], []
    for i, sql in enumerate(sqls):
        try:
            answer = curator.query(sql, epsilon="0.5", request_id=f"r{i}", fresh=True)
        except DiscreetError as error:
            found.append((error.kind, error.message, error.hint))
            said.append("".join(traceback.format_exception(error)))
            continue
        public = all(len(row) == len(answer.columns) for row in answer.rows)
        found.append((answer.columns, len(answer.rows), public, str(answer.cost)))
        # What the analyst wrote comes back with the generated SQL; it is not a cell.
        shown = answer.to_json()
        shown["provenance"]["sql"] = []
        shown["columns"] = []
        said.append(repr(shown["rows"] and [type(c) for r in shown["rows"] for c in r]))
        said.append(repr({**shown, "rows": [], "error95": [], "intervals": []}))
    said.append(repr(curator.budget_report()))
    return found, "\n".join(said)


def check(kind: str, count: int, folder, capfd) -> None:
    rows = canaries()
    sqls = [sql for sql in statements(count) if "7351" not in sql]
    results = []
    for name, content in (("with", rows), ("without", without_canaries(rows))):
        with place(kind, content, folder / name) as curator:
            found, said = outcomes(curator, sqls)
        heard = capfd.readouterr()
        for canary in BYTES[:2]:
            assert canary not in said
            assert canary not in heard.out + heard.err
        results.append(found)
    for sql, one, two in zip(sqls, *results, strict=True):
        assert one == two, sql
    kinds = [one[0] for one in results[0]]
    assert kinds.count("EngineFailed") == 0, "a failure that rows can cause is an oracle"
    answered = [one for one in results[0] if isinstance(one[0], tuple)]
    assert len(answered) > len(sqls) / 20, "nearly everything is refused: nothing was tested"


def test_errors_in_this_process(tmp_path, capfd, record_property):
    count = 110 if FULL else 30
    check("memory", count, tmp_path, capfd)
    record_property("error-inducing questions, 0 canaries", count)


def test_errors_on_duckdb(tmp_path, capfd, record_property):
    count = 30 if FULL else 15
    check("duckdb", count, tmp_path, capfd)
    record_property("of them in an engine process", count)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_errors_on_duckdb_in_full(tmp_path, capfd):
    check("duckdb", 330, tmp_path, capfd)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ENGINES[1:])
@pytest.mark.slow_on_spark
def test_errors_on_other_engines(kind, tmp_path, capfd):
    check(kind, 330 if FULL else 20, tmp_path, capfd)


def test_an_engine_that_lets_an_error_through_is_caught(tmp_path, capfd, monkeypatch):
    """The broken twin: the error of the database, with the cell in it, as the answer."""
    real = MemoryEngine._run

    def leaking(self, sql, *, seconds=None):
        if "SUM" in sql and "people" in sql:
            self.connection.execute(
                f"SELECT CAST(note AS INTEGER) FROM people WHERE note = '{TEXT}'"
            ).fetchall()
        return real(self, sql, seconds=seconds)

    monkeypatch.setattr(MemoryEngine, "_run", leaking)
    with pytest.raises(Exception, match=TEXT):
        check("memory", 20, tmp_path, capfd)
