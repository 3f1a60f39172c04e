"""Fields have ids of their own: what people call a column decides nothing but which one is meant."""

import pytest

from asking import catalog, question, reads
from discreet.ask.plan.ir import Filter, Join, scans_of, signature
from discreet.ask.sql.bind import bind
from discreet.errors import QueryRefused, UnknownName

TWICE = "(SELECT * FROM visits a JOIN visits b ON a.person = b.person WHERE a.cost < 5) AS t"


def all_fields(relation):
    """Return every field that any relation of the tree makes."""
    match relation:
        case Filter():
            return all_fields(relation.source)
        case Join():
            return all_fields(relation.left) + all_fields(relation.right)
    below = getattr(relation, "source", None)
    return list(relation.fields) + (all_fields(below) if below is not None else [])


STATEMENTS = [
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward JOIN wards w ON w.ward = b.ward",
    f"SELECT COUNT(*) FROM {TWICE}",
    (
        "WITH c AS (SELECT person, cost AS x, cost + 1 AS y FROM visits) "
        "SELECT COUNT(*) FROM c a JOIN c b ON a.person = b.person JOIN c ON c.person = a.person"
    ),
    (
        "SELECT SUM(n) FROM (SELECT person, ward, COUNT(*) AS n, SUM(cost) AS s FROM visits "
        "GROUP BY person, ward HAVING COUNT(*) > 1) t WHERE s > 3"
    ),
    (
        "SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM (SELECT person, cost FROM visits) q "
        "GROUP BY person) t"
    ),
]


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_two_fields_of_a_statement_share_an_id(sql):
    ids = [field.name for field in all_fields(bind(sql, catalog()).source)]
    assert len(ids) == len(set(ids)) > 2


def test_a_with_clause_used_twice_is_two_scans():
    first, second, third = scans_of(bind(STATEMENTS[3], catalog()).source)
    assert first.table is second.table is third.table
    assert not {f.name for f in first.fields} & {f.name for f in second.fields}


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT SUM(cost) FROM {TWICE}",
        f"SELECT SUM(t.cost) FROM {TWICE}",
        f"SELECT COUNT(*) FROM {TWICE} WHERE cost < 3",
        f"SELECT COUNT(*) FROM {TWICE} GROUP BY ward",
        f"SELECT COUNT(DISTINCT person) FROM {TWICE}",
        f"SELECT SUM(cost) FROM (SELECT * FROM {TWICE}) AS u",
        f"SELECT COUNT(*) FROM {TWICE} JOIN visits v ON v.person = t.person",
        "SELECT SUM(x) FROM (SELECT cost AS x, cost * 100 AS x FROM visits) AS t",
        "SELECT SUM(x) FROM (SELECT cost AS x, cost * 100 AS X FROM visits) AS t",
        (
            "SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n, SUM(cost) AS n FROM visits "
            "GROUP BY person) AS t"
        ),
        "SELECT COUNT(DISTINCT person) FROM (SELECT ward AS person, person FROM visits) AS t",
        "SELECT SUM(cost) FROM (SELECT * FROM visits a JOIN visits b USING (person)) AS t",
        "WITH t AS (SELECT * FROM visits a JOIN visits b USING (person)) SELECT SUM(cost) FROM t",
    ],
)
def test_a_name_of_two_columns_means_neither(sql):
    with pytest.raises(UnknownName, match=r"called|several tables"):
        bind(sql, catalog())


def test_columns_of_one_name_that_nobody_reads_do_no_harm():
    assert question(f"SELECT COUNT(*) FROM {TWICE}").stability.max_rows == 4
    assert question("SELECT SUM(y) FROM (SELECT cost AS x, 1 AS x, cost AS y FROM visits) t")


def test_the_person_hidden_behind_a_second_column_of_its_name_stays_the_unit():
    sql = "SELECT COUNT(*) FROM (SELECT person, ward AS person FROM visits) AS t"
    found = bind(sql, catalog()).source
    assert found.unit == found.fields[0].name != found.fields[1].name


@pytest.mark.parametrize(
    "alias",
    ['"a.b"', '"cost"', '"SELECT"', '"ü.Ω"', '"a""b"', '"f0"', '"t0"', '"\t"', '"\u017f"', '"é"'],
)
def test_an_alias_changes_nothing(alias):
    plain = "SELECT SUM(q.cost) AS s FROM visits AS q WHERE q.ward = 'A'"
    other = plain.replace("q.", f"{alias}.").replace("AS q", f"AS {alias}")
    assert [read.sql for read in reads(other)] == [read.sql for read in reads(plain)]
    assert signature(question(other).statement) == signature(question(plain).statement)


@pytest.mark.parametrize(
    "name", ['"t.cost"', '".cost"', '"cost."', '"f0"', '"unit"', '"ward.cost"']
)
def test_a_dotted_column_is_one_name(name):
    """On ids of the form alias.column, `"t.cost"` in one table was `cost` of another."""
    sql = f"SELECT SUM(t.{name}) FROM (SELECT ward, cost + 1000 AS {name} FROM visits) AS t"
    (measure,) = question(sql).measured.measures
    assert measure[1].high == 1100


def test_dots_in_aliases_do_not_move_columns_between_tables():
    sql = (
        'SELECT SUM(a."b.cost") FROM (SELECT person, 1 AS "b.cost" FROM visits) AS a '
        'JOIN (SELECT person, cost FROM visits) AS "a.b" ON a.person = "a.b".person'
    )
    (measure,) = question(sql).measured.measures
    assert measure[1].high == 1


@pytest.mark.parametrize(
    "source",
    ["visits t JOIN wards t ON t.ward = t.ward", 'visits t JOIN patients "T" USING (person)'],
)
def test_two_tables_of_one_alias_are_refused(source):
    with pytest.raises(UnknownName, match="Two tables are called"):
        bind(f"SELECT COUNT(*) FROM {source}", catalog())


def test_natural_joins_are_those_on_all_columns_of_one_name():
    natural = bind("SELECT COUNT(*) FROM visits NATURAL JOIN wards", catalog())
    assert natural == bind("SELECT COUNT(*) FROM visits JOIN wards USING (ward)", catalog())


def test_with_clauses_of_one_name_are_refused():
    with pytest.raises(QueryRefused, match="twice"):
        bind("WITH a AS (SELECT age FROM people), A AS (SELECT sex FROM people) "
             "SELECT COUNT(*) FROM a", catalog())  # fmt: skip


def test_a_with_clause_sees_what_stood_before_it():
    sql = (
        "WITH people AS (SELECT age, sex FROM people WHERE age < 5), "
        "old AS (SELECT age FROM people) SELECT COUNT(*) FROM old WHERE age > 3"
    )
    assert catalog().describe_region(question(sql).region) == "age = 4"
    with pytest.raises(UnknownName):
        bind("WITH a AS (SELECT age FROM b), b AS (SELECT age FROM people) SELECT COUNT(*) FROM a",
             catalog())  # fmt: skip
