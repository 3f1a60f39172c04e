"""The relational tree: columns, units and tables below."""

from asking import question
from discreet.ask.plan.ir import fields_of, is_public, scans_of, unit_of


def source(sql):
    return question(sql).statement.source


def test_fields_of_a_join_are_those_of_both_sides():
    found = source("SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward WHERE cost > 1")
    fields = fields_of(found)
    assert [field.called for field in fields] == ["person", "ward", "cost", "ward", "beds"]
    assert len({field.name for field in fields}) == len(fields)
    assert unit_of(found) == fields[0].name
    assert [scan.table.name for scan in scans_of(found)] == ["visits", "wards"]


def test_only_public_tables_are_public():
    found = source("SELECT COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward")
    assert not is_public(found)
    assert is_public(found.right)
