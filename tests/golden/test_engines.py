"""Every golden plan runs on a real engine, on rows with nothing, something odd and something good."""

import datetime as dt
import sys
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from permits import paid

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kit import HERE, catalog, engine, read

from curator_kit import desk_of
from discreet.ask.plan.plan import ask, make_plan
from discreet.ask.release.sealing import seal
from discreet.ask.release.snapshots import hold
from discreet.ask.sql.bind import bind
from discreet.base.numbers import Epsilon
from discreet.data.engines.base import open_exact
from engines import ENGINES, engine_place
from sittings import FULL

KINDS = {
    "BIGINT": (pa.int64(), [None, 7, -(2**63), 1]),
    "INTEGER": (pa.int32(), [None, 7, -(2**31), 1]),
    "VARCHAR": (pa.string(), [None, "7", "O'Brien", "Male"]),
    "DOUBLE": (pa.float64(), [None, 7.5, float("nan"), 1.0]),
    "BOOLEAN": (pa.bool_(), [None, True, False, True]),
    "DATE": (pa.date32(), [None, dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(2023, 5, 5)]),
    "TIMESTAMP": (
        pa.timestamp("us"),
        [None, dt.datetime(2024, 2, 29, 12), dt.datetime(1900, 1, 1), dt.datetime(2024, 5, 5)],
    ),
    "DECIMAL(18,4)": (
        pa.decimal128(18, 4),
        [None, Decimal("7.5000"), Decimal("-99999999.9999"), Decimal("1.0000")],
    ),
}
PAIRS = [
    pair
    for path in sorted(HERE.glob("*.sql"))
    if not path.stem.startswith("refusals")
    for pair in read(path)[1]
]


def tables():
    made = {}
    for name, columns in engine("duckdb")._tables.items():
        arrays = {
            column: pa.array(KINDS[kind][1], KINDS[kind][0]) for column, kind in columns.items()
        }
        made[name] = pa.table(arrays)
    return made


def opened(kind, folder):
    if kind != "postgres":
        return engine_place(kind, tables(), folder).open()
    # A source of PostgreSQL is schema.table, so the dot of our own names goes.
    named = {name: name.replace(".", "_") for name in tables()}
    place = engine_place(kind, {named[name]: table for name, table in tables().items()}, folder)
    return replace(place, sources={name: f"town.{table}" for name, table in named.items()}).open()


@cache
def planned(number):
    """Return one question and its plan, the same for all engines."""
    pair = PAIRS[number]
    rows = int(pair.options["max_rows"]) if "max_rows" in pair.options else None
    question = ask(bind(pair.sql, catalog(), max_rows=rows), catalog(), {})
    delta = catalog().budget_of(question.dataset).delta
    return question, make_plan(question, epsilon=Epsilon.of("1"), budget_delta=delta)


@pytest.mark.parametrize("kind", ENGINES)
def test_every_plan_runs(kind, tmp_path):
    with_rows = opened(kind, tmp_path)
    # Spark starts a job of half a second for each: one in eighty, all of them in the full run.
    every = 80 if kind == "spark" and not FULL else 1
    try:
        for number in range(0, len(PAIRS), every):
            question, plan = planned(number)
            with hold(question.statement.source, desk_of(catalog(), with_rows)) as held:
                for read in seal(plan, catalog(), with_rows).reads:
                    found = open_exact(paid(held).run(read.draft.sql))
                    wanted = read.facts.keys + len(read.facts.outputs)
                    assert found.num_columns == wanted, PAIRS[number].sql
    finally:
        with_rows.close()
