"""Times of day, and curves in straight pieces: the same exact numbers on every engine, and right ones."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

from curator_kit import desk_of, exact_of
from discreet.ask.plan.plan import ask, make_plan
from discreet.ask.release.sealing import seal
from discreet.ask.release.snapshots import hold
from discreet.ask.sql.bind import bind
from discreet.base.numbers import Epsilon
from discreet.data.catalog.policy_file import loads
from engines import ENGINES, engine_place
from permits import paid
from sittings import FULL

FIRST = dt.datetime(2024, 1, 1)
MOMENTS = [FIRST + dt.timedelta(seconds=i * 7919 % (86400 * 8), milliseconds=i) for i in range(300)]
INCOMES = [0.0, 0.01, 0.02, 1.0, 9.99, 10.0, 999.99, 1000.0, 499999.99, 500000.0]
INCOMES += [round(17.31 * i * i, 2) for i in range(4, 160)]
WRITTEN = [
    ("2024-01-02 03:04:05", 3 * 3600 + 4 * 60 + 5),
    ("2024-01-02T23:59:59.999Z", 86399),
    ("2024-01-02 03:04", 3 * 3600 + 4 * 60),
    ("2024-01-02 03:04:05+02:00", 3 * 3600 + 4 * 60 + 5),  # a zone is not read, as with the day
    ("2024-01-02", 0),
    ("2024-01-02 24:00:00", None),
    ("2024-01-02 03:04:60", None),
    ("2024-01-02 3:04:05", None),
    ("2024-01-02 03:04:05\n", None),
    ("2024-01-02 noon", None),
    ("2024-02-02 03:04:05", None),  # outside of what is declared
    (None, None),
]
TOML = """
[datasets.d]
epsilon = 10
delta = 1e-6
[datasets.d.tables.seen]
source = "seen"
unit = "person"
max_rows = 1
[datasets.d.tables.seen.columns]
person = { type = "identifier" }
at = { type = "timestamp", lower = 2024-01-01T00:00:00, upper = 2024-01-10T23:59:59 }
said = { type = "timestamp", lower = 2024-01-01T00:00:00, upper = 2024-01-10T23:59:59 }
income = { type = "number", lower = 0, upper = 500000, step = 0.01 }
"""


def rows() -> list[tuple[object, object, object]]:
    many = len(MOMENTS)
    texts = [WRITTEN[i % len(WRITTEN)][0] for i in range(many)]
    incomes = [INCOMES[i] if i < len(INCOMES) else None for i in range(many)]
    return list(zip(MOMENTS, texts, incomes, strict=True))


def table() -> pa.Table:
    at, said, income = zip(*rows(), strict=True)
    return pa.table(
        {
            "person": pa.array(range(len(MOMENTS)), pa.int64()),
            "at": pa.array(at, pa.timestamp("us")),
            "said": pa.array(said, pa.string()),
            "income": pa.array(income, pa.float64()),
        }
    )


@pytest.fixture(params=ENGINES, scope="module")
def asked(request, tmp_path_factory):
    """Return what asks one question exactly: its groups and its measures."""
    folder = tmp_path_factory.mktemp("seen")
    catalog = loads(TOML, base=folder, name="discreet.toml")
    place = engine_place(request.param, {"seen": table()}, folder)
    sources = {"d.seen": place.sources["seen"]}
    engine = replace(place, sources=sources).open(state=folder / "state")

    def ask_exactly(sql: str):
        question = ask(bind(sql, catalog), catalog, {"seen": "1"})
        delta = catalog.budget_of(question.dataset).delta
        plan = make_plan(question, epsilon=Epsilon.of(1), budget_delta=delta)
        sealed = seal(plan, catalog, engine)
        with hold(question.statement.source, desk_of(catalog, engine)) as held:
            return question, exact_of(question, sealed, paid(held))

    yield ask_exactly
    engine.close()


def on_spark(request) -> bool:
    return "spark" in request.node.callspec.id


def counted(asked, sql: str) -> dict[tuple, int]:
    _, found = asked(sql)
    (counts,) = [values for name, values in found.measures.items() if name == "m0"]
    return {group: n for group, n in zip(found.groups, counts, strict=True) if n}


def test_hours_and_minutes(asked):
    found = counted(asked, "SELECT HOUR(at), COUNT(*) FROM seen GROUP BY 1")
    assert found == {(h,): n for h, n in Counter(m.hour for m in MOMENTS).items()}
    found = counted(
        asked, "SELECT EXTRACT(minute FROM at), COUNT(*) FROM seen WHERE SECOND(at) < 30 GROUP BY 1"
    )
    wanted = Counter(m.minute for m in MOMENTS if m.second < 30)
    assert found == {(minute,): n for minute, n in wanted.items()}


def test_moments_cut_to_the_hour(asked):
    sql = "SELECT DATE_TRUNC('hour', at), COUNT(*) FROM seen WHERE at < '2024-01-03 12:30:01' GROUP BY 1"
    cut = [
        m.replace(minute=0, second=0, microsecond=0)
        for m in MOMENTS
        if m.replace(microsecond=0) < dt.datetime(2024, 1, 3, 12, 30, 1)
    ]
    assert counted(asked, sql) == {(moment,): n for moment, n in Counter(cut).items()}


def test_a_timestamp_by_itself_is_its_moment_and_cast_to_a_date_its_day(asked, request):
    to_the_second = Counter(m.replace(microsecond=0) for m in MOMENTS)
    found = counted(asked, "SELECT at, COUNT(*) FROM seen GROUP BY at")
    assert found == {(moment,): n for moment, n in to_the_second.items()}
    days = ("CAST(at AS DATE)", "DATE_TRUNC('day', at)", "DATE(at)")
    for day in days[: len(days) if FULL or not on_spark(request) else 1]:
        found = counted(asked, f"SELECT {day} AS day, COUNT(*) FROM seen GROUP BY day")
        assert found == {(day,): n for day, n in Counter(m.date() for m in MOMENTS).items()}


@pytest.mark.slow_on_spark
def test_times_that_are_written_as_texts(asked):
    said = Counter(WRITTEN[i % len(WRITTEN)][1] for i in range(len(MOMENTS)))
    for second in {value for _, value in WRITTEN if value is not None}:
        hour, minute = second // 3600, second // 60 % 60
        sql = f"SELECT COUNT(*) FROM seen WHERE HOUR(said) = {hour} AND MINUTE(said) = {minute}"
        of_minute = [n for s, n in said.items() if s is not None and s // 60 == second // 60]
        assert counted(asked, f"{sql} AND SECOND(said) = {second % 60}") == {(): said[second]}
        assert counted(asked, sql) == {(): sum(of_minute)}
    missing = counted(asked, "SELECT COUNT(*) FROM seen WHERE HOUR(said) IS NULL")
    assert missing == {(): said[None]}


def _whole(moment: dt.datetime) -> dt.datetime:
    return moment.replace(microsecond=0)


NOON = dt.datetime(2024, 1, 3, 12)
CONDITIONS = {
    "at >= TIMESTAMP '2024-01-03 12:00:00' - INTERVAL '3 hours'": (
        lambda m: m >= NOON - dt.timedelta(hours=3)
    ),
    "at + INTERVAL '90 minutes' < '2024-01-03 12:00:00'": (
        lambda m: m + dt.timedelta(minutes=90) < NOON
    ),
    "at > '2024-01-03'": lambda m: m > dt.datetime(2024, 1, 3),
    "at <= '2024-01-03'": lambda m: m <= dt.datetime(2024, 1, 3),
    "CAST(at AS DATE) <= '2024-01-03'": lambda m: m.date() <= dt.date(2024, 1, 3),
    "at + INTERVAL '1 day' > at + INTERVAL '23 hours'": lambda _: True,
    "at::time BETWEEN '09:00' AND '17:30:15'": (
        lambda m: dt.time(9) <= m.time() <= dt.time(17, 30, 15)
    ),
    "EPOCH(at) % 7 = 3": lambda m: int((m - dt.datetime(1970, 1, 1)).total_seconds()) % 7 == 3,
    "DATE_DIFF('hour', TIMESTAMP '2024-01-03 12:30:00', at) = -1": (
        lambda m: m.replace(minute=0, second=0) == NOON - dt.timedelta(hours=1)
    ),
    "DATE_DIFF('week', TIMESTAMP '2024-01-10 00:00:00', at) = -1": (
        lambda m: m.date() <= dt.date(2024, 1, 3)
    ),
    "HOUR(at + INTERVAL '20 hours') = 1": (lambda m: (m + dt.timedelta(hours=20)).hour == 1),
    "DATE(at - INTERVAL '30 minutes') = '2024-01-02'": (
        lambda m: (m - dt.timedelta(minutes=30)).date() == dt.date(2024, 1, 2)
    ),
    "STRFTIME(at, '%d %I%p') = '03 05PM'": lambda m: (m.day, m.hour) == (3, 17),
}


def test_moments_are_moved_compared_and_written(asked, request):
    wanted = {
        written: sum(holds(_whole(m)) for m in MOMENTS) for written, holds in CONDITIONS.items()
    }
    assert all(wanted.values()), "each counts somebody"
    if not on_spark(request):
        for written, n in wanted.items():
            assert counted(asked, f"SELECT COUNT(*) FROM seen WHERE {written}") == {(): n}, written
        return
    # Half a second for each statement there: all of them in one.
    cases = [f"COUNT(CASE WHEN {written} THEN 1 END)" for written in CONDITIONS]
    _, found = asked(f"SELECT {', '.join(cases)} FROM seen")
    assert [n for (n,) in found.measures.values()] == list(wanted.values())


def test_moments_as_keys(asked):
    found = counted(asked, "SELECT TO_CHAR(at, 'DD HH24'), COUNT(*) FROM seen GROUP BY 1")
    assert found == {(k,): n for k, n in Counter(f"{m:%d %H}" for m in MOMENTS).items()}
    found = counted(
        asked, "SELECT TIME_BUCKET(INTERVAL '8 hours', at), COUNT(*) FROM seen GROUP BY 1"
    )
    first = dt.datetime(2000, 1, 3)
    cut = (_whole(m) - (_whole(m) - first) % dt.timedelta(hours=8) for m in MOMENTS)
    assert found == {(moment,): n for moment, n in Counter(cut).items()}


CURVES = {
    "LN(income + 1)": lambda x: math.log(x + 1),
    "SQRT(income)": math.sqrt,
    "LOG10(income + 0.01)": lambda x: math.log10(x + 0.01),
    "POWER(income + 1, -0.5)": lambda x: (x + 1) ** -0.5,
    "EXP(income / 100000)": lambda x: math.exp(x / 100000),
}


@pytest.mark.slow_on_spark
def test_curves_are_the_same_whole_numbers_and_near_the_function(asked, request):
    found = {}
    # Spark takes half a minute to compile each of them.
    most = 1 if on_spark(request) else len(CURVES)
    for written, function in list(CURVES.items())[:most]:
        question, exact = asked(f"SELECT SUM({written}) FROM seen")
        ((_, measure),) = question.measured.measures
        ((total,),) = exact.measures.values()
        found[written] = total * measure.grain
        true = sum(function(x) for x in INCOMES)
        reach = max(abs(function(x)) for x in (0.0, 500000.0))
        # Each row is off by less than a 10,000th of the range, and the sum is cut to its grain.
        slack = len(INCOMES) * reach * 4e-5 + float(measure.grain * measure.step)
        assert abs(float(found[written] * measure.step) - true) < slack, written
    assert found == {written: SUMS[written] for written in found}


SUMS = {
    "LN(income + 1)": 1787596024,
    "SQRT(income)": 54381420324,
    "LOG10(income + 0.01)": 770713232,
    "POWER(income + 1, -0.5)": 5281091,
    "EXP(income / 100000)": 2054548216,
}
"""The whole numbers themselves: one list for all engines."""
