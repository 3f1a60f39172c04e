"""Cells in the owner's spelling: what each declaration makes of a text, and of what is no text."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from functools import cache

import duckdb
import pytest

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.base.spelling import Spelling
from discreet.privacy.kernel.cells import plain_cell, present_cell

SEXES = CategoryDomain(("Female", "Male"))
NUMBERS = NumberDomain(Fraction(0), Fraction(9), Fraction(1, 10))
DAYS = DateDomain(dt.date(1990, 1, 1), dt.date(2039, 12, 31))
MOMENTS = TimestampDomain(dt.datetime(1990, 1, 1), dt.datetime(2039, 12, 31))
NAMES = IdentifierDomain()
TRIM, CASE, GONE = Spelling(trim=True), Spelling(any_case=True), Spelling(empty=("n/a",))


@cache
def base() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def plain(domain, spelling: Spelling, given: str | None) -> str | None:
    found, kind = plain_cell(Column("x", domain, spelling=spelling), "t.x", "VARCHAR", "duckdb")
    assert kind == "VARCHAR"
    sql = f"SELECT {found} FROM (SELECT CAST(? AS VARCHAR) AS x) AS t"
    return base().execute(sql, [given]).fetchone()[0]


@pytest.mark.parametrize(
    ("domain", "spelling", "given", "expected"),
    [
        (NAMES, TRIM, " \ta b\u00a0", "a b"),
        (NAMES, TRIM, "  ", None),
        (NAMES, GONE, "n/a", None),
        (NAMES, GONE, "N/A", "N/A"),
        (NAMES, GONE, " n/a", " n/a"),
        (NAMES, Spelling(empty=("n/a",), any_case=True), "N/A", None),
        (NAMES, Spelling(empty=("N/A",), any_case=True), "n/a", None),
        (NAMES, Spelling(empty=("n/a",), trim=True), " n/a ", None),
        (NAMES, CASE, "Abc", "Abc"),
        (SEXES, CASE, "FEMALE", "Female"),
        (SEXES, CASE, "femALE", "Female"),
        (SEXES, CASE, "fémale", "fémale"),
        (SEXES, Spelling(same=(("Male", ("m", "man")),)), "man", "Male"),
        (SEXES, Spelling(same=(("Male", ("m", "man")),)), "Male", "Male"),
        (SEXES, Spelling(same=(("Male", ("m", "man")),)), "M", "M"),
        (SEXES, Spelling(same=(("Male", ("m",)),), any_case=True), "M", "Male"),
        (SEXES, Spelling(same=(("Male", ("m",)),), any_case=True), "female", "Female"),
        (SEXES, TRIM, " Male ", "Male"),
        (SEXES, TRIM, " other ", "other"),
        (BooleanDomain(), Spelling(same=(("true", ("oui",)),)), "oui", "true"),
        (BooleanDomain(), Spelling(same=(("true", ("oui",)),)), "non", "non"),
        (BooleanDomain(), CASE, "TRUE", "true"),
        (NUMBERS, Spelling(thousands=","), "1,234.5", "1234.5"),
        (NUMBERS, Spelling(thousands=","), "1,23", None),
        (NUMBERS, Spelling(decimal=","), "3,5", "3.5"),
        (NUMBERS, Spelling(decimal=","), "3.5", None),
        (NUMBERS, Spelling(signs=("$",)), "$ 3.5", "3.5"),
        (NUMBERS, TRIM, " 3.5 ", "3.5"),
        (NUMBERS, TRIM, "1,5", "1,5"),
        (IntegerDomain(0, 9), Spelling(thousands="'"), "1'000", "1000"),
        (NAMES, Spelling(thousands="'"), "1'000", "1'000"),
        (DAYS, Spelling(dates=("%d.%m.%Y",)), "4.3.2024", "2024-03-04"),
        (DAYS, Spelling(dates=("%d.%m.%Y",)), "4.3.2024 10:00", "2024-03-04"),
        (DAYS, Spelling(dates=("%d.%m.%Y",)), "2024-03-04", None),
        (DAYS, Spelling(dates=("%d.%m.%Y", "%Y-%m-%d")), "2024-03-04", "2024-03-04"),
        (DAYS, Spelling(dates=("%m/%d/%y",)), "12/31/69", "1969-12-31"),
        (DAYS, Spelling(dates=("%m/%d/%y",)), "12/31/68", "2068-12-31"),
        (DAYS, Spelling(dates=("%d %b %Y",)), "4 JAN 2024", "2024-01-04"),
        (DAYS, Spelling(dates=("%d %b %Y",)), "4 dec 2024", "2024-12-04"),
        (DAYS, Spelling(dates=("%d %b %Y",)), "4 xyz 2024", None),
        (DAYS, TRIM, " 2024-03-04 ", "2024-03-04"),
        (NAMES, Spelling(dates=("%d.%m.%Y",)), "4.3.2024", "4.3.2024"),
        (MOMENTS, Spelling(dates=("%d.%m.%Y",)), "4.3.2024 10:00:01", "2024-03-04 10:00:01"),
        (MOMENTS, Spelling(dates=("%d.%m.%Y",)), "4.3.2024", "2024-03-04"),
        (MOMENTS, TRIM, " 2024-03-04 10:00", "2024-03-04 10:00"),
        (SEXES, CASE, None, None),
        (DAYS, Spelling(dates=("%d.%m.%Y",)), None, None),
    ],
)
def test_a_spelled_cell_is_rewritten_plainly(domain, spelling, given, expected) -> None:
    assert plain(domain, spelling, given) == expected


@pytest.mark.parametrize("kind", ["VARCHAR", "BIGINT", "DATE"])
def test_a_plain_column_is_read_as_it_stands(kind: str) -> None:
    assert plain_cell(Column("x", NAMES), "t.x", kind, "duckdb") == ("t.x", kind)
    assert present_cell(Column("x", NAMES), "t.x", kind, "duckdb") == "t.x"


def test_integers_and_truth_values_are_read_by_their_text() -> None:
    for kind in ("BIGINT", "BOOLEAN"):
        found, now = plain_cell(
            Column("x", IntegerDomain(0, 9), spelling=GONE), "t.x", kind, "duckdb"
        )
        assert now == "VARCHAR"
        assert "CAST((t.x) AS VARCHAR)" in found


def test_other_numbers_and_dates_have_no_spelling_but_may_be_empty() -> None:
    for kind in ("DOUBLE", "DATE", "DECIMAL(9,2)"):
        column = Column("x", NUMBERS, spelling=Spelling(thousands=","))
        assert plain_cell(column, "t.x", kind, "duckdb") == ("t.x", kind)
        found, now = plain_cell(Column("x", NUMBERS, spelling=GONE), "t.x", kind, "duckdb")
        assert now == kind
        assert found.endswith("IN ('n/a') THEN NULL ELSE t.x END")
    # A category is a text in any case.
    assert plain_cell(Column("x", SEXES, spelling=CASE), "t.x", "DOUBLE", "duckdb")[1] == "VARCHAR"


def test_a_cell_holds_something_unless_it_is_called_empty() -> None:
    def holds(spelling: Spelling, given: str) -> bool:
        found = present_cell(Column("x", NUMBERS, spelling=spelling), "t.x", "VARCHAR", "duckdb")
        sql = f"SELECT {found} IS NOT NULL FROM (SELECT CAST(? AS VARCHAR) AS x) AS t"
        return base().execute(sql, [given]).fetchone()[0]

    assert not holds(GONE, "n/a")
    assert holds(GONE, "x")
    assert holds(Spelling(decimal=","), "nonsense")
    assert not holds(TRIM, " ")


def test_each_engine_is_asked_in_its_own_words() -> None:
    dates = Column("x", DAYS, spelling=Spelling(dates=("%Y-%m-%d",)))
    asked = {d: plain_cell(dates, "t.x", "text", d)[0] for d in ("duckdb", "postgres", "spark")}
    assert "regexp_full_match(" in asked["duckdb"]
    assert "regexp_extract(" in asked["duckdb"]
    assert "regexp_full_match(" not in asked["postgres"] + asked["spark"]
    assert " ~ '^(?:" in asked["postgres"]
    assert "regexp_replace(substr(" in asked["postgres"]
    # PostgreSQL has no regexp_extract; Java's $ matches before a last line break.
    assert "regexp_extract" not in asked["postgres"]
    assert " <> '' AND regexp_extract(" in asked["spark"]
    trimmed = Column("x", NAMES, spelling=TRIM)
    for dialect, name in (("duckdb", "trim("), ("postgres", "btrim("), ("spark", "btrim(")):
        found = plain_cell(trimmed, "t.x", "text", dialect)[0]
        assert f"WHEN {name}" in found
