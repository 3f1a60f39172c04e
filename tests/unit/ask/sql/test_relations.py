"""FROM, JOIN and subqueries: the unit stays on every row."""

import pytest

from asking import catalog
from discreet.ask.plan.ir import Filter, Join, JoinKind, PerUnit, Project, Scan, scans_of, unit_of
from discreet.ask.sql.bind import bind
from discreet.errors import QueryRefused


def source(sql):
    return bind(sql, catalog()).source


def called(relation, *ids):
    """Return `table.column` of fields that pass a column on unchanged."""
    known = {f.name: f.origin for scan in scans_of(relation) for f in scan.fields}
    return tuple(f"{known[name].table}.{known[name].column.name}" for name in ids)


def construct(sql):
    with pytest.raises(QueryRefused) as caught:
        source(sql)
    return caught.value.construct


def test_a_table_and_a_condition():
    found = source("SELECT COUNT(*) FROM people WHERE age > 5")
    assert isinstance(found, Filter)
    assert isinstance(found.source, Scan)
    assert unit_of(found) is None


def test_private_tables_are_always_joined_on_the_unit():
    sql = "SELECT COUNT(*) FROM visits v JOIN patients p ON v.person = p.person"
    found = source(sql)
    assert [called(found, *pair) for pair in found.pairs] == [("visits.person", "patients.person")]
    found = source("SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward")
    assert [called(found, *pair) for pair in found.pairs] == [
        ("visits.person", "visits.person"),
        ("visits.ward", "visits.ward"),
    ]
    assert all(one != two for one, two in found.pairs)
    assert found.copies is None


@pytest.mark.parametrize(
    "join",
    [
        "visits v JOIN wards w ON v.ward = w.ward",
        "visits v JOIN wards w USING (ward)",
        "visits v, wards w WHERE w.ward = v.ward",
        "wards w JOIN visits v ON v.ward = w.ward",
    ],
)
def test_a_public_table_brings_its_copies(join):
    found = source(f"SELECT COUNT(*) FROM {join}")
    assert isinstance(found, Join)
    assert (found.copies, found.kind) == (2, JoinKind.INNER)
    assert called(found, found.unit) == ("visits.person",)
    assert not scans_of(found.left)[0].public


def test_a_subquery_keeps_the_unit_even_if_it_is_not_selected():
    found = source("SELECT COUNT(*) FROM (SELECT ward FROM visits) AS t")
    assert isinstance(found, Project)
    assert unit_of(found) is not None
    shown = source("SELECT COUNT(*) FROM (SELECT person, ward FROM visits) AS t")
    assert unit_of(shown) == shown.fields[0].name
    assert shown.fields[0].written == "person"


def test_a_grouped_subquery_is_one_row_for_each_person():
    found = source(
        "SELECT AVG(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS t"
    )
    assert isinstance(found, Project)
    assert isinstance(found.source, PerUnit)


def test_with_clauses_see_earlier_ones_only():
    sql = "WITH a AS (SELECT * FROM people WHERE age > 5), b AS (SELECT age FROM a)"
    assert scans_of(source(f"{sql} SELECT COUNT(*) FROM b"))[0].table.name == "people"
    with pytest.raises(Exception, match="no table 'a'"):
        source("WITH a AS (SELECT * FROM a) SELECT COUNT(*) FROM a")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) FROM people a JOIN people b ON a.age = b.age", "row join"),
        ("SELECT COUNT(*) FROM visits JOIN wards ON cost = wards.ward", "join condition"),
        ("SELECT COUNT(*) FROM visits JOIN wards ON person = wards.ward", "join condition"),
        ("SELECT COUNT(*) FROM visits, wards", "join condition"),
        ("SELECT COUNT(*) FROM visits RIGHT JOIN wards USING (ward)", "join kind"),
        ("SELECT COUNT(*) FROM wards LEFT JOIN visits USING (ward)", "join kind"),
        ("SELECT COUNT(*) FROM wards", "public only"),
        ("SELECT COUNT(*) FROM wards WHERE ward IN (SELECT ward FROM wards)", "public only"),
        ("SELECT COUNT(*) FROM wards WHERE ward IN (SELECT ward FROM visits)", "subquery"),
        ("SELECT COUNT(*) FROM (SELECT ward FROM visits LIMIT 5) AS t", "clause"),
        ("SELECT COUNT(*) FROM (SELECT cost + 1 FROM visits) AS t", "clause"),
        ("SELECT COUNT(*) FROM people AS p(a, b)", "clause"),
        ("SELECT COUNT(*) FROM (VALUES (1)) AS t", "clause"),
        ("SELECT COUNT(*) FROM range(10)", "function"),
    ],
)
def test_refusals(sql, expected):
    assert construct(sql) == expected


def test_tables_may_be_listed_before_those_they_are_linked_by():
    sql = (
        "SELECT COUNT(*) FROM wards w, patients p, visits v "
        "WHERE v.person = p.person AND v.ward = w.ward"
    )
    found = source(sql)
    assert [scan.table.name for scan in scans_of(found)] == ["visits", "wards", "patients"]
    assert called(found, unit_of(found)) == ("visits.person",)
