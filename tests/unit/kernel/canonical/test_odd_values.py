"""Codes for "missing" and lonely extremes are doubts on every door, by one rule; ordinary columns are safe."""

from __future__ import annotations

import datetime as dt
import json
import random
from contextlib import closing
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.cli.app import run
from discreet.core.schema import Column, DateDomain, IntegerDomain, NumberDomain
from discreet.engine.base import open_exact
from discreet.engine.connect import connect
from discreet.kernel.canonical import losses
from discreet.kernel.canonical.odd_values import (
    ENDS,
    ColumnEnds,
    ends_of,
    ends_sql,
    odd_values,
)
from discreet.server.features.data.review.losses import draft_losses
from discreet.server.features.data.review.review import Review
from discreet.server.features.data.upload.limits import UploadBounds
from sittings import examples

DAY = dt.date.toordinal


def ends(values, *, days=False):
    """Return the ends of a column, the slow way."""
    whole = sorted(Fraction(value) for value in values)
    quartiles = tuple(whole[-(-part * len(whole) // 4) - 1] for part in (1, 3))
    distinct = sorted(set(whole))
    kept = sorted({*distinct[:ENDS], *distinct[-ENDS:]})
    return ColumnEnds(tuple((v, whole.count(v)) for v in kept), quartiles, days)


def odd(values, **more):
    """Return the values that are set aside, as they are shown."""
    return [words.split(" (")[0] for words in odd_values(ends(values, **more))]


AGES = [*range(18, 91)] * 3
COSTS = [*range(100, 42_085, 57), 42_085]
BORN = [DAY(dt.date(1934 + i % 70, 1 + i % 12, 1 + i % 28)) for i in range(500)]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([*AGES, -99], ["-99"]),
        ([*AGES, -1, -1, -9, -99, -999], ["-999", "-99", "-9", "-1"]),
        ([*AGES, 999], ["999"]),
        ([*AGES, *[99] * 40], ["99"]),
        ([*AGES, 999, 9999], ["9,999", "999"]),
        ([1, 2, 3, 4, 5] * 9 + [99], ["99"]),
        ([*COSTS, 987_654], ["987,654"]),
        ([*COSTS, 987_654, 987_654], ["987,654"]),
        ([*COSTS, 600_000, 987_654], ["987,654", "600,000"]),
        ([*COSTS, 987_000, 987_654], ["987,654", "987,000"]),
        ([*range(100)] * 9 + [200 * 1.12**i for i in range(20)], []),
        ([*COSTS, -500_000, -500_000], ["-500,000"]),
        ([*[0] * 90, 1, 2, 3, 40], ["40"]),
        (["0.5", "1.5", "2.5", "99.9"], ["99.9"]),
        ([-5, -3, 0, 4, -9], []),
        (AGES, []),
        ([*AGES, 91, 92, 93, 94, 95, 96, 97, 99], []),
        (COSTS, []),
        ([0, 1] * 30, []),
        ([7] * 5, []),
        ([1, 2, 3, 4, 5] * 9, []),
        ([*range(1900, 2025)], []),
        ([3], []),
    ],
)
def test_what_the_rule_says(values, said):
    assert odd(values) == said


def test_days():
    old, never = DAY(dt.date(1900, 1, 1)), DAY(dt.date(9999, 12, 31))
    assert odd([*BORN, old, never, never], days=True) == ["1900-01-01", "9999-12-31"]
    assert odd(BORN, days=True) == []
    assert odd([DAY(dt.date(1900, 1, 1)) + i for i in range(400)], days=True) == []


def test_ordinary_columns_are_safe_and_planted_values_are_not():
    dice = random.Random(20)
    for _ in range(examples(300)):
        low, width = dice.randint(0, 1000), dice.randint(8, 5000)
        values = [
            low + round(width * dice.betavariate(2, 2)) for _ in range(dice.randint(100, 800))
        ]
        span = max(values) - min(values)
        while str(max(values)).strip("9") == "" or odd(values):
            values.remove(max(values))  # a 99 by chance
        assert span
        code = dice.choice([-1, -9, -99, -999, 10**7 - 1])
        assert odd([*values, *[code] * dice.randint(1, 30)]) == [f"{code:,}"]
        alone = max(values) * dice.randint(20, 90) + 20 * span
        if str(alone).strip("9"):
            assert odd([*values, alone]) == [f"{alone:,}"]
            assert odd([*values, -alone, -alone]) == [f"{-alone:,}"]


KINDS = [
    (Column("x", IntegerDomain(-(10**6), 10**6), missing=True), pa.int64()),
    (Column("x", NumberDomain(Fraction(-5000), Fraction(5000), Fraction(1, 2))), pa.float64()),
    (Column("x", DateDomain(dt.date(1800, 1, 1), dt.date(9999, 12, 31))), pa.date32()),
]


@pytest.mark.parametrize(("column", "kind"), KINDS, ids=["integer", "number", "date"])
def test_the_engine_finds_the_same_ends(column, kind, tmp_path):
    dice = random.Random(str(kind))
    for number in range(examples(24)):
        count = dice.choice([1, 2, 5, 11, 12, 13, 60, 300])
        values = [round(dice.gauss(0, 40)) for _ in range(count)]
        if pa.types.is_date(kind):
            values = [DAY(dt.date(1970, 6, 1)) + value for value in values]
            cells = [dt.date.fromordinal(value) for value in values]
        elif pa.types.is_floating(kind):
            values = [Fraction(value, 2) for value in values]
            cells = [float(value) for value in values]
        else:
            cells = values
        place = tmp_path / f"{number}.parquet"
        pq.write_table(pa.table({"x": pa.array([*cells, None], kind)}), place)
        engine = connect("duckdb:", {"t": place.name}, base=tmp_path)
        cell = "CAST(s.x * 2 AS BIGINT)" if pa.types.is_floating(kind) else "s.x"
        sql = ends_sql(cell, f"{engine.relation('t')} AS s")
        found = ends_of(column, open_exact(engine.owner_reader().run(sql)).to_pylist())
        engine.close()
        assert found == ends(values, days=pa.types.is_date(kind))
        assert str(values[0]) not in repr(found)
    assert ends_of(column, []) is None


@pytest.fixture
def place(tmp_path, monkeypatch):
    dice = random.Random(3)
    lines = ["age,cost,sex,stars,born"]
    for i in range(600):
        age = -99 if i % 50 == 0 else dice.randint(18, 90)
        cost = 987_654 if i == 7 else dice.randint(10, 42_085)
        born = "1900-01-01" if i % 60 == 1 else f"19{dice.randint(34, 98)}-0{dice.randint(1, 9)}-11"
        lines.append(f"{age},{cost},{dice.choice('FM')},{dice.randint(1, 5)},{born}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ODD = {"age": "-99 (12 rows)", "cost": "987,654 (1 row)", "born": "1900-01-01 (10 rows)"}
PLAIN = {"sex", "stars"}
BOUNDS = {
    "age": {"type": "integer", "lower": -100, "upper": 100},
    "cost": {"type": "integer", "lower": 0, "upper": 1_000_000},
    "sex": {"type": "category", "values": ["F", "M"]},
    "stars": {"type": "integer", "lower": 1, "upper": 5},
    "born": {"type": "date", "lower": "1900-01-01", "upper": "1999-12-31"},
}


def by_review(place, _capsys):
    return discreet.review(accept_safe=True)["tables"]["people.people"]["columns"]


def by_command(place, capsys):
    capsys.readouterr()
    assert run(["review", "--accept", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["tables"]["people.people"]["columns"]


def by_page(place, _capsys):
    review = Review.model_validate({"unit": "row", "columns": BOUNDS})
    with closing(connect("duckdb:", {"t": "people.csv"}, base=place)) as engine:
        rows = open_exact(engine.owner_reader().run(f"SELECT * FROM {engine.relation('t')}"))
    pq.write_table(rows, place / "upload.parquet")
    bounds = UploadBounds(size=1 << 20)
    return draft_losses(place / "upload.parquet", review, bounds=bounds)["columns"]


DOORS = [by_review, by_command, by_page]


def judged(door, place, capsys):
    """Return whether a door doubts exactly the odd columns, and says why."""
    columns = {each["name"]: each for each in door(place, capsys)}
    return all(
        not columns[name]["safe"] and any(said in doubt for doubt in columns[name]["doubts"])
        for name, said in ODD.items()
    ) and all(columns[name]["safe"] for name in PLAIN)


@pytest.mark.parametrize("door", DOORS)
def test_odd_columns_are_doubts_on_every_door(door, place, capsys, monkeypatch):
    discreet.init("people.csv", epsilon=1, unit="row")
    before = (place / "discreet.toml").read_text()
    assert judged(door, place, capsys)
    if door is not by_page:
        assert (place / "discreet.toml").read_text().count("review = true }") == len(ODD)
    (place / "discreet.toml").write_text(before)
    monkeypatch.setattr(losses, "odd_values", lambda _: ())
    draft_losses.__globals__["_seen"].cache_clear()
    assert not judged(door, place, capsys), "the twin without the rule calls them safe"
    draft_losses.__globals__["_seen"].cache_clear()


@pytest.mark.parametrize("accept", [False, True])
def test_init_says_it_at_once(place, accept):
    steps = []
    found = discreet.init("people.csv", epsilon=1, unit="row", accept=accept, progress=steps.append)
    told = {name.removeprefix("people."): " ".join(words) for name, words in found["lost"].items()}
    assert told.keys() == ODD.keys()
    assert all(said in told[name] for name, said in ODD.items())
    assert steps == [
        "people.csv",
        *(f"people.{name} ({i} of 5)" for i, name in enumerate(BOUNDS, start=1)),
        "people: what would be lost",
        "",
    ]
