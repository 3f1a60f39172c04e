"""Functions of text: how long a text can become, and what a row must not decide.

Lengths were worked out by hand, and where DuckDB can be asked it is: no text that it makes of a row is
longer than the rule says, and some row reaches the length that is claimed to be needed.
"""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

from discreet.privacy.kernel.functions import LONGEST_TEXT, TooLong, Value, ValueKind, integer, text
from discreet.privacy.kernel.nodes import Apply, Constant, Name, Term, Unfit
from discreet.privacy.kernel.scalars import value_of
from kernel_kit import duckdb_tree

COLUMNS = {
    Name("t", name): value
    for name, value in {
        "x": text(10),
        "y": text(4),
        "long": text(40_000),
        "n": integer(-50, 50),
        "sum": Value(ValueKind.INTEGER),
        "b": Value(ValueKind.BOOLEAN),
        "d": Value(ValueKind.DATE),
        "u": Value(ValueKind.UNIT),
    }.items()
}
X = Name("t", "x")


@cache
def base() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config={"threads": 1})


def value(sql: str) -> Value:
    tree = duckdb_tree(f'SELECT {sql} AS r FROM canon."town.rows" AS t')
    return value_of(tree.outputs[0][1], COLUMNS)


LENGTHS = [
    ("t.x || t.y", 14),
    ("t.x || 'abc'", 13),
    ("UPPER(t.x)", 30),
    ("LOWER(t.y)", 12),
    ("TRIM(t.x)", 10),
    ("md5(t.x)", 32),
    ("CAST(t.x AS VARCHAR)", 10),
    ("CAST(t.n AS VARCHAR)", 20),
    ("CAST(t.d AS VARCHAR)", 10),
    ("CAST(t.b AS VARCHAR)", 5),
    ("CAST(NULL AS VARCHAR)", 0),
    ("SUBSTR(t.x, 1)", 10),
    ("SUBSTR(t.x, 0)", 10),
    ("SUBSTR(t.x, 2)", 9),
    ("SUBSTR(t.x, 10)", 1),
    ("SUBSTR(t.x, 11)", 0),
    ("SUBSTR(t.x, 99)", 0),
    ("SUBSTR(t.x, 1, 3)", 3),
    ("SUBSTR(t.x, 9, 3)", 2),
    ("SUBSTR(t.x, 3, 0)", 0),
    ("SUBSTR(t.x, 100000, 100000)", 0),
    ("REPLACE(t.x, 'a', 'bcd')", 30),
    ("REPLACE(t.x, 'aaa', 'bcdef')", 16),
    ("REPLACE(t.x, 'aa', 'b')", 10),
    ("REPLACE(t.x, 'a', 'b')", 10),
    ("REPLACE(t.x, 'a', '')", 10),
    ("SPLIT_PART(t.x, '.', 1)", 10),
    ("SPLIT_PART(t.x, '', 2)", 10),
    ("regexp_replace(t.x, 'a', 'bc')", 12),
    ("regexp_replace(t.x, 'a', 'bc', 'g')", 32),
    ("regexp_replace(t.x, '(a)', '\\1\\0')", 30),
    ("regexp_replace(t.x, '(a)', '\\1-\\0', 'g')", 41),
    ("regexp_replace(t.x, 'x*', '')", 10),
]


@pytest.mark.parametrize(("sql", "letters"), LENGTHS)
def test_a_text_has_at_most_so_many_letters(sql: str, letters: int) -> None:
    assert value(sql) == text(letters)


NASTY = [
    "aaaaaaaaaa",
    "a.a.a.a.a.",
    "ΐΐΐΐΐΐΐΐΐΐ",
    "İİİİİİİİİİ",
    "ßßßßßßßßßß",
    "          ",
    "",
    "bbbbbbbbbb",
]


@pytest.mark.parametrize(("sql", "letters"), LENGTHS)
def test_duckdb_never_makes_a_longer_one(sql: str, letters: int) -> None:
    rows = ", ".join(
        f"('{x}', '{x[:4]}', -9223372036854775807, FALSE, DATE '9999-12-31')" for x in NASTY
    )
    asked = f"SELECT MAX(LENGTH({sql})) FROM (VALUES {rows}) AS t(x, y, n, b, d)"
    (found,) = base().execute(asked).fetchone()
    assert (found or 0) <= letters


def test_the_length_of_a_text_is_a_number_of_unknown_width() -> None:
    assert value("LENGTH(t.x)") == integer(0, 10, wide=False)
    assert value("LENGTH(t.x || t.y)") == integer(0, 14, wide=False)


@pytest.mark.parametrize(
    "sql",
    [
        "t.x LIKE '%a_'",
        "t.x LIKE ''",
        "regexp_matches(t.x, '^a+$')",
        "t.x || t.y LIKE 'a'",
    ],
)
def test_a_search_is_a_truth_value(sql: str) -> None:
    assert value(sql).kind is ValueKind.BOOLEAN


REFUSED = {
    "a unit read": ("CAST(t.u AS VARCHAR)",),
    "of any size": ("CAST(t.sum AS VARCHAR)",),
    "function of text": (
        "t.x || t.n",
        "t.n || t.x",
        "md5(t.n)",
        "md5(t.x || t.d)",
        "UPPER(t.n)",
        "TRIM(t.d)",
        "SUBSTR(t.n, 1)",
        "REPLACE(t.n, 'a', 'b')",
        "SPLIT_PART(t.n, '.', 1)",
        "t.n LIKE 'a'",
        "regexp_matches(t.n, 'a')",
        "regexp_replace(t.n, 'a', 'b')",
        "LENGTH(t.n)",
        "LENGTH(t.u)",
    ),
    "cut at": (
        "SUBSTR(t.x, t.n)",
        "SUBSTR(t.x, -1)",
        "SUBSTR(t.x, 1, -1)",
        "SUBSTR(t.x, 1, t.n)",
        "SUBSTR(t.x, 100001)",
        "SUBSTR(t.x, 1, 100001)",
        "SUBSTR(t.x, TRUE)",
        "SUBSTR(t.x, '1')",
        "SUBSTR(t.x, NULL)",
        "SPLIT_PART(t.x, '.', 0)",
        "SPLIT_PART(t.x, '.', -1)",
        "SPLIT_PART(t.x, '.', t.n)",
        "SPLIT_PART(t.x, '.', 100001)",
    ),
    "changed by": (
        "t.x LIKE t.y",
        "t.x LIKE NULL",
        "t.x LIKE 1",
        "REPLACE(t.x, t.y, 'b')",
        "REPLACE(t.x, 'b', t.y)",
        "SPLIT_PART(t.x, t.y, 1)",
        "regexp_matches(t.x, t.y)",
        "regexp_replace(t.x, t.y, 'b')",
        "regexp_replace(t.x, 'b', t.y)",
        "regexp_replace(t.x, 'a', 'b', t.y)",
    ),
    "nothing replaced": ("REPLACE(t.x, '', 'b')",),
    "outside the kernel's grammar": (
        "regexp_matches(t.x, '(')",
        "regexp_matches(t.x, '(?=a)')",
        "regexp_replace(t.x, '\\C', '')",
        # Of the grammar, but RE2 does not write out so much.
        "regexp_matches(t.x, '((((((((((a{2}){2}){2}){2}){2}){2}){2}){2}){2}){2}){2}')",
    ),
    "before something other": (
        "regexp_replace(t.x, 'a', '\\1')",
        "regexp_replace(t.x, '(a)', '\\2')",
        "regexp_replace(t.x, 'a', '\\')",
    ),
    "other options": (
        "regexp_replace(t.x, 'a', 'b', 'i')",
        "regexp_replace(t.x, 'a', 'b', 'gi')",
        "regexp_replace(t.x, 'a', 'b', '')",
    ),
    "letters": (
        "t.long || t.long || t.long",
        "UPPER(t.long)",
        "REPLACE(t.long, 'a', 'bcd')",
        "regexp_replace(t.long, 'a', 'bcd', 'g')",
        "regexp_replace(t.long, 'a', '\\0\\0')",
    ),
}


@pytest.mark.parametrize(("why", "sql"), [(why, sql) for why in REFUSED for sql in REFUSED[why]])
def test_what_a_row_could_make_fail_or_grow_is_refused(why: str, sql: str) -> None:
    with pytest.raises(Unfit, match=why):
        value(sql)


def test_the_longest_text_is_still_one() -> None:
    assert value("REPLACE(t.long, 'aa', 'bcd')") == text(60_000)
    assert value("t.long || t.long") == text(80_000)
    assert text(LONGEST_TEXT).letters == 100_000
    longest = {X: text(LONGEST_TEXT)}
    for name in ("~~", "regexp_matches"):  # what it is searched for takes no room of its own
        assert value_of(Apply(name, (X, Constant("a"))), longest).kind is ValueKind.BOOLEAN
    with pytest.raises(TooLong, match="100001 letters"):
        text(100_001)


def test_texts_are_compared_by_their_bytes() -> None:
    assert value_of(Apply("collate", (X, Constant("C"))), COLUMNS) == text(10)
    for other in ("nocase", "de_DE", "c"):
        with pytest.raises(Unfit, match="more than their bytes"):
            value_of(Apply("collate", (X, Constant(other))), COLUMNS)
    with pytest.raises(Unfit, match="function of text"):
        value_of(Apply("collate", (Name("t", "n"), Constant("C"))), COLUMNS)


@pytest.mark.parametrize("word", ["a\0b", "\ud800"])
def test_a_constant_is_a_text_that_every_engine_can_hold(word: str) -> None:
    for found in (
        Apply("replace", (X, Constant(word), Constant("b"))),
        Apply("replace", (X, Constant("b"), Constant(word))),
        Apply("~~", (X, Constant(word))),
        Apply("split_part", (X, Constant(word), Constant(1))),
    ):
        with pytest.raises(Unfit, match="changed by"):
            value_of(found, COLUMNS)


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("cast varchar", (X, X)),
        ("cast text", (X, X)),
        ("cast string", ()),
        ("||", (X,)),
        ("||", (X, X, X)),
        ("md5", (X, X)),
        ("like", (X, Constant("a"), Constant("e"))),
        ("~~", (X,)),
        ("collate", (X, Constant("C"), Constant("C"))),
        ("collate", (X,)),
    ],
)
def test_so_many_operands_and_no_others(name: str, operands: tuple[Term, ...]) -> None:
    with pytest.raises(Unfit, match="operands"):
        value_of(Apply(name, operands), COLUMNS)


def test_elsewhere_than_on_duckdb_a_backslash_would_be_an_escape_sign() -> None:
    """PostgreSQL fails on a last backslash, but only for rows that match so far."""
    assert value_of(Apply("like", (X, Constant("a%"))), COLUMNS).kind is ValueKind.BOOLEAN
    assert value("t.x LIKE 'a\\'").kind is ValueKind.BOOLEAN
    with pytest.raises(Unfit, match="escape"):
        value_of(Apply("like", (X, Constant("a\\"))), COLUMNS)
