"""A SELECT of codes says itself that no code leaves its table, and how many rows a unit has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.base.event import EVERYONE
from discreet.privacy.kernel.canonical import dataset_of, region_of
from discreet.privacy.kernel.facts import SelectedCodes, codes_of, facts_of
from discreet.privacy.kernel.nodes import Apply, Derived, StoredScan, Unfit
from discreet.privacy.kernel.read_sqlglot import read_sqlglot
from discreet.privacy.kernel.rows import Rows
from kernel_kit import BOUNDED_VISITS, CLINIC, SCANS, duckdb_tree, trees

ROWS = 'canon."town.rows" AS t'
CLAMP = "CASE WHEN t.c6 > 9 THEN 9 WHEN t.c6 < 0 THEN 0 ELSE t.c6 END"
BIN = (
    "2 + COALESCE(CASE WHEN 10 <> 0 THEN CAST(((CASE WHEN t.c6 > 40 THEN 40 WHEN t.c6 < 20 THEN 20 "
    "ELSE t.c6 END) - (20)) AS BIGINT) // CAST(10 AS BIGINT) END, 0)"
)
VISITS = (
    f"(SELECT enum_code(b.c1) AS p0, b.u AS u FROM {BOUNDED_VISITS} AS b WHERE b.n <= 3) AS p "
    "WHERE p.p0 IS NOT NULL"
)


def codes(sql: str, *sizes: int) -> SelectedCodes:
    """Return what both parsers' trees do, which must be the same."""
    found, other = (codes_of(tree, sizes, SCANS) for tree in trees(sql))
    assert found == other
    return found


def stored(sql: str, *sizes: int) -> SelectedCodes:
    """Return what a statement does that only DuckDB can run."""
    return codes_of(duckdb_tree(sql), sizes, SCANS)


@pytest.mark.parametrize(
    ("term", "size"),
    [
        ("CAST(t.c0 AS SMALLINT)", 121),
        (CLAMP, 10),
        ("t.c6 - (-50)", 101),
        ("CASE WHEN t.c3 THEN 1 WHEN NOT (t.c3) THEN 0 ELSE 2 END", 3),
        ("CASE WHEN t.c1 = 'f' THEN 0 WHEN t.c1 = 'm' THEN 1 ELSE 2 END", 3),
        (BIN, 5),
        (f"CASE WHEN t.c6 < 7 THEN 0 ELSE {BIN} END", 5),
        ("COALESCE(t.c2, 201)", 202),
    ],
)
def test_the_range_of_a_code_is_read_off(term: str, size: int) -> None:
    sql = f"SELECT {term} AS c0 FROM {ROWS} WHERE t.c0 IS NOT NULL AND t.c6 IS NOT NULL"
    assert codes(sql, size) == SelectedCodes(1, ("town.rows",), person=False)
    with pytest.raises(Unfit, match="leave its table"):
        codes(sql, size - 1)


def test_a_category_is_its_place_in_the_declared_list() -> None:
    sql = f"SELECT enum_code(t.c1) AS c0 FROM {ROWS} WHERE t.c1 IS NOT NULL"
    with pytest.raises(Unfit, match="NULL"):  # of a function nothing is known
        stored(sql, 2)
    found = stored(f"SELECT COALESCE(enum_code(t.c1), 2) AS c0 FROM {ROWS}", 3)
    assert found.rows == 1
    with pytest.raises(Unfit, match="leave its table"):
        stored(f"SELECT COALESCE(enum_code(t.c1), 0) AS c0 FROM {ROWS}", 1)


@pytest.mark.parametrize("listed", ["'x, y'", "'x', 'y'", "'x', 'y', 'z'"])
def test_a_list_of_words_is_as_long_as_it_is(listed: str) -> None:
    text = "CAST(t.c1 AS VARCHAR)"
    size = listed.count("'") // 2
    sql = f"SELECT COALESCE(enum_code(TRY_CAST({text} AS ENUM({listed}))), 0) AS c0 FROM {ROWS}"
    assert stored(sql, size).rows == 1
    if size > 1:
        with pytest.raises(Unfit, match="leave its table"):
            stored(sql, size - 1)


@pytest.mark.parametrize(
    "text",
    ["CAST(t.c1 AS VARCHAR)", "CASE WHEN t.c3 THEN t.c1 ELSE t.c1 END", "t.c1 || 'x'", "'f'"],
)
def test_other_texts_have_no_place(text: str) -> None:
    with pytest.raises(Unfit, match="in no list"):
        stored(f"SELECT COALESCE(enum_code({text}), 0) AS c0 FROM {ROWS}", 9)


def test_rows_of_people_are_those_that_the_sql_keeps() -> None:
    found = stored(f"SELECT p.p0 AS c0 FROM {VISITS}", 3)
    assert found == SelectedCodes(3, ("clinic.visits",), person=True)
    assert dataset_of(found, SCANS.tables) == CLINIC
    none = region_of(found, SCANS.tables, lambda *_: None, lambda *_: EVERYONE)
    assert none == EVERYONE


def test_nobody_pays_less_for_a_gap() -> None:
    found = codes(f"SELECT t.c0 AS c0 FROM {ROWS} WHERE t.c0 IS NOT NULL AND t.c0 < 5", 121)
    assert found.region == {}


REFUSED = {
    "NULL": f"SELECT t.c0 AS c0 FROM {ROWS}",
    "NULL of another column": f"SELECT t.c0 AS c0 FROM {ROWS} WHERE t.c2 IS NOT NULL",
    "NULL in one of two": f"SELECT t.c0 AS c0 FROM {ROWS} WHERE t.c0 IS NOT NULL OR t.c3",
    "NULL in a branch": f"SELECT CASE WHEN t.c3 THEN 1 END AS c0 FROM {ROWS}",
    "NULL where another branch is taken": "SELECT CASE WHEN t.c0 IS NOT NULL THEN 1 ELSE t.c0 END AS c0 "
    f"FROM {ROWS}",
    "below zero": f"SELECT t.c6 AS c0 FROM {ROWS} WHERE t.c6 IS NOT NULL",
    "no number": f"SELECT COALESCE(t.c1, 'f') AS c0 FROM {ROWS}",
    "a fraction that rounds up": "SELECT CAST(COALESCE(CAST(t.c0 AS BIGINT) / CAST(7 AS BIGINT), 0) AS "
    f"SMALLINT) AS c0 FROM {ROWS}",
    "one too many": f"SELECT 0 AS c0, 0 AS c1 FROM {ROWS}",
    "another name": f"SELECT 0 AS c1 FROM {ROWS}",
    "an aggregate": f"SELECT COUNT(*) AS c0 FROM {ROWS}",
    "groups": f"SELECT 0 AS c0 FROM {ROWS} GROUP BY t.c0",
    "a window over everybody": f"SELECT COUNT(*) OVER () AS c0 FROM {ROWS}",
    "nobody": 'SELECT 0 AS c0 FROM canon."clinic.wards" AS w',
    "rows that nothing bounds": 'SELECT 0 AS c0 FROM canon."clinic.visits" AS v',
    "the unit lost inside": f"SELECT 0 AS c0 FROM (SELECT b.c1 AS c1 FROM {BOUNDED_VISITS} AS b "
    "WHERE b.n <= 3) AS p",
    "the unit as a code": f"SELECT b.u AS c0 FROM {BOUNDED_VISITS} AS b WHERE b.n <= 3",
    "rows of two private tables": f'SELECT 0 AS c0 FROM {ROWS} INNER JOIN canon."town.rows" AS s ON '
    "t.c0 = s.c0",
    "distinct": f"SELECT DISTINCT 0 AS c0 FROM {ROWS}",
    "limit": f"SELECT 0 AS c0 FROM {ROWS} LIMIT 5",
    "16 bits": f"SELECT CAST(t.c0 * 1000 AS SMALLINT) AS c0 FROM {ROWS} WHERE t.c0 IS NOT NULL",
}


@pytest.mark.parametrize("name", REFUSED)
def test_everything_else_is_refused(name: str) -> None:
    with pytest.raises(Unfit):
        codes(REFUSED[name], 1000)


def test_a_division_is_whole_where_the_dialect_says_so() -> None:
    sql = 'SELECT COALESCE(CAST(t.c0 AS BIGINT) {} CAST(7 AS BIGINT), 0) AS c0 FROM canon."town.rows" AS t'
    whole = {"postgres": "/", "spark": "div", "duckdb": "//"}
    for dialect, sign in whole.items():
        text = sql.format(sign).replace('"', "`" if dialect == "spark" else '"')
        assert codes_of(read_sqlglot(text, dialect), (18,), SCANS).rows == 1
    for dialect in ("spark", "duckdb"):
        text = sql.format("/").replace('"', "`" if dialect == "spark" else '"')
        with pytest.raises(Unfit):
            codes_of(read_sqlglot(text, dialect), (18,), SCANS)


def test_a_stored_category_is_no_number_elsewhere() -> None:
    # On an engine that keeps no canonical rows, a category is a plain text.
    views = {name: replace(each, view=lambda *_: None) for name, each in SCANS.tables.items()}
    tree = duckdb_tree(f"SELECT COALESCE(enum_code(t.c1), 0) AS c0 FROM {ROWS}")
    with pytest.raises(Unfit):
        codes_of(tree, (2,), replace(SCANS, tables=views))


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ('SELECT 0 AS c0 FROM canon."clinic.wards" AS w', "codes of nobody"),
        ('SELECT 0 AS c0 FROM canon."clinic.visits" AS v', "nothing bounds"),
        (f"SELECT 0 AS c0 FROM {ROWS} GROUP BY t.c0", "codes of groups"),
        (f"SELECT 0 AS c1 FROM {ROWS}", "under other names"),
        (f"SELECT 0 AS c0, 0 AS c1 FROM {ROWS}", "under other names"),
        (f"SELECT t.c6 AS c0 FROM {ROWS} WHERE t.c6 IS NOT NULL", "leave its table"),
        (f"SELECT -1 AS c0 FROM {ROWS}", "leave its table"),
        (f"SELECT t.c1 AS c0 FROM {ROWS} WHERE t.c1 IS NOT NULL", "no bounded whole number"),
    ],
)
def test_a_refusal_says_what_is_wrong(sql: str, why: str) -> None:
    with pytest.raises(Unfit, match=why):
        codes(sql, 1000)


@pytest.mark.parametrize(
    "term",
    [
        "1",
        "COALESCE(t.c2, 5)",
        "COALESCE(t.c2, t.c0 + 1)",
        "COALESCE(t.c0, t.c2)",
        "ABS(t.c0 + 1)",
        "CASE WHEN t.c2 IS NOT NULL THEN t.c2 ELSE 0 END",
        "CASE WHEN t.c3 THEN 1 WHEN t.c2 IS NOT NULL THEN t.c2 ELSE t.c0 END",
        "CASE WHEN t.c2 IS NOT NULL THEN t.c2 WHEN t.c3 THEN 2 WHEN t.c6 > 5 THEN 3 ELSE 0 END",
        "CASE WHEN t.c2 IS NOT NULL AND t.c3 THEN t.c2 ELSE 0 END",
    ],
)
def test_a_code_that_is_never_null(term: str) -> None:
    assert codes(f"SELECT {term} AS c0 FROM {ROWS} WHERE t.c0 IS NOT NULL", 1000).rows == 1


@pytest.mark.parametrize(
    "term",
    [
        "t.c2",
        "t.c2 + 1",
        "t.c0 + t.c2",
        "ABS(t.c2)",
        "COALESCE(t.c2, t.c2)",
        "COALESCE(t.c2, NULL)",
        "LENGTH(CAST(t.c4 AS VARCHAR))",  # of a function nothing is known
        "GREATEST(t.c0, 1)",
        "CASE WHEN t.c3 THEN t.c2 ELSE 0 END",
        "CASE WHEN t.c3 THEN 1 WHEN t.c3 THEN t.c2 ELSE 0 END",
        "CASE WHEN t.c2 IS NOT NULL THEN 1 WHEN t.c3 THEN t.c2 ELSE 0 END",  # of another branch
        "CASE WHEN t.c2 IS NOT NULL THEN t.c2 WHEN t.c3 THEN t.c2 ELSE 0 END",
        "CASE WHEN t.c2 IS NULL THEN t.c2 ELSE 0 END",
        "CASE WHEN t.c2 IS NOT NULL OR t.c3 THEN t.c2 ELSE 0 END",
        "CASE WHEN t.c3 THEN 1 ELSE t.c2 END",
        "CASE WHEN t.c3 THEN 1 ELSE NULL END",
    ],
)
def test_a_code_that_could_be_null(term: str) -> None:
    with pytest.raises(Unfit, match="could be NULL"):
        codes(f"SELECT {term} AS c0 FROM {ROWS} WHERE t.c0 IS NOT NULL AND t.c4 IS NOT NULL", 1000)


@pytest.mark.parametrize(
    "test",
    [
        "t.c0 IS NULL",
        "t.c3",
        "t.c0 + 1 IS NOT NULL",
        "NOT (t.c0 IS NOT NULL AND t.c3)",
        "t.c2 > t.c0",
    ],
)
def test_other_conditions_say_nothing_about_null(test: str) -> None:
    with pytest.raises(Unfit, match="could be NULL"):
        codes(f"SELECT t.c0 AS c0 FROM {ROWS} WHERE {test}", 1000)


def test_people_may_be_in_two_tables_and_rows_as_units_in_one() -> None:
    visits = f"(SELECT b.u AS u FROM {BOUNDED_VISITS} AS b WHERE b.n <= 3) AS v"
    people = '(SELECT p.u AS u FROM canon."clinic.people" AS p WHERE p.r <= 2) AS p'
    found = codes(f"SELECT 0 AS c0 FROM {visits} INNER JOIN {people} ON v.u = p.u", 1)
    assert found == SelectedCodes(6, ("clinic.visits", "clinic.people"), person=True)

    class TwoAtOnce:
        """A relation over two private tables without a person, which no join makes."""

        def stored(self, source: StoredScan) -> Rows:
            return Rows({}, private=(source.path[1], "town.other"))

        def view(self, _source: Derived) -> None:
            return None

    with pytest.raises(Unfit, match="need one private table"):
        codes_of(duckdb_tree(f"SELECT 0 AS c0 FROM {ROWS}"), (1,), TwoAtOnce())
    with pytest.raises(Unfit, match="need one private table"):
        facts_of(duckdb_tree(f"SELECT COUNT(*) AS r0 FROM {ROWS}"), TwoAtOnce())


def test_a_case_has_a_value_for_each_test() -> None:
    tree = duckdb_tree(
        f"SELECT CASE WHEN t.c3 THEN 1 WHEN t.c3 THEN 1 ELSE 0 END AS c0 FROM {ROWS}"
    )
    assert codes_of(tree, (2,), SCANS).rows == 1
    ((name, case),) = tree.outputs
    assert isinstance(case, Apply)
    short = Apply("case", (*case.operands[:3], case.operands[-1]))
    with pytest.raises(ValueError, match="zip"):
        codes_of(replace(tree, outputs=((name, short),)), (2,), SCANS)
