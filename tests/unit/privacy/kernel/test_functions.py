"""Scalar functions: what the kernel derives of them, and that Python, SQL and DuckDB mean the same.

The kernel's side first (ranges, and how many operands there may be), then the constants that may stand
beside an operand, then the values, each computed by hand.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import duckdb
import pytest

from discreet.ask.plan.kinds import checked_options
from discreet.errors import QueryRefused
from discreet.privacy.kernel.functions import (
    SEALED,
    Applied,
    Constants,
    ScalarFunction,
    Value,
    ValueKind,
    called,
    integer,
)
from discreet.privacy.kernel.nodes import Apply, Constant, Name, Term, Unfit
from discreet.privacy.kernel.scalars import value_of

NUMBER, SAID = Name("t", "c0"), Name("t", "c1")
COLUMNS = {NUMBER: integer(-3, 5), SAID: Value(ValueKind.TEXT, length=10)}


# -- what the kernel derives -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ends", "found"),
    [
        ((-3, 5), (0, 5)),
        ((-9, 5), (0, 9)),
        ((0, 5), (0, 5)),
        ((-5, 0), (0, 5)),
        ((1, 5), (1, 5)),
        ((-5, -1), (1, 5)),
        ((-5, -5), (5, 5)),
        ((-(2**63) + 1, 1), (0, 2**63 - 1)),
    ],
)
def test_an_absolute_value_is_as_large_as_the_end_farther_from_zero(
    ends: tuple[int, int], found: tuple[int, int]
) -> None:
    for wide in (True, False) if max(map(abs, ends)) < 2**31 else (True,):
        columns = {NUMBER: integer(*ends, wide=wide)}
        assert value_of(Apply("abs", (NUMBER,)), columns) == integer(*found, wide=wide)
    reach = SEALED["abs"].reach
    assert reach is not None
    assert reach(*map(Fraction, ends)) == found


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (integer(-(2**31) + 1, 5, wide=False), True),
        (integer(-(2**31), 5, wide=False), False),
        (integer(-5, 2**31 - 1, wide=False), True),
        (integer(-(2**31), 5, wide=True), True),
        (integer(-3, 5, wide=True, narrow=True), False),
        (integer(-3, 5, wide=False, narrow=True), False),
    ],
)
def test_an_absolute_value_must_fit_where_its_number_does(value: Value, *, fits: bool) -> None:
    """The opposite of the least number of 32 bits is none of 32 bits."""
    if fits:
        assert value_of(Apply("abs", (NUMBER,)), {NUMBER: value}).high == max(
            -value.low, value.high
        )
    else:
        with pytest.raises(Unfit, match="narrow"):
            value_of(Apply("abs", (NUMBER,)), {NUMBER: value})


WORDS = {
    "abs": (NUMBER,),
    "upper": (SAID,),
    "lower": (SAID,),
    "length": (SAID,),
    "trim": (SAID,),
    "substr": (SAID, Constant(2), Constant(3)),
    "substring": (SAID, Constant(2), Constant(3)),
    "replace": (SAID, Constant("a"), Constant("b")),
    "split_part": (SAID, Constant("a"), Constant(1)),
    "splitpart": (SAID, Constant("a"), Constant(1)),
    "regexp_matches": (SAID, Constant("a")),
    "regexp_replace": (SAID, Constant("a"), Constant("b"), Constant("g")),
}
FEWER = {"substr": 2, "substring": 2, "regexp_replace": 3}
LENGTHS = {"upper": 30, "lower": 30, "trim": 10, "substr": 3, "substring": 3, "replace": 10}
LENGTHS |= {"split_part": 10, "splitpart": 10, "regexp_replace": 21}


def test_every_name_that_reaches_an_engine_is_tried_here() -> None:
    assert {name for row in SEALED.values() for name in row.applied} == WORDS.keys()


def test_a_function_takes_so_many_operands_and_no_others() -> None:
    for name, words in WORDS.items():
        given: tuple[Term, ...] = (*words, Constant(1), Constant(1))
        for count in range(len(given) + 1):
            term = Apply(name, given[:count])
            if FEWER.get(name, len(words)) <= count <= len(words):
                assert value_of(term, COLUMNS)
                continue
            with pytest.raises(Unfit, match=f"'{name}' of {count} operands"):
                value_of(term, COLUMNS)


@pytest.mark.parametrize("name", LENGTHS)
def test_no_text_is_longer_than_its_rule_says(name: str) -> None:
    assert value_of(Apply(name, WORDS[name]), COLUMNS).letters == LENGTHS[name]


def test_where_a_row_says_nothing_there_are_one_to_9999_operands() -> None:
    for name in ("coalesce", "greatest"):
        assert value_of(Apply(name, (NUMBER,)), COLUMNS).bounded == (-3, 5)
        assert value_of(Apply(name, (NUMBER,) * 9_999), COLUMNS).bounded == (-3, 5)
        for count in (0, 10_000):
            with pytest.raises(Unfit, match="operands"):
                value_of(Apply(name, (NUMBER,) * count), COLUMNS)


# -- constants beside the operand ----------------------------------------------------------------------


FITTING: dict[str, list[tuple[Any, ...]]] = {
    "left": [(2,)],
    "substring": [(2,), (2, 3)],
    "replace": [("a", "b"), ("", "b")],
    "split_part": [(" ", 1), (" ", -1)],
    "starts_with": [("a",)],
    "matches": [("a",)],
    "replace_pattern": [("a", "b")],
    "upper": [()],
    "trim": [()],
}
OTHERS: dict[str, list[tuple[Any, ...]]] = {
    "left": [("a",), (Fraction(1, 2),), (), (1, 2)],
    "substring": [(), ("a",), (1, "a"), (1, 2, 3)],
    "replace": [(1, "b"), ("a", 1), ("a",)],
    "split_part": [(" ", 0), (1, 1), (" ", "a"), (" ", 1, 1), (" ",)],
    "starts_with": [(1,), ()],
    "upper": [("a",), (1,)],
    "trim": [("a",), (1,)],
}


@pytest.mark.parametrize("function", FITTING)
def test_which_constants_may_stand_beside_the_operand(function: str) -> None:
    for options in FITTING[function]:
        assert checked_options(function, options) == options
        assert SEALED[function].compute("a b", *options) is not None
    for options in OTHERS.get(function, []):
        with pytest.raises(QueryRefused):
            checked_options(function, options)


def test_nothing_is_allowed_unless_a_row_says_so() -> None:
    applied = {"f": Applied(lambda *_: integer(0, 0))}
    row = ScalarFunction(
        takes="number", gives="number", compute=abs, sql=called("F"), applied=applied
    )
    assert (row.steps, row.written) == (False, ())
    assert row.constants == Constants(texts=False, places=(0, 0), from_one=False)
    assert row.applied["f"].operands == range(1, 10_000)


# -- values --------------------------------------------------------------------------------------------

VALUES = [
    ("abs", -5, (), 5),
    ("upper", "aé", (), "AÉ"),
    ("lower", "AÉ", (), "aé"),
    ("length", "aé b", (), 4),
    ("left", "abcdef", (2,), "ab"),
    ("left", "a", (2,), "a"),
    ("substring", "abcdef", (2, 3), "bcd"),
    ("substring", "abcdef", (1,), "abcdef"),
    ("substring", "abcdef", (3,), "cdef"),
    ("substring", "abcdef", (9,), ""),
    ("substring", "abcdef", (0, 3), "ab"),
    ("substring", "abcdef", (0, 0), ""),
    ("substring", "abcdef", (2, 0), ""),
    ("trim", "  a b ", (), "a b"),
    ("replace", "banana", ("an", "x"), "bxxa"),
    ("replace", "banana", ("an", ""), "ba"),
    ("replace", "banana", ("q", "x"), "banana"),
    ("replace", "banana", ("", "x"), "banana"),
    ("split_part", "a b c", (" ", 1), "a"),
    ("split_part", "a b c", (" ", 3), "c"),
    ("split_part", "a b c", (" ", 4), ""),
    ("split_part", "a b c", (" ", -1), "c"),
    ("split_part", "a b c", (" ", -3), "a"),
    ("split_part", "a b c", (" ", -4), ""),
    ("starts_with", "banana", ("ba",), True),
    ("starts_with", "banana", ("an",), False),
    ("starts_with", "banana", ("",), True),
    ("matches", "banana", ("n.n",), True),
    ("matches", "banana", ("^n",), False),
    ("replace_pattern", "banana", ("a", "_"), "b_nana"),
    ("replace_pattern", "banana", ("a", "_", "g"), "b_n_n_"),
]


@pytest.mark.parametrize(("name", "value", "constants", "expected"), VALUES)
def test_python_and_the_sql_for_duckdb_agree_with_what_it_means(
    name: str, value: object, constants: tuple[Any, ...], expected: object
) -> None:
    row = SEALED[name]
    assert row.compute(value, *constants) == expected
    spelling = row.sql["duckdb"] if isinstance(row.sql, dict) else row.sql
    assert callable(spelling)
    given = [each if isinstance(each, int) else f"'{each}'" for each in (value, *constants)]
    sql = spelling(f"{given[0]}", [f"{each}" for each in given[1:]], constants)
    assert duckdb.execute(f"SELECT {sql}").fetchall() == [(expected,)]


def test_patterns_are_for_engines_that_search_in_linear_time() -> None:
    for name in ("matches", "replace_pattern"):
        sql = SEALED[name].sql
        assert isinstance(sql, dict)
        assert sql.keys() == {"duckdb"}


def test_a_text_grows_to_100000_letters_and_its_length_counts_up_to_1000() -> None:
    compute = SEALED["replace"].compute
    assert compute("a" * 1_000, "a", "b" * 100) == "b" * 100_000
    with pytest.raises(ValueError, match="longer than any text"):
        compute("a" * 1_001, "a", "b" * 100)
    assert SEALED["length"].between == (0, 1_000)


WRITTEN = {
    "ABS(x)": 5,
    "UPPER(s)": "A B",
    "LOWER(s)": "a b",
    "LENGTH(s)": 3,
    "STRLEN(s)": 3,
    "LEFT(s, 2)": "a ",
    "SUBSTRING(s, 2, 3)": " b",
    "TRIM(s)": "a b",
    "REPLACE(s, 'a', 'b')": "b b",
    "SPLIT_PART(s, ' ', 1)": "a",
    "STARTS_WITH(s, 'a')": True,
    "REGEXP_MATCHES(s, '^a')": True,
    "REGEXP_REPLACE(s, 'a', 'b')": "b b",
}


def test_duckdb_computes_each_call_so_it_may_stand_in_a_step_over_results() -> None:
    assert SEALED["upper"].compute("a b") == WRITTEN["UPPER(s)"]
    assert {call for row in SEALED.values() for call in row.written} == WRITTEN.keys()
    assert [name for name, row in SEALED.items() if not row.steps] == []
    for call, expected in WRITTEN.items():
        found = duckdb.execute(f"SELECT {call} FROM (SELECT -5 AS x, 'a b' AS s) AS t").fetchall()
        assert found == [(expected,)]


def test_a_call_is_spelled_with_its_constants_behind_the_operand() -> None:
    assert called("F")("x", ["1", "'a'"], (1, "a")) == "F(x, 1, 'a')"
    assert called("F")("x", [], ()) == "F(x)"
