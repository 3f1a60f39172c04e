"""Parts of dates, differences and truncation mean what the installed DuckDB means by the same text.

Random days and moments, half of them near the end of a year, a week, a leap day or 1970, in both orders. What
engines compute of the plan is compared with the plan in test_expressions.py.
"""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import duckdb
import pytest

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.ir import CLOCK
from discreet.ask.sql import dates
from discreet.ask.sql.bind import bind
from discreet.base.schema import SECONDS
from discreet.data.catalog.policy_file import loads
from discreet.errors import DiscreetError

FIRST, LAST = dt.date(1890, 1, 1), dt.date(2110, 12, 31)
NARROW = dt.date(2019, 12, 1), dt.date(2020, 12, 31)
EDGES = [(1970, 1, 1), (1969, 12, 29), (1899, 12, 31), (1900, 2, 28), (2000, 2, 29), (2020, 12, 31)]
EDGES += [(2015, 12, 28), (2016, 1, 3), (2020, 12, 28), (2021, 1, 3), (2026, 12, 28), (2024, 2, 29)]
NAMES = ("d", "f", "ts", "met", "k", "kt")
PAIRS = 400


def toml() -> str:
    def column(name: str) -> str:
        low, high = NARROW if name in {"k", "kt"} else (FIRST, LAST)
        if name in {"d", "f", "k"}:
            return f'{name} = {{ type = "date", lower = {low}, upper = {high} }}'
        return f'{name} = {{ type = "timestamp", lower = {low}T00:00:00, upper = {high}T23:59:59 }}'

    head = "[datasets.s]\nepsilon = 10\n[datasets.s.tables.t]\nsource = 't'\nunit = 'row'\n"
    return "\n".join([head, "[datasets.s.tables.t.columns]", *map(column, NAMES)])


DIFFERENCES = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
PARTS = ("year", "quarter", "month", "week", "day", "dayofweek", "dow", "isodow", "weekday")
PARTS += ("dayofyear", "doy", "epoch")
OF_TIME = ("hour", "minute", "second")
CUT = ("year", "quarter", "month", "week", "day")
SIDES = [("d", "f"), ("ts", "met"), ("d", "met"), ("ts", "f"), ("DATE '1999-12-31'", "ts")]
SIDES += [("f", "TIMESTAMP '2001-01-01 12:30:59'"), ("k", "kt"), ("kt", "k")]

WHOLE = [f"DATE_DIFF('{unit}', {a}, {b})" for unit in DIFFERENCES for a, b in SIDES]
WHOLE += [f"DATEDIFF('{unit}s', {a}, {b})" for unit in DIFFERENCES for a, b in SIDES[:2]]
WHOLE += [f"DATE_PART('{part}', {x})" for part in PARTS for x in ("d", "ts")]
WHOLE += [f"EXTRACT({part} FROM {x})" for part in PARTS for x in ("k", "kt - INTERVAL 7 DAY")]
WHOLE += [f"DATE_PART('{part}', {x})" for part in OF_TIME for x in ("ts", "met + INTERVAL 1 DAY")]
WHOLE += [f"{name}(d)" for name in ("YEAR", "QUARTER", "MONTH", "DAY", "DAYOFMONTH", "DAYOFWEEK")]
WHOLE += [
    f"{name}(ts)" for name in ("DAYOFYEAR", "WEEK", "WEEKOFYEAR", "ISODOW", "EPOCH", "SECOND")
]
WHOLE += ["d - f", "EXTRACT(epoch FROM met - ts)", "EPOCH(DATE_TRUNC('hour', ts))"]
CUT_DAYS = [f"DATE_TRUNC('{part}', {x})" for part in CUT for x in ("k", "kt")] + ["LAST_DAY(k)"]
MOMENTS = [f"DATE_TRUNC('{part}', {x})" for part in OF_TIME for x in ("ts", "met")]
MOMENTS += ["TIME_BUCKET(INTERVAL '15 minutes', ts)", "ts - INTERVAL 90 MINUTE"]


def a_day(rng: random.Random, low: dt.date, high: dt.date) -> dt.date:
    """Return any day, or one near an edge."""
    edge = dt.date(*rng.choice(EDGES)) + dt.timedelta(days=rng.randint(-9, 9))
    if rng.random() < 0.5 and low <= edge <= high:
        return edge
    return low + dt.timedelta(days=rng.randint(0, (high - low).days))


def a_row(rng: random.Random) -> dict[str, dt.date]:
    row: dict[str, dt.date] = {}
    for name in NAMES:
        low, high = NARROW if name in {"k", "kt"} else (FIRST, LAST)
        day = a_day(rng, low, high)
        if name in {"f", "met"} and rng.random() < 0.5:  # a short span, in either direction
            near = row["d" if name == "f" else "ts"] + dt.timedelta(days=rng.randint(-16, 16))
            near = near.date() if isinstance(near, dt.datetime) else near
            day = min(max(near, low), high)
        if name in {"ts", "met", "kt"}:
            second = rng.choice([0, SECONDS - 1, rng.randrange(SECONDS)])
            row[name] = dt.datetime.combine(day, dt.time()) + dt.timedelta(seconds=second)
        else:
            row[name] = day
    return row


def disagreements(texts: list[str], rows: list[dict[str, dt.date]]) -> list[str]:
    """Return where the plan of a text gives something else than DuckDB does."""
    catalog, broken = loads(toml(), base=Path(), name="discreet.toml"), []
    kinds = {name: "TIMESTAMP" if name in {"ts", "met", "kt"} else "DATE" for name in NAMES}
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE t ({', '.join(f'{n} {k}' for n, k in kinds.items())})")
        database.executemany("INSERT INTO t VALUES (?,?,?,?,?,?)", [list(r.values()) for r in rows])
        for text in texts:
            try:
                statement = bind(f"SELECT {text}, COUNT(*) FROM t GROUP BY 1", catalog)
            except DiscreetError as error:
                broken.append(f"{text} is refused: {error}")
                continue
            operand = statement.keys[0].value
            scan = [f.name for f in statement.source.fields if not f.name.endswith(CLOCK)]
            wanted = [value for (value,) in database.execute(f"SELECT {text} FROM t").fetchall()]
            for row, want in zip(rows, wanted, strict=True):
                found = evaluate(operand, given(dict(zip(scan, row.values(), strict=True))))
                if not same(found, want):
                    broken.append(f"{text} is {found}, {want} in DuckDB: {row}")
                    break
    return broken


def given(row: dict[str, dt.date]) -> dict[str, object]:
    """Return a row as the plan reads it: the day of a moment, and beside it the second."""
    found: dict[str, object] = {}
    for name, value in row.items():
        found[name] = value.date() if isinstance(value, dt.datetime) else value
        if isinstance(value, dt.datetime):
            midnight = dt.datetime.combine(value.date(), dt.time())
            found[f"{name}{CLOCK}"] = int((value - midnight).total_seconds())
    return found


def same(found: object, want: object) -> bool:
    if isinstance(want, dt.timedelta):
        want = want.total_seconds()
    if isinstance(want, dt.datetime) != isinstance(found, dt.datetime):  # midnight is its day
        want = want.date() if isinstance(want, dt.datetime) and want.time() == dt.time() else want
    return found == want


@pytest.fixture(scope="module")
def rows() -> list[dict[str, dt.date]]:
    rng = random.Random(2107)
    return [a_row(rng) for _ in range(PAIRS)]


def test_whole_numbers_of_dates_are_those_of_duckdb(rows):
    assert disagreements(WHOLE, rows) == []


def test_days_and_moments_that_are_cut_are_those_of_duckdb(rows):
    assert disagreements(CUT_DAYS + MOMENTS, rows) == []


def test_weeks_that_are_rounded_down_are_found(rows, monkeypatch):
    """The broken twin: DuckDB rounds the weeks between two days towards 0."""

    def down(apart: e.Expr) -> e.Expr:
        return e.Arithmetic(e.Operator.FLOOR_DIVIDE, apart, e.Literal(7))

    monkeypatch.setattr(dates, "_whole_weeks", down)
    assert disagreements(["DATE_DIFF('week', d, f)"], rows)


def test_weeks_that_begin_on_mondays_are_found(rows, monkeypatch):
    """The broken twin: what `DATE_DIFF('week', ..)` was once."""

    def mondays(apart: e.Expr) -> e.Expr:
        assert isinstance(apart, e.Arithmetic)
        first = [e.Call("truncate_date", side, ("week",)) for side in (apart.left, apart.right)]
        between = e.Arithmetic(e.Operator.SUBTRACT, *first)
        return e.Arithmetic(e.Operator.FLOOR_DIVIDE, between, e.Literal(7))

    monkeypatch.setattr(dates, "_whole_weeks", mondays)
    assert disagreements(["DATE_DIFF('week', k, kt)"], rows)
