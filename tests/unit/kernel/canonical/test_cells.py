"""Columns read as declared values, or as NULL."""

import datetime as dt
import math
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.kernel.canonical.cells import source_cell

AGE = IntegerDomain(0, 120)
CENTS = NumberDomain(Fraction(0), Fraction(10), Fraction(1, 100))
FIVES = NumberDomain(Fraction(-20), Fraction(20), Fraction(5))


def read(domain, values, kind):
    found = source_cell(Column("x", domain), 't."x"', kind, "duckdb")
    given = pa.table({"x": pa.array(values)})
    with duckdb.connect() as connection:
        connection.register("given", given)
        sql = f"SELECT {found} FROM (SELECT CAST(x AS {kind}) AS x FROM given) AS t"
        return [row[0] for row in connection.execute(sql).fetchall()]


@pytest.mark.parametrize(
    ("domain", "kind", "values", "expected"),
    [
        (AGE, "BIGINT", [0, 120, 121, -1, None, 2**62], [0, 120, None, None, None, None]),
        (AGE, "VARCHAR", ["7", " 7", "7.0", "x", "", None], [7, None, 7, None, None, None]),
        (AGE, "DOUBLE", [7.0, 7.5, math.nan, math.inf, -0.0], [7, None, None, None, 0]),
        (CENTS, "DOUBLE", [0.0, 9.999, 10.0, 10.001, -0.001], [0, 1000, 1000, None, None]),
        (CENTS, "DOUBLE", [0.015, math.nan, math.inf, None], [2, None, None, None]),
        (CENTS, "BIGINT", [3, 11], [300, None]),
        (FIVES, "BIGINT", [7, 8, -8, 21], [1, 2, -2, None]),
        (FIVES, "DOUBLE", [2.5, -2.5, 2.4], [1, 0, 0]),
        (BooleanDomain(), "BIGINT", [0, 1, 2, None], [False, True, None, None]),
        (BooleanDomain(), "VARCHAR", ["yes", "F", "maybe"], [True, False, None]),
    ],
)
def test_canonical_value(domain, kind, values, expected):
    assert read(domain, values, kind) == expected


def test_categories_are_compared_to_the_letter():
    sexes = CategoryDomain(("Female", "O'Brien"))
    values = ["Female", "female", " Female", "Female ", "O'Brien", "", None]
    assert read(sexes, values, "VARCHAR") == ["Female", None, None, None, "O'Brien", None, None]


def test_dates_outside_are_null():
    days = DateDomain(dt.date(2024, 1, 1), dt.date(2024, 12, 31))
    values = ["2024-02-29", "2023-02-29", "2025-01-01", "soon", None]
    assert read(days, values, "VARCHAR") == [dt.date(2024, 2, 29), None, None, None, None]


def test_a_division_by_a_whole_step_is_never_between_integers():
    found = source_cell(Column("x", FIVES), 't."x"', "BIGINT", "postgres")
    assert "/ 5.0" in found


@pytest.mark.parametrize("domain", [AGE, CENTS, FIVES])
def test_not_a_number_in_a_parquet_file_is_null_and_no_error(domain, tmp_path):
    # The least and greatest value in the file leave NaN out, and DuckDB believes them: there NaN
    # passes both comparisons. A failing cast would tell that somebody's cell is NaN.
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": [5.0, math.nan, 1.0, None]}), path)
    found = source_cell(Column("x", domain), 't."x"', "DOUBLE", "duckdb")
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT x <= 120 FROM '{path}' AS t").fetchall()[1] == (True,)
        read_back = connection.execute(f"SELECT {found} FROM '{path}' AS t").fetchall()
    assert [row[0] is None for row in read_back] == [False, True, False, True]


def test_odd_texts_are_declared_values_or_null():
    declared = ("", "Zoë", "zoë", "a,b", "x" * 300, "%", "NULL")
    values = [*declared, "Zoe\u0308", "ZOË", "a", "null", None]
    found = read(CategoryDomain(declared), values, "VARCHAR")
    assert found == [*declared, None, None, None, None, None]


def test_thousands_of_codes_are_looked_up_by_hash():
    codes = tuple(f"code {i}" for i in range(5_000))
    values = [f"code {i}" for i in range(0, 200_000, 20)]
    found = read(CategoryDomain(codes), values, "VARCHAR")
    assert [value for value in found if value is not None] == values[:250]


@pytest.mark.parametrize("step", [1, 2, 10, 100, 1000, 4096, 10**6])
def test_doubles_between_whole_ends_round_to_steps_between_them(step):
    # The clamp is left out for such domains: the largest double below each end must stay inside.
    for low, high in ((0, 100), (-7, 3), (-(10**6), 10**6)):
        domain = NumberDomain(Fraction(low), Fraction(high), Fraction(1, step))
        assert "GREATEST" not in source_cell(Column("x", domain), "x", "DOUBLE", "duckdb")
        inside = [low, math.nextafter(low, high), math.nextafter(high, low), high]
        found = read(domain, [float(value) for value in inside], "DOUBLE")
        assert found == [low * step, low * step, high * step, high * step]
        outside = [math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]
        assert read(domain, outside, "DOUBLE") == [None, None]


def test_a_domain_with_decimal_ends_keeps_its_clamp():
    tenths = NumberDomain(Fraction(1, 10), Fraction(7, 10), Fraction(1, 10))
    for kind in ("DOUBLE", "FLOAT"):
        assert "> 7 THEN 7" in source_cell(Column("x", tenths), "x", kind, "duckdb")
