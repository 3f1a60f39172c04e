"""Row functions: what an expression may be, which range its numbers have, and what could fail on a row.

Every expression is read by DuckDB's own parser; the ranges were worked out by hand. What is refused
would raise on some row (an overflow, a cast, a division), which would tell whether that row is there.
"""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

from discreet.privacy.kernel.functions import Value, ValueKind, integer, text
from discreet.privacy.kernel.nodes import Apply, Constant, Fold, Name, Term, TooWide, Unfit, Window
from discreet.privacy.kernel.scalars import clamp_of, condition, value_of
from kernel_kit import duckdb_tree

COLUMNS = {
    Name("t", name): value
    for name, value in {
        "n": integer(-50, 50),
        "p": integer(0, 120),
        "q": integer(3, 7),
        "m": integer(-7, -2),
        "z": integer(1, 1),
        "s": integer(-9, 9, wide=False),
        "sum": Value(ValueKind.INTEGER),  # a person's own sum: of any size
        "x": text(10),
        "e": Value(ValueKind.TEXT, 0, 2, length=6),  # stored as one of a list
        "odd": Value(ValueKind.TEXT),  # of any length
        "b": Value(ValueKind.BOOLEAN),
        "d": Value(ValueKind.DATE),
        "u": Value(ValueKind.UNIT),
        "v": Value(ValueKind.UNIT),
    }.items()
}
WIDE, SHORT = True, False
DAYS = 4_000_000


@cache
def base() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def term(sql: str) -> Term:
    return duckdb_tree(f'SELECT {sql} AS r FROM canon."town.rows" AS t').outputs[0][1]


def value(sql: str) -> Value:
    return value_of(term(sql), COLUMNS)


def clamp(low: int, high: int, operand: str = "t.n") -> str:
    return (
        f"CASE WHEN {operand} > {high} THEN {high} WHEN {operand} < {low} THEN {low} "
        f"ELSE {operand} END"
    )


@pytest.mark.parametrize(
    ("sql", "low", "high", "wide"),
    [
        ("t.n", -50, 50, WIDE),
        ("0", 0, 0, SHORT),
        ("2147483647", 2**31 - 1, 2**31 - 1, SHORT),
        ("-2147483647", 1 - 2**31, 1 - 2**31, SHORT),
        ("2147483648", 2**31, 2**31, WIDE),
        ("-2147483648", -(2**31), -(2**31), SHORT),
        ("-2147483649", -(2**31) - 1, -(2**31) - 1, WIDE),
        ("t.p + t.n", -50, 170, WIDE),
        ("t.p - t.n", -50, 170, WIDE),
        ("t.q - t.p", -117, 7, WIDE),
        ("t.n * t.m", -350, 350, WIDE),
        ("t.q * t.m", -49, -6, WIDE),
        ("t.n + 1", -49, 51, WIDE),
        ("t.s + t.n", -59, 59, WIDE),
        ("t.n * t.s", -450, 450, WIDE),
        ("t.n * 2000000000", -(10**11), 10**11, WIDE),
        ("2000000000 + t.p", 2 * 10**9, 2 * 10**9 + 120, WIDE),
        ("2 + 3", 5, 5, SHORT),
        ("40 * 50", 2000, 2000, SHORT),
        ("t.p - 2147483648", -(2**31), 120 - 2**31, WIDE),
        ("2000000000 - t.n * 2", 2 * 10**9 - 100, 2 * 10**9 + 100, WIDE),
        ("t.m - 2147483647", -6 - 2**31, 1 - 2**31 - 2, WIDE),
        ("2147483646 - (-1)", 2**31 - 1, 2**31 - 1, SHORT),
        ("2147483646 + 1", 2**31 - 1, 2**31 - 1, SHORT),
        ("t.p // t.q", 0, 40, WIDE),
        ("t.q // t.z", 3, 7, WIDE),
        ("(t.p + 21) // t.q", 3, 47, WIDE),
        ("t.n // t.q", -50, 50, WIDE),
        ("t.p // t.m", -120, 120, WIDE),
        ("(t.p - 200) // t.q", -200, 200, WIDE),
        ("t.n % t.q", -6, 6, WIDE),
        ("t.p % t.m", -6, 6, WIDE),
        ("-t.q", -7, -3, WIDE),
        ("-t.s", -9, 9, SHORT),
        ("-t.p", -120, 0, WIDE),
        ("CAST(t.s AS BIGINT)", -9, 9, WIDE),
        ("CAST(CAST(t.n AS SMALLINT) AS BIGINT)", -50, 50, WIDE),
        ("CAST(CAST(t.p AS UTINYINT) AS BIGINT)", 0, 120, WIDE),
        ("CAST(CAST(CAST(255 AS BIGINT) AS UTINYINT) AS BIGINT)", 255, 255, WIDE),
        ("CAST(enum_code(t.e) AS BIGINT)", 0, 2, WIDE),
        ("CAST(enum_code(t.e) AS BIGINT) * t.n", -100, 100, WIDE),
        (
            clamp(1, 2, "enum_code(t.e)").replace("ELSE ", "ELSE CAST(")[:-4] + " AS BIGINT) END",
            1,
            2,
            WIDE,
        ),
        ("t.d - t.d", -DAYS, DAYS, SHORT),
        ("t.d - DATE '2000-01-01'", -DAYS, DAYS, SHORT),
        ("date_part('year', t.d)", -DAYS, DAYS, SHORT),
        ("date_part('DOY', t.d)", -DAYS, DAYS, SHORT),
        ("date_diff('day', t.d, t.d)", -DAYS, DAYS, WIDE),
        ("unixdate(t.d)", -DAYS, DAYS, SHORT),
    ],
)
def test_a_number_has_exactly_this_range(sql: str, low: int, high: int, *, wide: bool) -> None:
    assert value(sql) == integer(low, high, wide=wide)


def test_days_cover_the_calendar_and_no_more_than_needed() -> None:
    # From 1 January of the year 1 to 31 December 9999.
    assert DAYS > 3_652_058
    assert value("CAST(t.d - t.d AS BIGINT) * 2000000000000").bounded == (-8 * 10**18, 8 * 10**18)


@pytest.mark.parametrize(
    ("sql", "low", "high", "wide"),
    [
        ("CASE WHEN t.b THEN 5 ELSE 9 END", 5, 9, SHORT),
        ("CASE WHEN t.b THEN 9 WHEN t.n > 3 THEN -2 ELSE 5 END", -2, 9, SHORT),
        ("CASE WHEN t.b THEN t.q WHEN t.n > 3 THEN t.m ELSE 100 END", -7, 100, WIDE),
        ("CASE WHEN t.b THEN t.q END", 3, 7, WIDE),
        ("CASE WHEN t.b THEN t.s ELSE 3 END", -9, 9, SHORT),
        ("CASE WHEN NULL THEN 5 END", 5, 5, SHORT),
        ("COALESCE(t.q, t.m)", -7, 7, WIDE),
        ("COALESCE(NULL, t.q)", 3, 7, WIDE),
        ("GREATEST(t.q, t.s, 40)", -9, 40, WIDE),
        ("LEAST(t.q, t.m, 40)", -7, 40, WIDE),
    ],
)
def test_whichever_branch_it_is_lies_between_the_ends_of_all(
    sql: str, low: int, high: int, *, wide: bool
) -> None:
    assert value(sql) == integer(low, high, wide=wide)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("NULL", Value(ValueKind.NOTHING)),
        ("COALESCE(NULL, NULL)", Value(ValueKind.NOTHING)),
        ("CASE WHEN t.b THEN NULL END", Value(ValueKind.NOTHING)),
        ("TRUE", Value(ValueKind.BOOLEAN)),
        ("'abc'", text(3)),
        ("DATE '2000-02-29'", Value(ValueKind.DATE)),
        ("CASE WHEN t.b THEN t.x ELSE 'longer than it' END", text(14)),
        ("CASE WHEN t.b THEN 'b' ELSE t.x END", text(10)),
        # Without places: two texts need not be of one list.
        ("COALESCE(t.e, t.x)", text(10)),
        ("COALESCE(t.e, t.e)", text(6)),
        ("CASE WHEN t.b THEN t.d END", Value(ValueKind.DATE)),
        ("GREATEST(t.d, t.d)", Value(ValueKind.DATE)),
        ("COALESCE(t.b, FALSE)", Value(ValueKind.BOOLEAN)),
        ("TRY_CAST(t.x AS ENUM('a', 'bbb', 'c'))", Value(ValueKind.TEXT, 0, 2, length=3)),
        ("t.n = t.p", Value(ValueKind.BOOLEAN)),
        ("t.sum > 5", Value(ValueKind.BOOLEAN)),
        ("t.x IN ('a', NULL)", Value(ValueKind.BOOLEAN)),
        ("t.n NOT IN (1, 2)", Value(ValueKind.BOOLEAN)),
        ("t.d < t.d", Value(ValueKind.BOOLEAN)),
        ("t.u = t.v", Value(ValueKind.BOOLEAN)),
        ("t.u IS NULL", Value(ValueKind.BOOLEAN)),
        ("t.n IS NOT NULL", Value(ValueKind.BOOLEAN)),
        ("t.b AND NOT t.b OR NULL", Value(ValueKind.BOOLEAN)),
        ("t.n BETWEEN 1 AND 2", Value(ValueKind.BOOLEAN)),
        ("md5(t.x || '|' || CAST(t.n AS VARCHAR))", text(32)),
    ],
)
def test_other_values_have_this_kind(sql: str, expected: Value) -> None:
    assert value(sql) == expected


def test_a_whole_row_may_be_hashed_however_long_it_is() -> None:
    longest = Value(ValueKind.TEXT, length=60_000)
    two = Apply("||", (Name("t", "x"), Apply("||", (Name("t", "y"), Name("t", "y")))))
    columns = {Name("t", "x"): longest, Name("t", "y"): longest}
    assert value_of(Apply("md5", (two,)), columns) == text(32)
    with pytest.raises(Unfit, match="letters"):
        value_of(two, columns)
    with pytest.raises(Unfit, match="does not have"):  # each part is looked at
        value_of(Apply("md5", (two,)), {Name("t", "x"): longest})
    with pytest.raises(Unfit, match="function of text"):
        value_of(Apply("md5", (Apply("||", (Name("t", "x"), Constant(1))),)), columns)


REFUSED = {
    "does not have": ("t.nowhere", "s.n", "t.n + t.nowhere"),
    "an aggregate": ("SUM(t.n)", "COUNT(*)", "ROW_NUMBER() OVER (PARTITION BY t.u ORDER BY t.n)"),
    "does not list": ("SQRT(t.n)", "t.n / t.q", "hash(t.x)", "random()", "CAST(t.n AS INTEGER)"),
    "operands": ("md5(t.x, t.x)", "substr(t.x)", "ABS(t.n, t.n)", "date_part('day', t.d, t.d)"),
    "not whole": ("1.5", "t.n = 0.5", "t.n > 1e3"),
    "no truth value": (
        "CASE WHEN t.n THEN 1 END",
        "CASE WHEN t.b THEN 1 WHEN t.x THEN 2 END",
        "CASE WHEN t.b THEN 1 WHEN t.b THEN 2 WHEN t.d THEN 2 END",
        "NOT t.n",
        "t.b AND t.x",
        "t.d OR t.b",
    ),
    "different kinds": (
        "CASE WHEN t.b THEN 1 ELSE 'a' END",
        "COALESCE(t.n, t.b)",
        "GREATEST(t.d, t.x)",
        "t.n = t.x",
        "t.d > t.n",
        "t.x IN ('a', 1)",
        "t.b = 1",
    ),
    "a unit compared": ("t.u = t.n", "t.u < t.v", "t.u <> t.v", "t.u IN (t.v)", "t.u = NULL"),
    "64 bits": (
        "9223372036854775808",
        "t.n * 9223372036854775807",
        "t.n + 9223372036854775800",
        "t.m - 9223372036854775807",
        "CAST(9223372036854775807 AS BIGINT) + 1",
    ),
    "32 bits": ("2147483647 + 1", "1073741824 * 2", "-2147483647 - 1", "65536 * 65536"),
    "unknown width": ("t.s + 1", "t.s * t.s", "t.s - 1", "t.s // t.q", "t.p // 3"),
    "may be zero": (
        "t.p // t.n",
        "t.q // t.p",
        "t.q // (t.q - 7)",
        "t.q // (t.q - 3)",
        "t.p % t.n",
        "t.p % t.p",
        "t.p % (t.q - 7)",
        "t.s % t.q",
        "t.q % t.s",
        "t.q % 3",
        "t.sum % t.q",
        "t.x % t.q",
    ),
    "no bounded whole number": (
        "t.x + 1",
        "t.sum + 1",
        "t.d - 1",
        "t.d + t.d",
        "1 - t.d",
        "t.sum // t.q",
        "t.p // t.sum",
        "-t.sum",
        "-t.b",
        "CAST(t.sum AS BIGINT)",
        "CAST(t.x AS BIGINT)",
        "CAST(t.b AS BIGINT)",
        "CAST(t.x AS SMALLINT)",
        "COALESCE(t.sum, 1)",
    ),
    "16 bits": (
        "CAST(CAST(32768 AS BIGINT) AS SMALLINT)",
        "CAST(CAST(-32769 AS BIGINT) AS SMALLINT)",
        "CAST(t.p * 1000 AS SMALLINT)",
    ),
    "8 bits": (
        "CAST(CAST(256 AS BIGINT) AS UTINYINT)",
        "CAST(CAST(-1 AS BIGINT) AS UTINYINT)",
        "CAST(t.n AS UTINYINT)",
        "CAST(t.p * 3 AS UTINYINT)",
    ),
    "in no list": ("enum_code(t.x)", "enum_code(t.n)", "enum_code(COALESCE(t.e, t.e))"),
    "is no date": (
        "date_part('epoch', t.d)",
        "date_part('second', t.d)",
        "date_part('hour', t.d)",
        "date_part('year', t.x)",
        "date_part('year', t.n)",
        "date_part(t.x, t.d)",
        "unixdate(t.n)",
        "unixdate('2000-01-01')",
    ),
    "are no dates": (
        "date_diff('second', t.d, t.d)",
        "date_diff('day', t.d, t.x)",
        "date_diff('day', t.n, t.d)",
        "date_diff(t.x, t.d, t.d)",
    ),
    "function of text": ("t.odd || 'a'", "COALESCE(t.odd, 'a')", "TRY_CAST(t.n AS ENUM('a'))"),
}


@pytest.mark.parametrize(("why", "sql"), [(why, sql) for why in REFUSED for sql in REFUSED[why]])
def test_what_could_fail_on_a_row_is_refused(why: str, sql: str) -> None:
    with pytest.raises(Unfit, match=why):
        value(sql)


def test_numbers_that_leave_64_bits_are_told_apart_from_the_rest() -> None:
    assert value("t.q + 9223372036854775800").bounded == (2**63 - 5, 2**63 - 1)
    with pytest.raises(TooWide):
        value("t.q + 9223372036854775801")


def test_a_list_of_values_is_constant() -> None:
    listed = Apply("try_cast enum", (Name("t", "x"), Constant("a"), Constant("b")))
    assert value_of(listed, COLUMNS).high == 1
    for others in ((), (Constant("a"), Name("t", "x")), (Name("t", "x"),)):
        with pytest.raises(Unfit, match="not constant"):
            value_of(Apply("try_cast enum", (Name("t", "x"), *others)), COLUMNS)


@pytest.mark.parametrize("name", ["/", "//"])
def test_whole_division_has_two_names(name: str) -> None:
    assert value_of(Apply(name, (Name("t", "p"), Name("t", "q"))), COLUMNS) == integer(0, 40)


@pytest.mark.parametrize("other", [Fold("sum", Name("t", "n")), Window("count", None, (), ())])
def test_no_aggregate_hides_in_a_row_function(other: Term) -> None:
    with pytest.raises(Unfit, match="an aggregate"):
        value_of(Apply("+", (Name("t", "n"), other)), COLUMNS)


def test_a_filter_is_a_truth_value() -> None:
    for fine in ("t.b", "t.n > 1", "NULL", "CASE WHEN t.b THEN TRUE END"):
        condition(term(fine), COLUMNS)
    for other in ("t.n", "t.x", "t.d", "1", "'true'"):
        with pytest.raises(Unfit, match="no truth value"):
            condition(term(other), COLUMNS)


@pytest.mark.parametrize(("low", "high"), [(-3, 9), (5, 5), (0, 1)])
def test_the_clamp_is_known_with_its_two_ends(low: int, high: int) -> None:
    assert clamp_of(term(clamp(low, high))) == (Name("t", "n"), low, high)
    cast = clamp(low, high).replace("ELSE t.n", "ELSE CAST(t.n AS BIGINT)")
    assert clamp_of(term(cast)) == (Name("t", "n"), low, high)
    assert value(cast) == integer(low, high)


@pytest.mark.parametrize(
    "sql",
    [
        "CASE WHEN t.n > 9 THEN 10 WHEN t.n < 0 THEN 0 ELSE t.n END",
        "CASE WHEN t.n > 9 THEN 9 WHEN t.n < 0 THEN -1 ELSE t.n END",
        "CASE WHEN t.n > 9 THEN 9 WHEN t.p < 0 THEN 0 ELSE t.n END",
        "CASE WHEN t.n > 9 THEN 9 WHEN t.n < 0 THEN 0 ELSE t.p END",
        "CASE WHEN t.n > 9 THEN 9 WHEN t.n < 0 THEN 0 ELSE t.n + 1 END",
        "CASE WHEN t.n > 9 THEN 9 WHEN t.n < 0 THEN 0 ELSE CAST(t.p AS BIGINT) END",
        "CASE WHEN t.n > 9 THEN 9 WHEN t.n < 0 THEN 0 ELSE CAST(t.n AS SMALLINT) END",
        "CASE WHEN t.n >= 9 THEN 9 WHEN t.n < 0 THEN 0 ELSE t.n END",
        "CASE WHEN t.n < 9 THEN 9 WHEN t.n > 0 THEN 0 ELSE t.n END",
        "CASE WHEN t.n > t.p THEN 9 WHEN t.n < 0 THEN 0 ELSE t.n END",
        "CASE WHEN t.n > 0 THEN 0 WHEN t.n < 9 THEN 9 ELSE t.n END",
        "CASE WHEN t.n > 9 THEN 9 ELSE t.n END",
        "CASE WHEN t.b > TRUE THEN TRUE WHEN t.b < FALSE THEN FALSE ELSE t.b END",
        "t.n",
    ],
)
def test_what_is_nearly_a_clamp_is_none(sql: str) -> None:
    assert clamp_of(term(sql)) is None


def test_a_clamp_that_is_none_keeps_the_range_of_its_branches() -> None:
    assert value("CASE WHEN t.n > 9 THEN 9 WHEN t.n < 0 THEN 0 ELSE t.p END") == integer(0, 120)
    assert value("CASE WHEN t.n > 9 THEN 9 ELSE t.n END") == integer(-50, 50)


@pytest.mark.parametrize(
    ("sql", "low", "high", "wide"),
    [
        (clamp(-3, 9), -3, 9, WIDE),
        (clamp(-3, 9, "t.s"), -3, 9, SHORT),
        (clamp(-3, 9, "t.s").replace("ELSE t.s", "ELSE CAST(t.s AS BIGINT)"), -3, 9, WIDE),
        (clamp(0, 2**31 - 1, "t.s"), 0, 2**31 - 1, SHORT),
        (clamp(0, 2**31, "t.s"), 0, 2**31, WIDE),
        (clamp(-(2**31), 0, "t.s"), -(2**31), 0, SHORT),
        (clamp(-(2**31) - 1, 0, "t.s"), -(2**31) - 1, 0, WIDE),
        (clamp(1 - 2**31, 0, "t.s"), 1 - 2**31, 0, SHORT),
    ],
)
def test_a_clamp_has_its_own_ends(sql: str, low: int, high: int, *, wide: bool) -> None:
    assert value(sql) == integer(low, high, wide=wide)


def test_a_clamp_reads_numbers_of_any_size_and_nothing_else() -> None:
    cast = clamp(0, 5, "t.sum").replace("ELSE t.sum", "ELSE CAST(t.sum AS BIGINT)")
    assert value(cast) == integer(0, 5)
    for other in ("t.x", "t.d", "t.b", "t.u", "NULL"):
        with pytest.raises(Unfit, match="no whole number"):
            value(clamp(0, 5, other))


FAILS = [
    # A NULL that is a number to the engine: beside it, texts are read as numbers too.
    "t.x IN (NULL + 1, 'f')",
    "t.x IN (NULL * NULL, t.x)",
    "t.x IN (CAST(NULL AS BIGINT), 'f')",
    "t.x IN (CAST(NULL AS DECIMAL(19, 0)), 'f')",
    "t.x = CASE WHEN t.b THEN NULL - 1 END",
    "CASE WHEN t.b THEN NULL + 1 ELSE 'f' END = t.x",
    # What is no date raises where a row gets there.
    "CASE WHEN t.b THEN DATE 'soon' ELSE t.d END",
    "CASE WHEN t.b THEN DATE '2023-02-29' ELSE t.d END",
    # More days away than any date of the calendar.
    "CAST(DATE '200000-01-01' - t.d AS BIGINT) * 1099511627776",
    # Numbers of few bits or without a sign; constants beside them are taken for such numbers too.
    "CAST(32767 AS SMALLINT) + 1",
    "CAST(255 AS UTINYINT) + 1",
    f"CAST({clamp(7, 7)} AS UTINYINT) - CAST({clamp(8, 8)} AS UTINYINT)",
    f"CAST({clamp(16, 16)} AS UTINYINT) * CAST({clamp(16, 16)} AS UTINYINT)",
    "CAST(CAST(9223372036854775807 AS DECIMAL(19, 0)) // CAST(1 AS BIGINT) AS BIGINT)",
    f"{clamp(200, 200, 'enum_code(t.e)')} + 100",
    "-enum_code(t.e)",
    "-COALESCE(enum_code(t.e), 3)",
    f"-{clamp(1, 2, 'enum_code(t.e)')}",
    f"-{clamp(1, 1, 'enum_code(t.e)')}",
    f"-CAST({clamp(-32768, -32768)} AS SMALLINT)",
    f"ABS(CAST({clamp(-32768, -32768)} AS SMALLINT))",
]


def test_a_number_of_eight_bits_is_narrow() -> None:
    assert value("CAST(t.p AS UTINYINT)") == integer(0, 120, wide=False, narrow=True)


@pytest.mark.parametrize("sql", FAILS)
def test_what_duckdb_fails_on_is_refused(sql: str) -> None:
    rows = (
        "(SELECT CAST(7 AS BIGINT) AS n, 'a' AS x, CAST('b' AS ENUM('a', 'b')) AS e, TRUE AS b, "
        "DATE '2000-01-01' AS d UNION ALL SELECT 8, 'a', 'b', FALSE, DATE '2000-01-01') AS t"
    )
    with pytest.raises(duckdb.Error):
        base().execute(f"SELECT {sql} FROM {rows}").fetchall()
    with pytest.raises(Unfit):
        value(sql)


@pytest.mark.parametrize(
    ("sql", "wide"),
    [
        ("NULL + t.n", WIDE),
        ("t.n * NULL", WIDE),
        ("NULL - 1", SHORT),
        ("NULL + NULL", SHORT),
        ("CAST(NULL AS BIGINT)", WIDE),
    ],
)
def test_null_that_was_computed_is_a_number(sql: str, *, wide: bool) -> None:
    assert value(sql) == integer(0, 0, wide=wide)
    assert value(f"t.n IN ({sql}, 5)").kind is ValueKind.BOOLEAN


@pytest.mark.parametrize("sql", ["NULL + t.x", "t.d - NULL", "NULL + t.d", "t.b * NULL"])
def test_null_is_added_to_numbers_only(sql: str) -> None:
    with pytest.raises(Unfit, match="no number"):
        value(sql)


@pytest.mark.parametrize(
    "date", ["2000-1-1", "20000101", "2000-W01-1", "infinity", "", "12000-01-01"]
)
def test_a_date_is_written_in_one_way(date: str) -> None:
    assert value("t.d = DATE '9999-12-31'").kind is ValueKind.BOOLEAN
    with pytest.raises(Unfit, match="not a date"):
        value(f"t.d = DATE '{date}'")


@pytest.mark.parametrize(
    ("sql", "low", "high", "wide"),
    [
        ("CAST(t.n AS SMALLINT)", -50, 50, SHORT),
        ("CAST(CAST(32767 AS BIGINT) AS SMALLINT)", 32767, 32767, SHORT),
        ("CAST(CAST(-32768 AS BIGINT) AS SMALLINT)", -32768, -32768, SHORT),
        ("enum_code(t.e)", 0, 2, SHORT),
        ("enum_code(TRY_CAST(t.x AS ENUM('a', 'bbb', 'c')))", 0, 2, SHORT),
        ("enum_code(TRY_CAST(t.x AS ENUM('a')))", 0, 0, SHORT),
        ("COALESCE(enum_code(t.e), 9)", 0, 9, SHORT),
        ("CASE WHEN t.b THEN enum_code(t.e) ELSE t.n END", -50, 50, WIDE),
        ("CAST(t.s AS DECIMAL(19, 0))", -9, 9, WIDE),
        ("CAST(NULL AS DECIMAL(19, 0))", 0, 0, WIDE),
        ("CASE WHEN t.b THEN CAST(t.n AS DECIMAL(19, 0)) ELSE t.n END", -50, 50, WIDE),
        (clamp(0, 2**40, "CAST(t.n AS DECIMAL(19, 0))"), 0, 2**40, WIDE),
        (clamp(1, 2, "enum_code(t.e)"), 1, 2, SHORT),
        (clamp(1, 2, "CAST(t.n AS DECIMAL(19, 0))"), 1, 2, WIDE),
    ],
)
def test_narrow_numbers_are_computed_with_only_once_they_are_wide(
    sql: str, low: int, high: int, *, wide: bool
) -> None:
    assert value(sql) == integer(low, high, wide=wide, narrow=True)
    for computed in (f"-{sql}", f"ABS({sql})"):
        with pytest.raises(Unfit, match="narrow"):
            value(computed)
    for computed in (f"{sql} + 1", f"t.n * {sql}", f"{sql} - t.n", f"{sql} + {sql}"):
        with pytest.raises(Unfit, match="narrow"):
            value(computed)
    for computed in (f"{sql} // t.q", f"{sql} % t.q", f"t.n // {sql}", f"t.n % {sql}"):
        with pytest.raises(Unfit, match=r"unknown width|may be zero"):
            value(computed)
    assert value(f"{sql} > 5").kind is ValueKind.BOOLEAN
    assert value(f"-CAST({sql} AS BIGINT)") == integer(-high, -low)
    assert value(f"ABS(CAST({sql} AS BIGINT))").high == max(abs(low), abs(high))


def test_the_place_of_a_text_is_that_of_one_text() -> None:
    with pytest.raises(Unfit, match="operands"):
        value("enum_code(t.e, t.e)")


LEAST = "CASE WHEN t.b THEN -2147483648 ELSE 5 END"


@pytest.mark.parametrize("sql", [f"{LEAST} * 2", f"{LEAST} - 1", f"-({LEAST})", f"ABS({LEAST})"])
def test_the_least_number_of_32_bits_is_computed_with_only_once_it_is_wide(sql: str) -> None:
    """To DuckDB it has 32 bits: what is made of it overflows in the rows that get there."""
    with pytest.raises(Unfit):
        value(sql)
    assert value(sql.replace(LEAST, f"CAST({LEAST} AS BIGINT)")).wide
