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
from discreet.base.schema import Column, DateDomain, IntegerDomain, NumberDomain
from discreet.cli.app import run
from discreet.data.engines.base import open_exact
from discreet.data.engines.connect import connect
from discreet.privacy.kernel import losses
from discreet.privacy.kernel.odd_values import ENDS, ColumnEnds, ends_of, ends_sql, odd_values
from discreet.server.features.data.proposal import draft_losses
from discreet.server.features.data.review import Review
from discreet.server.features.data.uploads import UploadBounds
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


ADULTS = [*range(18, 81)] * 9
DATES = [DAY(dt.date(1990, 1, 1)) + day * 13 for day in range(600)]
DOUBTED = {
    "ages with 997 and 998": ([*ADULTS, *[997, 998] * 15], {"997", "998"}),
    "ages with 997 to 999": ([*ADULTS, *[997, 998, 999] * 9], {"997", "998", "999"}),
    "ages with 777 and 888": ([*ADULTS, *[777, 888] * 9], {"777", "888"}),
    "ages with 97 to 99": ([*ADULTS, *[97, 98, 99] * 9], {"97", "98", "99"}),
    "ages with 77, 88, 99": ([*range(18, 61), *[77, 88, 99] * 9], {"77", "88", "99"}),
    "ages with -97 to -99": ([*ADULTS, *[-97, -98, -99] * 9], {"-97", "-98", "-99"}),
    "ages with -998 and -999": ([*ADULTS, *[-998, -999] * 9], {"-998", "-999"}),
    "codes at both ends": ([*ADULTS, *[-8, -9, 997, 998] * 9], {"-8", "-9", "997", "998"}),
    "9997 to 9999 above 500": ([*range(500), *[9997, 9998, 9999] * 9], {"9,997", "9,998", "9,999"}),
    "numbers of no family": ([*range(500), *[5000, 5003, 5010] * 9], {"5,000", "5,003", "5,010"}),
    "groups at both ends": (
        [*range(100), *[-901, -900, 950, 955] * 9],
        {"-901", "-900", "950", "955"},
    ),
    "Likert 1 to 4 with 7, 8, 9": ([*[1, 2, 3, 4] * 50, *[7, 8, 9] * 4], {"7", "8", "9"}),
    "Likert 1 to 5 with 8 and 9": ([*[1, 2, 3, 4, 5] * 50, *[8, 9] * 4], {"8", "9"}),
    "0 or 1 with 9": ([*[0, 1] * 90, *[9] * 7], {"9"}),
    "0 or 1 with 8 and 9": ([*[0, 1] * 90, *[8, 9] * 7], {"8", "9"}),
    "one debt": ([*range(10, 90_000, 151), -40_000], {"-40,000"}),
    "one smaller debt": ([*range(1218, 89_938, 151), -4000], {"-4,000"}),
    "two of them": ([*range(10, 90_000, 151), -40_000, -40_500], {"-40,500", "-40,000"}),
    "one far above": ([*range(10, 90_000, 151), 130_000], {"130,000"}),
    "one in a column of zeros": ([*[0] * 300, 987_654], {"987,654"}),
    "two in a column of zeros": ([*[0] * 300, 600_000, 987_654], {"600,000", "987,654"}),
    "one below a column of zeros": ([*[0] * 300, -987_654], {"-987,654"}),
    "one in a constant column": ([*[7] * 300, 987_654], {"987,654"}),
    "one zero in a constant column": ([*[5000] * 300, 0], {"0"}),
    "0 or 1 with one of 5,000": ([*[0, 1] * 150, 5000], {"5,000"}),
    "0 or 1 with one below": ([*[0, 1] * 150, -5000], {"-5,000"}),
    "1 or 2 with one below": ([*[1, 2] * 150, -5000], {"-5,000"}),
    "one or the other, and one far away": ([*[100, 110] * 99, 400], {"400"}),
    "both sides of a constant": ([*[70] * 300, 5000, -5000], {"-5,000", "5,000"}),
    "both sides of zeros": ([*[0] * 300, 5000, -5000], {"-5,000", "5,000"}),
    "both sides, one farther": ([*[0] * 300, 400, -300, -300], {"-300", "400"}),
    "both sides of 0 or 1": ([*[0, 1] * 150, 5000, -5000], {"-5,000", "5,000"}),
}
SAFE = {
    "ages": ADULTS,
    "ages up to 99": [*ADULTS, *range(81, 98), 99],
    "one of 97": [*range(18, 90), 97],
    "one of 88": [*range(18, 78), 88],
    "Likert 1 to 5": [1, 2, 3, 4, 5] * 40,
    "scale 1 to 7": [*range(1, 8)] * 40,
    "scale 1 to 9": [*range(1, 10)] * 40,
    "scale 0 to 10": [*range(11)] * 40,
    "0 or 1": [0, 1] * 40,
    "6 or 7": [6, 7] * 40,
    "one true among false": [*[0] * 300, 1],
    "one false among true": [*[1] * 300, 0],
    "0 and few of 1, 2, 3": [*[0] * 300, 1, 1, 1, 2, 2, 3],
    "0 and one of 3": [*[0] * 300, 3],
    "1 and one of 5": [*[1] * 300, 5],
    "1, 2 and one of 5": [*[1, 2] * 150, 5],
    "four ratings": [1, 2, 5, 5],
    "two rows": [1, 5000],
    "two values of few rows": [0, 0, 0, 5000, 5000, 5000],
    "two codes": [100, 200] * 40,
    "one of the next year": [*[2025] * 300, 2026],
    "years": [*range(1997, 2026)] * 4,
    "months": [*range(1, 13)] * 9,
    "ids": range(1, 1000),
    "ids to 9,998": range(1, 9999),
    "heights": [Fraction(value, 10) for value in range(1480, 2050)],
    "balances on both sides of zero": range(-9000, 9000, 70),
    "children": [*[0] * 90, *[1] * 60, *[2] * 40, *[3] * 9, *[4] * 3, 5, 6, 8],
    "counts with a long tail": [round(1.06**i) for i in range(150) for _ in range(150 - i)],
    "doses": [5, 10, 20, 30, 40, 50] * 9,
}


@pytest.mark.parametrize("name", DOUBTED)
def test_groups_of_codes_and_lone_extremes_are_doubted(name):
    values, said = DOUBTED[name]
    assert set(odd(values)) == said


@pytest.mark.parametrize("name", SAFE)
def test_ordinary_columns_are_not_doubted(name):
    assert odd(SAFE[name]) == []


def test_one_value_among_few_is_doubted_exactly_where_it_is_far():
    """The class: one or two values with many rows, and one value alone, at every distance."""
    dice = random.Random(37)
    for _ in range(examples(300)):
        low = dice.choice([0, 0, 1, 7, 100, 5000, dice.randint(-1000, 1000)])
        width = dice.choice([0, 0, 1, 1, dice.randint(2, 50)])
        common = [low, low + width] * dice.randint(5, 60)
        side, gap = dice.choice([-1, 1]), dice.randint(10, 40) * max(width, 1)
        alone = (max(common) if side > 0 else low) + side * (gap + 1)
        if str(abs(alone)).strip("789") and alone != -1:
            assert odd([*common, alone]) == [f"{alone:,}"]
        near = (max(common) if side > 0 else low) + side * dice.randint(1, 6)
        if min(low, near) >= 0 and max(*common, near) < 7:  # 7 to 9 and -1 are codes
            assert odd([*common, near]) == []


def test_no_far_value_hides_another():
    """The class: one or two values with many rows, and few rows far away on both sides."""
    dice = random.Random(38)
    for _ in range(examples(200)):
        low, width = dice.randint(200, 250), dice.choice([0, 1, 3])
        common = [low, low + width] * dice.randint(10, 60)
        near = dice.randint(12, 60) * max(width, 1)
        far = near * dice.randint(2, 900)
        ends_of_it = [low - near, low + width + far]
        if dice.random() < 0.5:
            ends_of_it = [low - far, low + width + near]
        said = odd([*common, *ends_of_it])
        assert {f"{each:,}" for each in ends_of_it} <= set(said)


@pytest.mark.parametrize("values", [[987_654], [5, 987_654], [7, 7, 7, 7]])
def test_a_column_that_is_all_but_blank_is_doubted(values):
    column = ends(values)
    assert len(odd_values(column, rows=1500)) == len(set(values))
    assert odd_values(column, rows=len(values)) == ()
    assert odd_values(ends(values * 5), rows=1500) == odd_values(ends(values * 5))


@pytest.mark.parametrize("day", [dt.date(1921, 3, 4), dt.date(2080, 1, 1)])
def test_one_day_far_from_the_others_is_doubted(day):
    assert odd([*DATES, DAY(day)], days=True) == [day.isoformat()]
    assert odd(DATES, days=True) == []


def test_drawn_columns_are_seldom_doubted():
    """Normal and exponential tails, by a seeded die: about one in fifty has a lone extreme by chance."""
    dice, doubted = random.Random(7), 0
    for number in range(100):
        draw = (lambda: dice.gauss(500, 100)) if number % 2 else (lambda: dice.expovariate(1e-3))
        doubted += bool(odd([round(draw()) for _ in range(300)]))
    assert doubted <= 6


def test_ordinary_columns_are_safe_and_planted_values_are_not():
    dice = random.Random(20)
    for _ in range(examples(100)):
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
    lines = ["age,cost,sex,stars,born,asked"]
    for i in range(600):
        age = -99 if i % 50 == 0 else dice.randint(18, 90)
        cost = 987_654 if i == 7 else dice.randint(10, 42_085)
        born = "1900-01-01" if i % 60 == 1 else f"19{dice.randint(34, 98)}-0{dice.randint(1, 9)}-11"
        asked = 997 + i % 2 if i % 40 < 2 else dice.randint(1, 60)
        lines.append(f"{age},{cost},{dice.choice('FM')},{dice.randint(1, 5)},{born},{asked}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


ODD = {
    "age": "-99 (12 rows)",
    "cost": "987,654 (1 row)",
    "born": "1900-01-01 (10 rows)",
    "asked": "998 (15 rows)",
}
PLAIN = {"sex", "stars"}
BOUNDS = {
    "age": {"type": "integer", "lower": -100, "upper": 100},
    "cost": {"type": "integer", "lower": 0, "upper": 1_000_000},
    "sex": {"type": "category", "values": ["F", "M"]},
    "stars": {"type": "integer", "lower": 1, "upper": 5},
    "born": {"type": "date", "lower": "1900-01-01", "upper": "1999-12-31"},
    "asked": {"type": "integer", "lower": 0, "upper": 1000},
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
    monkeypatch.setattr(losses, "odd_values", lambda _, **_rows: ())
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
        *(f"people.{name} ({i} of {len(BOUNDS)})" for i, name in enumerate(BOUNDS, start=1)),
        "people: what would be lost",
        "",
    ]
