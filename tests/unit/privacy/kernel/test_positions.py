"""Where a unit must sit for a condition to hold: every position at which it can be true, none left out.

A position too few is a person who is read and not billed. What is not understood restricts nothing.
"""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest

from discreet.base.event import Positions
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.privacy.kernel.nodes import Apply, Constant, Name, Term
from discreet.privacy.kernel.rows import positions_of
from kernel_kit import duckdb_tree, trees

C = Name("t", "c")
WHOLE = "everything"
NOBODY: list[tuple[int, int]] = []
ALL_BUT_NULL = "all but NULL"

INTEGER = IntegerDomain(-2, 5)  # -2 is the position 0, 5 the position 7
NUMBER = NumberDomain(Fraction(-1), Fraction(1), Fraction(1, 2))  # whole steps from -2 to 2
DATE = DateDomain(dt.date(2000, 1, 1), dt.date(2000, 12, 31))
CATEGORY = CategoryDomain(("f", "m", "x"))
BOOLEAN = BooleanDomain()
MOMENT = TimestampDomain(dt.datetime(2000, 1, 1), dt.datetime(2000, 1, 2))


def expected(said: str | list[tuple[int, int]], domain: FiniteDomain) -> Positions:
    if said == WHOLE:
        return Positions(((-1, domain.size - 1),))
    return Positions(((0, domain.size - 1),) if said == ALL_BUT_NULL else tuple(said))


def check(test: str, domain: FiniteDomain, said: str | list[tuple[int, int]]) -> None:
    for tree in trees(f"SELECT COUNT(*) AS r0 FROM canon.x AS t WHERE {test}"):
        assert tree.where is not None
        assert positions_of(tree.where, C, domain) == expected(said, domain)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("t.c = 3", [(5, 5)]),
        ("t.c <> 3", [(0, 4), (6, 7)]),
        ("t.c < 3", [(0, 4)]),
        ("t.c <= 3", [(0, 5)]),
        ("t.c > 3", [(6, 7)]),
        ("t.c >= 3", [(5, 7)]),
        ("3 = t.c", [(5, 5)]),
        ("3 <> t.c", [(0, 4), (6, 7)]),
        ("3 < t.c", [(6, 7)]),
        ("3 <= t.c", [(5, 7)]),
        ("3 > t.c", [(0, 4)]),
        ("3 >= t.c", [(0, 5)]),
    ],
)
def test_a_comparison_from_either_side(test: str, said: list[tuple[int, int]]) -> None:
    check(test, INTEGER, said)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("t.c = -2", [(0, 0)]),
        ("t.c = 5", [(7, 7)]),
        ("t.c = -3", NOBODY),
        ("t.c = 6", NOBODY),
        ("t.c <> -2", [(1, 7)]),
        ("t.c <> 5", [(0, 6)]),
        ("t.c <> -3", ALL_BUT_NULL),
        ("t.c <> 6", ALL_BUT_NULL),
        ("t.c < -2", NOBODY),
        ("t.c <= -2", [(0, 0)]),
        ("t.c > 5", NOBODY),
        ("t.c >= 5", [(7, 7)]),
        ("t.c < 99", ALL_BUT_NULL),
        ("t.c <= 99", ALL_BUT_NULL),
        ("t.c > -99", ALL_BUT_NULL),
        ("t.c >= -99", ALL_BUT_NULL),
        ("t.c > 99", NOBODY),
        ("t.c < -99", NOBODY),
    ],
)
def test_null_is_in_no_comparison_and_nothing_beyond_the_ends(
    test: str, said: str | list[tuple[int, int]]
) -> None:
    check(test, INTEGER, said)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("t.c IS NULL", [(-1, -1)]),
        ("t.c IS NOT NULL", WHOLE),
        ("t.c IN (1, 3)", [(3, 3), (5, 5)]),
        ("t.c IN (1, 2)", [(3, 4)]),
        ("t.c IN (99)", NOBODY),
        ("t.c BETWEEN 0 AND 2", [(2, 4)]),
        ("t.c >= 0 AND t.c <= 2", [(2, 4)]),
        ("t.c >= 0 AND t.c < 0", NOBODY),
        ("t.c >= 0 AND t.d = 7", [(2, 7)]),
        ("t.c = 0 OR t.c = 5", [(2, 2), (7, 7)]),
        ("t.c IS NULL OR t.c > 4", [(-1, -1), (7, 7)]),
        ("t.c = 0 OR t.d = 7", WHOLE),
        ("(t.c = 0 AND t.d = 7) OR (t.c = 5 AND t.d = 8)", [(2, 2), (7, 7)]),
        ("(t.c = 0 OR t.d = 7) AND t.c < 3", [(0, 4)]),
        ("FALSE", NOBODY),
        ("NULL", NOBODY),
        ("TRUE", WHOLE),
        ("FALSE OR t.c = 0", [(2, 2)]),
        ("FALSE AND t.d = 0", NOBODY),
    ],
)
def test_conditions_of_several_parts(test: str, said: str | list[tuple[int, int]]) -> None:
    check(test, INTEGER, said)


@pytest.mark.parametrize(
    "test",
    [
        *("t.c = 2.5", "t.c > 2.5", "t.c = '3'", "t.c = TRUE", "t.c = NULL", "t.c = DATE '2000-01-01'"),
        *("t.c + 1 = 3", "t.c = t.d", "t.d = t.c", "t.d = 3", "t.d IS NULL", "t.d IN (1, 2)", "3 = 4"),
        *("NOT (t.c = 3)", "t.c IN (1, t.d)", "t.c IN (t.d, 1)", "t.c IN (1, NULL)"),
        *("5 IN (t.c)", "CAST(t.c AS VARCHAR) = '3'", "COALESCE(t.c, 3) = 3", "t.c IN (0, 0.5)"),
        *("CASE WHEN t.c = 3 THEN TRUE ELSE FALSE END", "t.d"),
    ],
)  # fmt: skip
def test_what_is_not_understood_restricts_nothing(test: str) -> None:
    check(test, INTEGER, WHOLE)


@pytest.mark.parametrize(
    "term",
    [
        C,
        Apply("not", (C,)),
        Apply("coalesce", (C, Constant(3))),
        Apply("not in", (C, Constant(3))),
        Apply("=", (C, Constant(3), Constant(4))),
        Apply("in", (Constant(3), C)),
        Apply("-", (Constant(3), C)),
        Apply("=", (C, Constant(value=False))),
    ],
)
def test_nor_do_terms_that_are_no_conditions_of_a_number(term: Term) -> None:
    assert positions_of(term, C, INTEGER) == Positions(((-1, 7),))


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("t.c", [(1, 1)]),
        ("NOT t.c", [(0, 0)]),
        ("t.c = TRUE", [(1, 1)]),
        ("t.c = FALSE", [(0, 0)]),
        ("t.c <> TRUE", [(0, 0)]),
        ("t.c > FALSE", [(1, 1)]),
        ("t.c <= FALSE", [(0, 0)]),
        ("TRUE > t.c", [(0, 0)]),
        ("t.c IS NULL", [(-1, -1)]),
        ("t.c IS NOT NULL", WHOLE),
        ("t.c IN (TRUE)", [(1, 1)]),
        ("t.c AND t.d", [(1, 1)]),
        ("t.c OR t.d", WHOLE),
        ("t.d", WHOLE),
        ("NOT t.d", WHOLE),
        ("t.c = 1", WHOLE),
        ("t.c = t.d", WHOLE),
    ],
)
def test_truth_values(test: str, said: str | list[tuple[int, int]]) -> None:
    check(test, BOOLEAN, said)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("t.c = -2", [(0, 0)]),
        ("t.c = 1", [(3, 3)]),
        ("t.c > 0", [(3, 4)]),
        ("t.c >= 0", [(2, 4)]),
        ("t.c < 0", [(0, 1)]),
        ("t.c <= 0", [(0, 2)]),
        ("t.c <> 2", [(0, 3)]),
        ("t.c = 3", NOBODY),
        ("t.c = 0.5", WHOLE),
        ("t.c = TRUE", WHOLE),
    ],
)
def test_numbers_are_whole_steps(test: str, said: str | list[tuple[int, int]]) -> None:
    check(test, NUMBER, said)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("t.c = DATE '2000-01-01'", [(0, 0)]),
        ("t.c = DATE '2000-12-31'", [(365, 365)]),
        ("t.c >= DATE '2000-03-01'", [(60, 365)]),
        ("t.c < DATE '2000-03-01'", [(0, 59)]),
        ("t.c <= DATE '2000-03-01'", [(0, 60)]),
        ("t.c > DATE '2000-03-01'", [(61, 365)]),
        ("t.c = DATE '1999-12-31'", NOBODY),
        ("t.c < DATE '2001-06-01'", [(0, 365)]),
        ("t.c = '2000-03-01'", WHOLE),
        ("t.c = 60", WHOLE),
    ],
)
def test_dates_are_days_since_the_first(test: str, said: str | list[tuple[int, int]]) -> None:
    check(test, DATE, said)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("{} = 'm'", [(1, 1)]),
        ("'m' = {}", [(1, 1)]),
        ("{} <> 'm'", [(0, 0), (2, 2)]),
        ("{} IN ('f', 'x')", [(0, 0), (2, 2)]),
        ("{} IS NULL", [(-1, -1)]),
        ("{} IS NOT NULL", WHOLE),
        ("{} IN ('f', 'other')", WHOLE),
        ("{} = 'other'", WHOLE),
        ("{} <> 'other'", WHOLE),
        ("{} < 'm'", WHOLE),
        ("{} >= 'm'", WHOLE),
        ("'m' > {}", WHOLE),
        ("{} LIKE 'm'", WHOLE),
        ("{} = 1", WHOLE),
        ("{} = 'm' AND t.d = 7", [(1, 1)]),
        ("{} = 'm' OR t.d = 7", WHOLE),
    ],
)
def test_categories_are_places_in_their_list(test: str, said: str | list[tuple[int, int]]) -> None:
    check(test.format("t.c"), CATEGORY, said)
    # The text of a stored category is that category; only DuckDB stores any.
    where = duckdb_tree(
        f"SELECT 1 AS a FROM x AS t WHERE {test.format('CAST(t.c AS VARCHAR)')}"
    ).where
    assert where is not None
    assert positions_of(where, C, CATEGORY) == expected(said, CATEGORY)


def test_the_text_of_another_column_says_nothing() -> None:
    check("CAST(t.d AS VARCHAR) = 'm'", CATEGORY, WHOLE)
    check("UPPER(CAST(t.c AS VARCHAR)) = 'm'", CATEGORY, WHOLE)


def test_conditions_without_the_category_say_no_more_about_it() -> None:
    check("FALSE", CATEGORY, NOBODY)
    check("t.d", CATEGORY, WHOLE)


@pytest.mark.parametrize("kind", ["date", "number"])
def test_a_literal_of_another_kind_is_in_no_list(kind: str) -> None:
    listed = CategoryDomain(("1.5", "2000-01-01"))
    for word in listed.values:
        assert positions_of(Apply("=", (C, Constant(word))), C, listed) != Positions.whole(2)
        assert positions_of(Apply("=", (C, Constant(word, kind))), C, listed) == Positions.whole(2)


@pytest.mark.parametrize(
    "test", ["t.c = 3", "t.c = DATE '2000-01-01'", "t.c = '2000-01-01'", "t.c < 3"]
)
def test_moments_are_not_compared(test: str) -> None:
    check(test, MOMENT, WHOLE)
