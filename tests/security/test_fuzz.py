"""Test 10: whatever is written, the outcome is a plan or a sentence; never a crash, never rows."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp

from curator_kit import MemoryEngine, arrow, catalog_of, planned, world_rows
from discreet.ask.plan.kinds import SCALARS
from discreet.ask.sql.scalars import _RULES
from discreet.ask.sql.write import expressions
from discreet.errors import DiscreetError, QueryRefused
from queries import Mutator
from sittings import FULL, sittings

CATALOG = catalog_of(Path())
COUNT = 400 if FULL else 100

AGGREGATES = {
    "ApproxDistinct",
    "ApproxQuantile",
    "Avg",
    "Corr",
    "Count",
    "CountIf",
    "CovarPop",
    "CovarSamp",
    "Max",
    "Median",
    "Min",
    "PercentileCont",
    "PercentileDisc",
    "Quantile",
    "RegrIntercept",
    "RegrR2",
    "RegrSlope",
    "Stddev",
    "StddevPop",
    "StddevSamp",
    "Sum",
    "Variance",
    "VariancePop",
}
"""The aggregates that analysts may use; the scalars are the keys of the allow-list itself."""


def fuzz(seed: int, count: int) -> int:
    """Return how many of `count` broken statements were accepted; anything but a sentence raises."""
    rng = random.Random(seed)
    mutator = Mutator(rng)
    engine = MemoryEngine({name: arrow(name, rows) for name, rows in world_rows(rng).items()})
    accepted = 0
    for _ in range(count):
        sql = mutator.statement()
        try:
            plan = planned(sql, CATALOG)
            plan.sealed(engine)
        except DiscreetError as error:
            assert "SECRET-" not in str(error)  # noqa: PT017  # most statements end here
            continue
        except Exception as error:
            raise AssertionError(f"{error!r}: {sql}") from error
        accepted += 1
        # Every SELECT that would run aggregates, and counts in whole numbers only.
        exact = plan.exact(engine)
        assert plan.question.measured.measures or plan.question.measured.choices, sql
        for values in exact.measures.values():
            assert all(type(value) is int for value in values), sql
    return accepted


def test_mutated_statements_end_in_a_plan_or_a_sentence(record_property):
    accepted = fuzz(seed=10, count=COUNT)
    assert COUNT / 50 < accepted < COUNT * 0.7, "too tame or too wild to say anything"
    record_property("mutated statements, 0 crashes, 0 rows", COUNT)


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
def test_mutated_statements_end_in_a_plan_or_a_sentence_in_full():
    for block in sittings("fuzzed-blocks", 100):
        fuzz(seed=1000 + block, count=1000)


MANY = "SELECT " + ", ".join(f"SUM(age + {i})" for i in range(40)) + " FROM people"
"""Forty short expressions."""


def test_a_select_has_a_greatest_length(monkeypatch):
    """Not only each expression: of many short ones an engine chokes as well."""
    whole = len(planned(MANY, CATALOG).rendered[0].reads[0].draft.sql)
    monkeypatch.setattr(expressions, "LONGEST", whole)
    planned(MANY, CATALOG)
    monkeypatch.setattr(expressions, "LONGEST", whole - 1)
    with pytest.raises(QueryRefused, match="characters long"):
        planned(MANY, CATALOG)


def test_a_date_difference_is_computed_and_not_listed():
    """Listed day by day, eighteen times, it was 31 million characters."""
    sql = (
        "SELECT REGR_SLOPE(FLOOR(born - DATE '2000-03-01'), LEAST(income, income) % 7) FROM people"
    )
    assert len(planned(sql, CATALOG).rendered[0].reads[0].draft.sql) < 100_000


def functions() -> list[str]:
    """Return every SQL name of every function that the parser knows."""
    return sorted({name for kind in exp.ALL_FUNCTIONS for name in kind.sql_names()})


SHAPES = (
    "SELECT {call} FROM people",
    "SELECT COUNT(*) FROM people WHERE {call} = 1",
    "SELECT {call}, COUNT(*) FROM people GROUP BY 1",
    "SELECT SUM({call}) FROM people",
)
ARGUMENTS = ("", "age", "sex", "born", "age, 2", "sex, 'a'", "'x'", "sex, 1, 2", "married")


def test_every_function_off_the_list_is_refused():
    known = {kind.__name__ for kind in _RULES} | AGGREGATES
    accepted, kinds = set(), set()
    # And names that no parser knows, such as those of a database's own functions.
    own = ["error", "getenv", "query", "nextval", "md5_number", "pg_sleep", "reflect", "hash"]
    rules = [kind for kind in exp.ALL_FUNCTIONS if kind.__name__ in known]
    listed = {name for kind in rules for name in kind.sql_names()}
    for place, name in enumerate([*functions(), *own]):
        # What is off the list is not let in by its arguments: some of them for each.
        for arguments in ARGUMENTS if FULL or name in listed else ARGUMENTS[place % 5 :: 5]:
            for shape in SHAPES[:2] if arguments else SHAPES[:1]:
                sql = shape.format(call=f"{name}({arguments})")
                try:
                    plan = planned(sql, CATALOG)
                except DiscreetError:
                    continue
                accepted.add(name)
                # Some names are spellings of others: what counts is what the parser made of them.
                tree = sqlglot.parse_one(sql, read="duckdb")
                kinds |= {type(node).__name__ for node in tree.find_all(exp.Func)}
                assert plan.question.measured.measures or plan.question.measured.choices
    assert kinds <= known, kinds - known
    assert not accepted & set(own)
    assert {"Abs", "Sum", "Lower"} <= kinds, "the list was not reached at all"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM people",
        "SELECT age FROM people",
        "SELECT DISTINCT age FROM people",
        "SELECT age, COUNT(*) FROM people",
        "SELECT MAX(note) FROM people",
        "SELECT COUNT(*) FROM people WHERE note = 'SECRET-1'",
        "SELECT note, COUNT(*) FROM people GROUP BY note",
        "SELECT badge, COUNT(*) FROM people GROUP BY badge",
        "SELECT COUNT(*) FROM people WHERE badge = 'b1'",
        "SELECT COUNT(*) OVER () FROM people",
        "SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)",
        "SELECT COUNT(*) FROM people UNION SELECT 1",
        "SELECT COUNT(*) FROM people, visits",
        "SELECT COUNT(*) FROM people AS a JOIN people AS b ON a.zip = b.zip",
        "SELECT COUNT(*) FROM visits AS a CROSS JOIN visits AS b",
        "SELECT COUNT(*) FROM (SELECT person FROM visits ORDER BY cost LIMIT 1) AS s",
        "SELECT COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS s",
        "SELECT COUNT(*) FROM people TABLESAMPLE 10 PERCENT",
        "SELECT COUNT(*) FROM read_csv('people.csv')",
        "SELECT COUNT(*) FROM zips",
        "SELECT STRING_AGG(sex, ',') FROM people",
        "SELECT ARRAY_AGG(age) FROM people",
        "SELECT ANY_VALUE(age) FROM people",
        "SELECT MODE(age) FROM people",
        "SELECT COUNT(*) FROM people; DROP TABLE people",
        "COPY people TO 'x.csv'",
        "PRAGMA database_list",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM people QUALIFY ROW_NUMBER() OVER () = 1",
        "SELECT SUM(age) FILTER (WHERE age > (SELECT 1)) FROM people",
        "SELECT COUNT(*) FROM people WHERE sex SIMILAR TO 'F.*'",
        "SELECT age[1] FROM people",
        "SELECT COUNT(*) FROM people HAVING age > 3",
        "SELECT COUNT(*) FROM people GROUP BY ROLLUP (sex)",
        "SELECT COUNT(*) FROM people GROUP BY GROUPING SETS ((sex), ())",
        "SELECT COUNT(*) FROM people LIMIT (SELECT 1)",
        "SELECT COUNT(*) FROM people ORDER BY (SELECT 1)",
        "WITH RECURSIVE r AS (SELECT 1 AS n) SELECT COUNT(*) FROM r",
        "SELECT COUNT(*) FROM LATERAL (SELECT 1) AS s",
        "SELECT COUNT(*) FROM UNNEST([1, 2]) AS s",
        "VALUES (1)",
        "",
        "\x00",
        "SELECT " + "(" * 5000,
        "SELECT COUNT(*) FROM people WHERE age" + " + 1" * 5000 + " > 0",
        "SELECT COUNT(*) FROM people WHERE " + "NOT " * 5000 + "TRUE",
        "SELECT 1e999999999 + COUNT(*) FROM people",
        "SELECT QUANTILE_CONT(age, 1e999999999) FROM people",
        "SELECT COUNT(*) FROM people WHERE born > DATE '2020-01-01' + INTERVAL 999999999 YEAR",
        "SELECT SUM(1e17 * '5') FROM people",
        "SELECT COUNT(*) FROM people WHERE '5' * 1e17 = '55'",
        "SELECT SUM(age) + 'x' * 3 FROM people",
        "SELECT 'a' + 'b', COUNT(*) FROM people",
        "SELECT sex * 100000000000, COUNT(*) FROM people GROUP BY 1",
        "SELECT COUNT(*) FROM people WHERE sex * 100000000000 = 'x'",
    ],
)
def test_what_would_show_rows_is_refused(sql):
    with pytest.raises(DiscreetError) as caught:
        planned(sql, CATALOG)
    assert caught.value.message
    assert isinstance(caught.value, QueryRefused) or caught.value.kind != "InternalError"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(ROUND(age, 999999999)) FROM people",
        "SELECT SUM(POWER(age, 999999999)) FROM people",
        "SELECT POWER(POWER(POWER(POWER(COUNT(*), 64), 64), 64), 64) FROM people",
        "SELECT COUNT(*) FROM people WHERE CAST('1e999999999' AS DECIMAL) > age",
        "SELECT COUNT(*) FROM people WHERE sex LIKE '" + "%e" * 500 + "'",
        "SELECT COUNT(*) FROM people WHERE age IN (" + ", ".join(map(str, range(20000))) + ")",
        "SELECT COUNT(*) FROM people WHERE " + " OR ".join(["age = 1"] * 5000),
    ],
)
@pytest.mark.timeout(100)
def test_bombs_of_constants_end_soon(sql):
    """Nothing here depends on rows; it must only not fill the memory or run for minutes."""
    try:
        planned(sql, CATALOG)
    except DiscreetError as error:
        assert error.message  # noqa: PT017  # either outcome is fine, as long as it comes


WRONG = ("'x'", "NULL", "TRUE", "DATE '2020-01-01'", "1.5", "-1", "1e30", "''", "'('", "-1000000")


def calls_with(constant):
    """Yield every call that a row shows, once for each constant of it, with this one in its place."""
    for row in SCALARS.values():
        for call in row.written:
            name, _, rest = call.rstrip(")").partition("(")
            parts = rest.split(", ")
            places = [i for i, part in enumerate(parts) if not part.isidentifier()]
            for place in places:
                given = [constant if i == place else part for i, part in enumerate(parts)]
                column = {"number": "age", "text": "note", "date": "born"}.get(row.takes, "age")
                yield f"{name}({', '.join(column if p.isidentifier() else p for p in given)})"


@pytest.mark.parametrize("constant", WRONG)
def test_a_wrong_constant_ends_in_a_sentence(constant):
    """ROUND(code, 'x') once ended in a ValueError."""
    asked = list(calls_with(constant))
    assert len(asked) > 10
    for call in [*asked, f"ROUND(age, {constant})", f"ROUND(code, {constant})"]:
        table = "visits" if "code" in call else "people"
        with contextlib.suppress(DiscreetError):
            planned(f"SELECT SUM({call}) FROM {table}", CATALOG)
