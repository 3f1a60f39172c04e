from __future__ import annotations

import pytest

from asking import catalog
from discreet.base.schema import BooleanDomain, Column, DateDomain, IntegerDomain
from discreet.curator import parsed
from discreet.server.pgwire.catalog.tables import VisibleTable, type_of
from discreet.server.pgwire.messages import Failure
from discreet.server.pgwire.question import WireQuestion, as_postgres
from discreet.server.pgwire.types import BOOL

[TABLE] = [t for d in catalog().datasets.values() for t in d.tables if t.name == "people"]


def seen(*columns):
    return VisibleTable("town", "people", TABLE, columns)


def integer(name, lower):
    domain = IntegerDomain(lower, 120)
    return Column(name, domain), type_of(domain)


def date(name):
    column = next(c for c in TABLE.columns if isinstance(c.domain, DateDomain))
    return Column(name, column.domain), type_of(column.domain)


TABLES = (
    seen(
        integer("age", 0),
        integer("change", -120),
        date("born"),
        (Column("married", BooleanDomain()), BOOL),
    ),
)


def meaning(sql):
    return as_postgres(parsed(sql).tree, TABLES).sql("duckdb")


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("SUM(age) / COUNT(*)", "(SUM(age) // COUNT(*))"),
        ("age / 10", "(age // 10)"),
        ("COUNT(*) / 2 / 3", "((COUNT(*) // 2) // 3)"),
        ("(MAX(age) - 1) / 2", None),
        ("change / 2", None),
        ("AVG(age) / 2", "AVG(age) / 2"),
        ("COUNT(*) / 2.0", "COUNT(*) / 2.0"),
        ("CAST(COUNT(*) AS DOUBLE) / 2", "CAST(COUNT(*) AS DOUBLE) / 2"),
        ("SUM(SUM(age)) OVER () / 2", "SUM(SUM(age)) OVER () / 2"),
    ],
)
def test_whole_numbers_are_divided_as_in_postgresql(sql, meant):
    cut = f"CASE WHEN {sql} < 0 THEN CEIL({sql}) ELSE FLOOR({sql}) END"
    assert meaning(f"SELECT {sql} FROM people") == f"SELECT {meant or cut} FROM people"


def test_quotients_of_quotients_do_not_explode():
    chain = "change" + " / 2" * 60
    assert len(meaning(f"SELECT {chain} FROM people")) < 10 * len(chain)
    with pytest.raises(Failure):
        WireQuestion(parsed(f"SELECT (age{' + age' * 900}) / 2 FROM people"), TABLES).filled([])


def test_types_are_found_through_subqueries_and_aliases():
    inner = "(SELECT p.age AS a, age * 1.5 AS b, * FROM people AS p) AS q"
    assert meaning(f"SELECT q.a / 2 FROM {inner}").startswith("SELECT (q.a // 2)")
    assert meaning(f"SELECT b / 2 FROM {inner}").startswith("SELECT b / 2")
    assert meaning(f"SELECT born / 2, age / 2 FROM {inner}").startswith(
        "SELECT born / 2, (age // 2)"
    )
    assert "(a // 2)" in meaning("WITH q AS (SELECT age AS a FROM people) SELECT a / 2 FROM q")
    endless = "WITH RECURSIVE q AS (SELECT a FROM q UNION ALL SELECT a FROM q) SELECT a / 2 FROM q"
    assert meaning(endless).endswith("SELECT a / 2 FROM q")


def test_chains_of_views_are_typed_once_each():
    steps = ["q0 AS (SELECT age AS a FROM people)"]
    steps += [f"q{i} AS (SELECT a + a + a AS a FROM q{i - 1})" for i in range(1, 40)]
    assert meaning(f"WITH {', '.join(steps)} SELECT a / 2 FROM q39").endswith("(a // 2) FROM q39")


@pytest.mark.parametrize(
    ("sql", "meant"),
    [
        ("born > '1960-01-02 +00'", "born > CAST('1960-01-02' AS DATE)"),
        ("born IN ('1960-01-02T00:00:00Z')", "born IN (CAST('1960-01-02' AS DATE))"),
        ("born > 'no date'", "born > 'no date'"),
        ("married = 't'", "married = TRUE"),
        ("age > '3'", "age > '3'"),
        ("age = ANY('{1,2}')", "age = ANY([1, 2])"),
        ("age = ANY('{1,2}'::int[])", "age = ANY([1, 2])"),
        ("age = ANY('nothing')", "age = ANY('nothing')"),
        ("born > TO_DATE('02.01.1960', 'DD.MM.YYYY')", "born > CAST('1960-01-02' AS DATE)"),
        ("born > TO_DATE('nothing', 'DD')", "born > TO_DATE('nothing', 'DD')"),
        ("born > MAKE_DATE(1960, 1, 2)", "born > CAST('1960-01-02' AS DATE)"),
        ("born > MAKE_DATE(1960, 13, 2)", "born > MAKE_DATE(1960, 13, 2)"),
        ("born > '1960-01-02 02:00+02'::timestamptz",
         "born > CAST('1960-01-02 00:00:00' AS TIMESTAMP)"),
        (r"sex = E'it\'s'", "sex = 'it''s'"),
    ],
)  # fmt: skip
def test_constants_take_the_type_beside_them(sql, meant):
    assert meaning(f"SELECT 1 FROM people WHERE {sql}") == f"SELECT 1 FROM people WHERE {meant}"
