"""Nothing that the parser kept goes unread: every argument of every node, or a refusal."""

from itertools import product

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB

from asking import catalog, question
from discreet.ask.plan import expr as e
from discreet.ask.sql import parse as grammar
from discreet.ask.sql.aggregates import _SIMPLE
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, parse, read
from discreet.ask.sql.scalars import _RULES
from discreet.errors import DiscreetError, QueryRefused
from sittings import FULL

FUNCTIONS = sorted(
    {kind for kind in vars(exp).values() if isinstance(kind, type) and issubclass(kind, exp.Func)},
    key=lambda kind: kind.__name__,
)
EXTRA = [
    (kind, name)
    for kind in sorted(grammar.READ, key=lambda kind: kind.__name__)
    for name in kind.arg_types
    if name not in grammar.READ[kind]
]


def refused(act):
    """Return whether something is refused, for what is tried hundreds of times in one test."""
    try:
        act()
    except DiscreetError:
        return True
    return False


def test_every_rule_is_in_the_grammar():
    assert set(_RULES) | set(_SIMPLE) <= set(grammar.READ)


def test_an_argument_that_no_rule_reads_is_refused():
    assert len(EXTRA) > 100
    for kind, name in EXTRA:
        node = kind(**{name: exp.Literal.number(1)})
        assert refused(lambda node=node: grammar.only_read(node)), (kind, name)
        grammar.only_read(kind(**{name: False}))
        grammar.only_read(kind(**{name: []}))


def by_letter(names):
    """Return a test for each first letter: one for each of two thousand names takes longer than what it does."""
    letters = sorted({name[0] for name in names})
    return [[name for name in sorted(names) if name[0] == letter] for letter in letters]


def letter(names):
    return names[0][0]


def test_a_function_outside_the_grammar_is_refused_wherever_it_stands():
    outside = set(FUNCTIONS) - set(grammar.READ) - {exp.Func, exp.AggFunc}
    assert len(outside) > 100
    for kind in outside:
        for where in ("SELECT COUNT(*) FROM people WHERE 1 = 1", "SELECT SUM(1) FROM people"):
            tree = sqlglot.parse_one(where, read="duckdb")
            tree.find(exp.Literal).replace(kind(this=exp.column("age")))
            written = ParsedQuestion(where, tree)
            assert refused(lambda written=written: bind(written, catalog())), (kind, where)


def lost(sql, written):
    """Return what a call has lost by parsing; nothing where it is not understood anyway."""
    try:
        tree = read(sql).expressions[0]
        for node in tree.walk():
            grammar.only_read(node)
        grammar.only_known(tree)
    except QueryRefused:
        return set()
    kinds = (exp.Literal, exp.Var, exp.Identifier)
    return set(written) - {node.name.lower() for node in tree.walk() if isinstance(node, kinds)}


NAMES = sorted(set(DuckDB.Parser.FUNCTIONS) | set(DuckDB.Parser.FUNCTION_PARSERS))


@pytest.mark.parametrize("names", by_letter(NAMES), ids=letter)
def test_the_parser_loses_no_argument(names):
    for name, count in product(names, range(1, 8 if FULL else 5)):
        columns = [f"c{i}" for i in range(count)]
        assert not lost(f"SELECT {name}({', '.join(columns)})", columns), name
        texts = ["day", *columns[1:]]
        quoted = ", ".join(f"'{text}'" for text in texts)
        assert not lost(f"SELECT {name}({quoted})", texts), name


def test_without_the_count_of_arguments_it_would(monkeypatch):
    monkeypatch.setattr("discreet.ask.sql.parse.only_whole_calls", lambda tokens: None)
    assert lost("SELECT MOD(a, b, c)", ["a", "b", "c"]) == {"c"}


COLUMNS = ("age", "balance", "income", "born", "member")
CONSTANTS = ("age", "3", "7", "2", "5")


def expressions(statement):
    """Return all that a statement computes, as one text and as a set of columns."""
    found = [value for _, value in statement.outputs]
    found += [aggregate.operand for _, aggregate in statement.aggregates if aggregate.operand]
    shown = [aggregate for _, aggregate in statement.aggregates]
    return repr((found, shown)), {name for value in found for name in e.columns_of(value)}


def bound(sql):
    try:
        return bind(sql, catalog())
    except DiscreetError:
        return None


@pytest.mark.parametrize("names", by_letter(DuckDB.Parser.FUNCTIONS), ids=letter)
def test_a_function_reads_all_its_arguments_or_none(names):
    """COUNT(x, y) that counts x, or FLOOR(x, 1) that drops the 1, answers another question."""
    for name, count in product(names, range(1, 6 if FULL else 4)):
        statement = bound(f"SELECT SUM({name}({', '.join(COLUMNS[:count])})) AS s FROM people")
        if statement is not None:
            assert len(expressions(statement)[1] - {"agg0"}) == count, name
        one = bound(f"SELECT SUM({name}({', '.join(CONSTANTS[:count])})) AS s FROM people")
        if one is None or name in {"LEAST", "GREATEST", "COALESCE", "IFNULL", "NVL"}:
            continue
        for place in range(1, count):
            parts = list(CONSTANTS[:count])
            parts[place] = "4"
            two = bound(f"SELECT SUM({name}({', '.join(parts)})) AS s FROM people")
            assert two is None or expressions(one)[0] != expressions(two)[0], name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("sex NOT LIKE 'F%'", "NOT (sex LIKE 'F%')"),
        ("sex NOT ILIKE 'f%'", "NOT (sex ILIKE 'f%')"),
        ("age IS NOT NULL", "NOT (age IS NULL)"),
        ("age NOTNULL", "NOT (age IS NULL)"),
        ("member IS NOT TRUE", "NOT (member IS TRUE)"),
        ("age NOT IN (1, 2)", "NOT (age IN (1, 2))"),
        ("age NOT BETWEEN 1 AND 2", "NOT (age BETWEEN 1 AND 2)"),
    ],
)
def test_a_negation_is_heard(one, other):
    first, second = (
        bind(f"SELECT COUNT(*) FROM people WHERE {where}", catalog()).source.condition
        for where in (one, other)
    )
    assert first == second
    assert isinstance(first, e.Not)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people FOR UPDATE",
        "SELECT SUM(floor(age, 1)) FROM people",
        "SELECT MAX(age, 3) FROM people",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex FETCH FIRST 5 PERCENT ROWS ONLY",
        "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY sex FETCH FIRST 1 ROWS WITH TIES",
        "SELECT COUNT(*) FROM people WHERE (age, sex) = (5, 'Male', 3)",
        "SELECT COUNT(*) FROM people WHERE (age, sex) < (5, 'Male')",
        "SELECT COUNT(*) FROM (SELECT * EXCLUDE (age) FROM people) t",
        "SELECT COUNT(*) FROM (SELECT * REPLACE (age + 1 AS age) FROM people) t",
        "SELECT SUM(x) FROM (SELECT age FROM people) AS t(x)",
        "WITH t(x) AS (SELECT age FROM people) SELECT SUM(x) FROM t",
        "SELECT COUNT(*) FROM (SELECT age FROM people) AS t TABLESAMPLE 10 PERCENT",
        "SELECT SUM(CAST(income AS DECIMAL(99, 1))) FROM people",
        "SELECT SUM(CAST(income AS FLOAT(24))) FROM people",
        "SELECT SUM(MOD(age, 3, 4)) FROM people",
        "SELECT COUNT(*), DATE_TRUNC('month', born, 'x') FROM people GROUP BY 2",
        'SELECT SUM("mod"(age, 3, 4)) FROM people',
        "SELECT COUNT(*), to_char(born, 'YYYY-MM HH24') FROM people GROUP BY 2",
        "WITH t AS (SELECT random() AS r FROM people) SELECT COUNT(*) FROM people",
        "SELECT QUANTILE(age, 0.5, 0.1) FROM people",
        "SELECT COUNT(*) FROM visits v ASOF JOIN wards w ON v.ward = w.ward",
        "SELECT COUNT(*) FROM people LIMIT 5 PERCENT",
        "SELECT DISTINCT ON (sex) COUNT(*) FROM people GROUP BY sex",
        "SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex)",
        "SELECT COUNT(DISTINCT age, sex) FROM people",
        "SELECT SUM(age ORDER BY sex) FROM people",
        "SELECT MIN(age IGNORE NULLS) FROM people",
        "SELECT TRIM(LEADING 'F' FROM sex) AS s, COUNT(*) FROM people GROUP BY 1",
    ],
)
def test_what_slipped_through_is_refused(sql):
    with pytest.raises(QueryRefused):
        bind(sql, catalog())


def test_percentiles_within_a_group_are_quantiles():
    one = bind(
        "SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY age) AS q FROM people", catalog()
    )
    two = bind("SELECT QUANTILE(age, 0.25) AS q FROM people", catalog())
    assert one.aggregates == two.aggregates


def test_dates_as_text_say_what_to_write_instead():
    with pytest.raises(QueryRefused, match="DATE_TRUNC"):
        bind("SELECT COUNT(*) FROM people WHERE to_char(born, 'IYYY') = '2000-01'", catalog())


def test_without_the_grammar_the_unread_would_pass(monkeypatch):
    """The broken twin: with the check switched off, an unread argument changes the question."""
    monkeypatch.setattr("discreet.ask.sql.parse.only_read", lambda node: None)
    sql = "SELECT SUM(x) FROM (SELECT age AS x FROM people) AS t(y)"
    assert question(sql)
    assert parse("SELECT COUNT(*) FROM people FOR UPDATE").args["locks"]
