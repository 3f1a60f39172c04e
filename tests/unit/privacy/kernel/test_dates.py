"""A date is a day of the calendar, spelled in full, or the statement is refused before it runs.

DuckDB reads DATE 'hello' without a word and fails once a row comes to it: behind a condition, whether a
statement fails is then an answer about single rows. And a day beyond the year 9999 is further from others
than the kernel counts on.
"""

from __future__ import annotations

import duckdb
import pytest

from discreet.privacy.kernel.facts import facts_of
from discreet.privacy.kernel.nodes import Constant, Unfit
from discreet.privacy.kernel.scalars import value_of
from kernel_kit import SCANS, facts, trees

ROWS = 'canon."town.rows" AS t'
BEHIND = "CASE WHEN t.c0 = 5 THEN t.c4 > DATE '{}' ELSE TRUE END"
ODD = ["hello", "2000-02-30", "20000101", "2000-W01-1", "2000-1-5", "infinity", "99999-01-01"]
ODD += ["2000-01-01 ", "2000-01-01 00:00:00", "0000-01-01", "2000-01-01 (BC)", "", "٢٠٠٠-01-01"]


@pytest.mark.parametrize("day", ["2000-02-29", "0001-01-01", "9999-12-31"])
def test_days_of_the_calendar(day: str) -> None:
    assert facts(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {BEHIND.format(day)}").rows == 1


@pytest.mark.parametrize("day", ODD)
def test_everything_else_is_refused(day: str) -> None:
    for test in (BEHIND.format(day), f"t.c4 > DATE '{day}'", f"t.c4 IN (DATE '{day}')"):
        for tree in trees(f"SELECT COUNT(*) AS r0 FROM {ROWS} WHERE {test}"):
            with pytest.raises(Unfit, match="not a date"):
                facts_of(tree, SCANS)


def test_a_date_is_spelled() -> None:
    with pytest.raises(Unfit, match="not a date"):
        value_of(Constant(None, "date"), {})


def test_this_is_what_would_have_happened() -> None:
    sql = f"SELECT COUNT(*) FROM (SELECT {{}} AS c0, DATE '2000-05-05' AS c4) AS t WHERE {BEHIND}"
    assert duckdb.execute(sql.format(4, "hello")).fetchall() == [(1,)]
    with pytest.raises(duckdb.ConversionException):
        duckdb.execute(sql.format(5, "hello"))
