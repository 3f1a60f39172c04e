"""Blocks of SQL: bounded people, enforced constants, public tables cut to their copies."""

import pyarrow as pa
import pytest

from asking import memory, plan, reads
from discreet.ask.sql.write.statement import render
from discreet.data.engines.base import open_exact


def exact(sql, **tables):
    """Return the rows that the generated SQL gives, without noise."""
    found = plan(sql)
    attached = memory(**tables)
    (read,) = render(found.question, attached)
    table = open_exact(attached.owner_reader().run(read.sql))
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True))


def visits(rows):
    people, wards, costs = zip(*rows, strict=True)
    return pa.table(
        {"person": pa.array(people, pa.int64()), "ward": list(wards), "cost": list(costs)}
    )


def test_at_most_so_many_rows_of_a_person_count():
    table = visits([(1, "A", i) for i in range(10)] + [(2, "A", 1)] * 3)
    assert exact("SELECT COUNT(*) FROM visits", visits=table) == [(4 + 3,)]


def test_which_rows_stay_does_not_depend_on_order_or_on_others():
    mine = [(1, "A", i) for i in range(10)]
    others = [(2, "B", 50)] * 9
    sql = "SELECT SUM(cost) FROM visits WHERE ward = 'A'"
    alone = exact(sql, visits=visits(mine))
    assert exact(sql, visits=visits(mine[::-1])) == alone
    assert exact(sql, visits=visits(others + mine[::-1])) == alone


def test_rows_without_a_person_do_not_count():
    table = visits([(None, "A", 5), (1, "A", 5)])
    assert exact("SELECT COUNT(*) FROM visits", visits=table) == [(1,)]


def test_a_constant_column_has_one_value_for_a_person():
    patients = pa.table({"person": [1, 1, 2], "sex": ["Male", "Female", "Male"]})
    for sex, expected in (("Female", 1), ("Male", 1)):
        sql = f"SELECT COUNT(DISTINCT person) FROM patients WHERE sex = '{sex}'"
        # Person 1 said both; only the lesser counts, so nobody is in two regions.
        assert exact(sql, patients=patients) == [(expected,)]


def test_a_public_table_is_cut_to_its_copies():
    wards = pa.table({"ward": ["A"] * 5, "beds": [1, 2, 3, 4, 5]})
    sql = "SELECT SUM(beds) FROM visits JOIN wards ON visits.ward = wards.ward"
    assert exact(sql, visits=visits([(1, "A", 0)]), wards=wards) == [(1 + 2,)]


def test_a_left_join_keeps_people_without_a_partner():
    patients = pa.table({"person": [1, 2], "sex": ["Male", "Female"]})
    sql = (
        "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.person = v.person "
        "WHERE v.ward IS NULL"
    )
    assert exact(sql, patients=patients, visits=visits([(1, "A", 0)])) == [(1,)]


def test_people_are_never_paired_with_other_people():
    table = visits([(1, "A", 0), (2, "A", 0), (2, "A", 0)])
    sql = "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward"
    assert exact(sql, visits=table) == [(1 + 4,)]


def test_a_persons_own_aggregate_is_clamped():
    table = visits([(1, "A", 100)] * 9)
    sql = "SELECT SUM(n) FROM (SELECT person, COUNT(*) AS n FROM visits GROUP BY person) AS t"
    assert exact(sql, visits=table) == [(4,)]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_columns_are_quoted_for_the_dialect(dialect):
    (read,) = reads("SELECT SUM(age) FROM people", dialect)
    assert ("`age`" in read.sql) == (dialect == "spark")
    assert ('"age"' in read.sql) == (dialect == "postgres")
    assert ('canon."census.people"' in read.sql) == (dialect == "duckdb")


def test_postgres_has_no_least_truth_value():
    from pathlib import Path

    from asking import TOML, engine
    from discreet.ask.plan.plan import ask
    from discreet.ask.sql.bind import bind
    from discreet.data.catalog.policy_file import loads

    text = TOML.format(epsilon=1, delta=0, neighbours="add-remove").replace(
        'sex = { type = "category", values = ["Female", "Male"], constant = true }',
        'sex = { type = "boolean", constant = true }',
    )
    known = loads(text, base=Path())
    question = ask(bind("SELECT COUNT(*) FROM patients WHERE sex", known), known, {})
    (read,) = render(question, engine("postgres"))
    assert "BOOL_AND(" in read.sql
    assert "MIN(" not in read.sql


def test_an_undeclared_category_is_bounded_with_the_rest_and_counts_as_missing():
    table = visits([(1, "A", 1), (1, "nowhere", 2), (1, "elsewhere", 3), (2, "nowhere", 1)])
    assert exact("SELECT COUNT(*) FROM visits", visits=table) == [(4,)]
    assert exact("SELECT COUNT(ward) FROM visits", visits=table) == [(1,)]
