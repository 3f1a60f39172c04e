"""Columns read as declared values, or as NULL."""

import datetime as dt
import math
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import CatalogError
from discreet.privacy.kernel.cells import (
    check_readable,
    is_whole,
    number_cell,
    source_cell,
    unit_cell,
)
from duckdb_kit import room

AGE = IntegerDomain(0, 120)
CENTS = NumberDomain(Fraction(0), Fraction(10), Fraction(1, 100))
FIVES = NumberDomain(Fraction(-20), Fraction(20), Fraction(5))


def read(domain, values, kind):
    found = source_cell(Column("x", domain), 't."x"', kind, "duckdb")
    database = room()
    database.register("given", pa.table({"x": pa.array(values)}))
    sql = f"SELECT {found} FROM (SELECT CAST(x AS {kind}) AS x FROM given) AS t"
    return [row[0] for row in database.execute(sql).fetchall()]


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
        (BooleanDomain(), "DOUBLE", [1.0, -0.0, 0.5, 2.0, None], [True, False, None, None, None]),
        (BooleanDomain(), "FLOAT", [math.nan, math.inf, 1e30, 1.0], [None, None, None, True]),
        (BooleanDomain(), "DECIMAL(9, 2)", ["1.00", "0.01", "-1", "0"], [True, None, None, False]),
        (BooleanDomain(), "DECIMAL(38, 38)", ["0.0", "0.1", None], [False, None, None]),
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
    codes = tuple(f"code {i}" for i in range(2_000))
    values = [f"code {i}" for i in range(0, 40_000, 20)]
    found = read(CategoryDomain(codes), values, "VARCHAR")
    assert [value for value in found if value is not None] == values[:100]


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


def shown(domain, kind, dialect):
    return source_cell(Column("x", domain), "x", kind, dialect)


def test_a_free_text_is_cut_off():
    longest = read(TextDomain(), ["a" * 10_001, "b", None], "VARCHAR")
    assert longest == ["a" * 10_000, "b", None]


def test_a_moment_is_its_day_and_the_second_of_it():
    moments = TimestampDomain(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31))
    given = ["2024-02-29 00:01:01", "2024-02-30 00:00:01", "2023-12-31 10:00:00", None]
    assert read(moments, given, "VARCHAR") == [dt.date(2024, 2, 29), None, None, None]
    second = Column("x", moments).clock()
    found = source_cell(second, "x", "VARCHAR", "duckdb")
    rows = ", ".join("(NULL)" if text is None else f"('{text}')" for text in given)
    with duckdb.connect() as connection:
        seconds = connection.execute(f"SELECT {found} FROM (VALUES {rows}) AS t(x)").fetchall()
    # A day that is not declared has no second.
    assert seconds == [(61,), (None,), (None,), (None,)]


@pytest.mark.parametrize(
    ("kind", "expected"), [("BIGINT", [0, 255]), ("VARCHAR", [0, 255]), ("HUGEINT", [0, 255])]
)
def test_a_persons_own_number_may_be_stored_in_any_way(kind, expected):
    found = read(IntegerDomain(0, 255), [0, 255, 256, -1, None], kind)
    assert found == [*expected, None, None, None]


def test_integers_wider_than_64_bits_are_missing():
    huge = source_cell(Column("x", AGE), "x", "HUGEINT", "duckdb")
    with duckdb.connect() as connection:
        sql = f"SELECT {huge} FROM (SELECT CAST('170141183460469231731687303715884105727' AS HUGEINT) AS x)"
        assert connection.execute(sql).fetchall() == [(None,)]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_integers_are_compared_as_they_are_stored(dialect):
    assert (
        shown(AGE, "bigint", dialect) == "CASE WHEN x BETWEEN 0 AND 120 THEN CAST(x AS BIGINT) END"
    )
    assert shown(AGE, "varchar", dialect) != shown(AGE, "bigint", dialect)


def test_categories_are_read_as_texts():
    sexes = CategoryDomain(("1", "2"))
    assert read(sexes, [1, 2, 3], "BIGINT") == ["1", "2", None]
    assert "CAST(x AS VARCHAR)" not in shown(sexes, "VARCHAR", "duckdb").replace(
        "AS VARCHAR)", "", 1
    )
    assert shown(sexes, "varchar", "duckdb") == "CAST(TRY_CAST(x AS ENUM('1', '2')) AS VARCHAR)"
    assert shown(sexes, "string", "spark") == "CASE WHEN x IN ('1', '2') THEN x END"
    # Padded texts of PostgreSQL are plain ones first.
    assert shown(sexes, "char(9)", "postgres") != "CASE WHEN x IN ('1', '2') THEN x END"
    assert shown(sexes, "int", "spark") != "CASE WHEN x IN ('1', '2') THEN x END"


def test_dates_are_compared_as_they_are_stored():
    days = DateDomain(dt.date(2024, 1, 1), dt.date(2024, 12, 31))
    assert shown(days, "DATE", "duckdb") == (
        "CASE WHEN x BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' THEN x END"
    )
    given = [dt.datetime(2024, 2, 29, 23, 59), dt.datetime(2025, 1, 1), None]
    assert read(days, given, "TIMESTAMP") == [dt.date(2024, 2, 29), None, None]


@pytest.mark.parametrize(
    ("domain", "kind", "whole", "expected"),
    [
        (IdentifierDomain(), "BIGINT", True, [(7,)]),
        (IdentifierDomain(), "BIGINT", False, [("7",)]),
        (IdentifierDomain(), "DOUBLE", False, [("7",)]),
        (IdentifierDomain(), "DECIMAL(9, 2)", False, [("7",)]),
        (IntegerDomain(0, 9), "BIGINT", False, [(7,)]),
        (IntegerDomain(0, 5), "VARCHAR", False, [(7,)]),  # a person need not be in a range
        (TextDomain(), "VARCHAR", False, [("7",)]),
    ],
)
def test_whose_row_it_is(domain, kind, whole, expected):
    found = unit_cell(Column("x", domain), "x", kind, "duckdb", whole=whole)
    with duckdb.connect() as connection:
        assert (
            connection.execute(f"SELECT {found} FROM (SELECT CAST(7 AS {kind}) AS x)").fetchall()
            == expected
        )


def test_whole_types_have_at_most_64_bits():
    for kind in ("BIGINT", " integer ", "int8", "long", "UINTEGER"):
        assert is_whole(kind)
    for kind in ("HUGEINT", "UBIGINT", "VARCHAR", "DOUBLE", "DECIMAL(18,0)", ""):
        assert not is_whole(kind)


def test_a_column_that_cannot_hold_what_was_declared_is_refused():
    for domain, kind in (
        (AGE, "VARCHAR"),
        (AGE, "NULL"),
        *((BooleanDomain(), kind) for kind in ("BIGINT", "DOUBLE", "FLOAT", "DECIMAL(9,2)")),
        (TextDomain(), "DATE"),
    ):
        check_readable(Column("x", domain), kind, "here")
    moments = Column("x", TimestampDomain(dt.datetime(2024, 1, 1), dt.datetime(2024, 12, 31)))
    check_readable(moments, "TIMESTAMP", "here")
    for column, kind, words in (
        (
            Column("x", AGE),
            "DATE",
            "here: column 'x' is stored in a way that cannot be read as integer",
        ),
        (Column("x", CENTS), "BOOLEAN", "read as number"),
        (moments, "BIGINT", "cannot be read as date"),
        (Column("x", TextDomain()), "BLOB", "read as text"),
        (Column("x", BooleanDomain()), "TIMESTAMP", "read as boolean"),
    ):
        with pytest.raises(CatalogError, match=words) as refused:
            check_readable(column, kind, "here")
        told = str(refused.value).replace("cannot be read as date", "")
        assert kind.lower() not in told, "what it is stored as may follow from rows"


STEPS = {
    "inverse whole": NumberDomain(Fraction(0), Fraction(10), Fraction(1, 100)),
    "inverse not whole": NumberDomain(Fraction(0), Fraction(9), Fraction(3, 10)),
    "whole": NumberDomain(Fraction(-20), Fraction(20), Fraction(5)),
    "one": NumberDomain(Fraction(-20), Fraction(20), Fraction(1)),
    "two": NumberDomain(Fraction(-20), Fraction(20), Fraction(2)),
    "halves": NumberDomain(Fraction(1, 2), Fraction(9, 2), Fraction(1, 2)),
}


@pytest.mark.parametrize(
    ("name", "kind", "values", "expected"),
    [
        ("inverse whole", "DOUBLE", [0.994, 0.996, 10.0], [99, 100, 1000]),
        ("inverse whole", "DECIMAL(9, 3)", [1.004, 1.006, None], [100, 101, None]),
        ("inverse whole", "FLOAT", [0.5, math.nan], [50, None]),
        ("inverse whole", "VARCHAR", ["0.5", "x"], [50, None]),
        ("inverse not whole", "DOUBLE", [0.1, 0.2, 9.0, 9.1], [0, 1, 30, None]),
        ("inverse not whole", "BIGINT", [1, 9, 10], [3, 30, None]),
        ("whole", "DOUBLE", [12.4, 12.5, -20.0, -20.5], [2, 3, -4, None]),
        ("whole", "VARCHAR", ["12", "13"], [2, 3]),
        ("one", "DOUBLE", [1.5, -1.5, 20.0], [2, -1, 20]),
        ("one", "BIGINT", [5, 21], [5, None]),
        ("one", "HUGEINT", [5, 21], [5, None]),
        ("two", "DOUBLE", [1.0, 0.9, -19.5], [1, 0, -10]),
        ("halves", "DOUBLE", [0.5, 0.4, 4.5, 4.6], [1, None, 9, None]),
        ("halves", "BIGINT", [0, 1, 4, 5], [None, 2, 8, None]),
    ],
)
def test_numbers_become_the_nearest_whole_number_of_steps(name, kind, values, expected):
    assert read(STEPS[name], values, kind) == expected


def test_rounding_may_not_pass_an_end():
    """Where arithmetic of doubles could, the declared ends hold in the SQL itself."""
    for name, kind in (
        ("inverse not whole", "DOUBLE"),  # divided
        ("inverse not whole", "BIGINT"),
        ("halves", "DOUBLE"),  # ends that are no whole numbers
        ("inverse whole", "FLOAT"),
        ("inverse whole", "VARCHAR"),
        ("whole", "BIGINT"),
    ):
        domain = STEPS[name]
        high, low = int(domain.upper / domain.step), int(domain.lower / domain.step)
        found = shown(domain, kind, "duckdb")
        assert f"> {high} THEN {high} " in found
        assert f"< {low} THEN {low} " in found
    for name, kind in (
        ("inverse whole", "DOUBLE"),
        ("inverse whole", "float8"),
        ("halves", "BIGINT"),
    ):
        assert " THEN CASE " not in shown(STEPS[name], kind, "duckdb")


@pytest.mark.parametrize(
    ("low", "high", "step", "clamped"),
    [
        (Fraction(0), Fraction(2**51 - 2), Fraction(1), False),  # 2^51 - 1 with the one added
        (Fraction(0), Fraction(2**51 - 1), Fraction(1), True),
        (Fraction(-(2**50)), Fraction(2**50), Fraction(1), True),
        (Fraction(-(2**50)), Fraction(2**50 - 2), Fraction(1), False),
        (Fraction(0), Fraction(2**41), Fraction(1, 2**10), True),
        (Fraction(0), Fraction(2**41 - 2), Fraction(1, 2**10), False),
        (Fraction(1, 2), Fraction(4), Fraction(1, 2), True),
        (Fraction(0), Fraction(9, 2), Fraction(1, 2), True),
    ],
)
def test_no_clamp_where_every_product_is_below_2_to_the_51(low, high, step, clamped):
    found = shown(NumberDomain(low, high, step), "DOUBLE", "duckdb")
    assert (" THEN CASE " in found) == clamped


def test_postgres_divides_only_what_does_not_underflow():
    divided = shown(STEPS["whole"], "double precision", "postgres")
    assert "CASE WHEN x > -1.25 AND x < 1.25 THEN 0.0 ELSE x / 5.0 END" in divided
    assert "THEN 0.0" not in shown(STEPS["whole"], "DOUBLE", "duckdb")
    assert "THEN 0.0" not in shown(STEPS["inverse whole"], "double precision", "postgres")
    assert "x / 0.3 " in shown(STEPS["inverse not whole"], "DOUBLE", "spark") + " "
    assert "TRY_CAST" not in divided
    assert "TRY_CAST" in shown(STEPS["whole"], "DOUBLE", "duckdb")


def test_not_a_number_is_asked_for_where_comparisons_may_let_it_pass():
    assert "NOT isnan(x)" in shown(STEPS["one"], "DOUBLE", "duckdb")
    for kind, dialect in (
        ("DOUBLE", "spark"),
        ("float8", "postgres"),
        ("BIGINT", "duckdb"),
        ("VARCHAR", "duckdb"),
    ):
        assert "isnan(x)" not in shown(STEPS["one"], kind, dialect)


@pytest.mark.parametrize(
    ("kind", "dialect", "expected"),
    [
        ("DOUBLE", "duckdb", "x"),
        ("double precision", "postgres", "x"),
        ("FLOAT", "duckdb", "CAST(x AS DOUBLE)"),
        ("real", "postgres", "CAST(x AS DOUBLE PRECISION)"),
        ("DECIMAL(9,2)", "duckdb", "CAST(CAST(x AS VARCHAR) AS DOUBLE)"),
        ("decimal(9,2)", "spark", "CAST(x AS DOUBLE)"),
        ("BIGINT", "duckdb", "x"),
        ("bigint", "postgres", "x"),
        ("HUGEINT", "duckdb", "TRY_CAST(x AS BIGINT)"),
        ("DATE", "duckdb", "CAST(NULL AS DOUBLE)"),
        (
            "numeric",
            "postgres",
            (
                "CAST(CASE WHEN x > -1e-300 AND x < 1e-300 THEN 0 "
                "WHEN x > -1e300 AND x < 1e300 THEN x END AS DOUBLE PRECISION)"
            ),
        ),
    ],
)
def test_a_number_is_the_nearest_double(kind, dialect, expected):
    assert number_cell("x", kind, dialect) == expected


def test_numbers_in_texts_are_read_by_a_pattern():
    assert "regexp_full_match" in number_cell("x", "VARCHAR", "duckdb")
