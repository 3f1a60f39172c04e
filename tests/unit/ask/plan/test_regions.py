"""Whom a question touches, and the ranges that its conditions leave."""

from asking import catalog, plan, question
from discreet.ask.plan.ir import fields_of
from discreet.ask.plan.regions import narrowed_domains
from discreet.base.event import EVERYONE, Positions
from discreet.base.schema import DateDomain, IntegerDomain


def touched(sql, **settings):
    return catalog().describe_region(question(sql, **settings).region)


def narrowed(sql, name):
    source = question(sql).statement.source
    (wanted,) = (field.name for field in fields_of(source) if field.called == name)
    return narrowed_domains(source)[wanted]


def test_conditions_on_columns_of_a_row_are_the_region():
    assert touched("SELECT COUNT(*) FROM people WHERE sex = 'Male' AND age > 20") == (
        "sex = 'Male' AND age > 20"
    )


def test_only_constant_columns_split_the_bill_of_a_person():
    assert touched("SELECT COUNT(*) FROM patients WHERE sex = 'Male'") == "sex = 'Male'"
    assert touched("SELECT COUNT(*) FROM visits WHERE ward = 'A'") == "everyone"


def test_an_unanalysable_condition_touches_everyone():
    assert question("SELECT COUNT(*) FROM people WHERE age > balance").region == EVERYONE


def test_or_over_one_column_is_its_union_and_over_two_is_everyone():
    assert touched("SELECT COUNT(*) FROM people WHERE age < 5 OR age > 90") == (
        "(age <= 4 or age > 90)"
    )
    assert touched("SELECT COUNT(*) FROM people WHERE age < 5 OR sex = 'Male'") == "everyone"


def test_a_filter_in_an_aggregate_does_not_restrict_the_region():
    assert touched("SELECT COUNT(*) FILTER (WHERE sex = 'Male') FROM people") == "everyone"


def test_an_inner_join_narrows_and_a_left_join_does_not():
    inner = "SELECT COUNT(*) FROM visits v JOIN patients p USING (person) WHERE p.sex = 'Male'"
    left = "SELECT COUNT(*) FROM visits v LEFT JOIN patients p USING (person) WHERE p.sex IS NULL"
    assert touched(inner) == "sex = 'Male'"
    assert touched(left) == "everyone"


def test_a_condition_in_a_subquery_counts_too():
    sql = "SELECT COUNT(*) FROM (SELECT age AS years FROM people WHERE sex = 'Male') AS t"
    assert touched(f"{sql} WHERE years < 10") == "sex = 'Male' AND age <= 9"


def test_where_narrows_the_range():
    assert narrowed("SELECT SUM(age) FROM people WHERE age BETWEEN 18 AND 65", "age") == (
        IntegerDomain(18, 65)
    )
    born = narrowed("SELECT MIN(born) FROM people WHERE born >= '2000-01-01'", "born")
    assert isinstance(born, DateDomain)
    assert str(born.lower) == "2000-01-01"


def test_null_beside_a_range_leaves_the_whole_range():
    # A span that begins at NULL holds the values from 0 on, not only its last one.
    sql = "SELECT AVG(balance) FROM people WHERE balance <= -10 OR balance IS NULL"
    assert narrowed(sql, "balance") == IntegerDomain(-50, -10)
    assert [m.bound.reach for _, m in question(sql).measured.measures] == [40, 1]


def test_null_alone_leaves_the_declared_range():
    sql = "SELECT SUM(balance) FROM people WHERE balance IS NULL"
    assert narrowed(sql, "balance") == IntegerDomain(-50, 50)


def test_an_impossible_condition_touches_nobody():
    found = plan("SELECT COUNT(*) FROM people WHERE age > 500")
    assert found.question.region.empty


def test_new_snapshot_new_axis():
    sql = "SELECT COUNT(*) FROM people WHERE sex = 'Male'"
    from discreet.ask.plan.plan import ask
    from discreet.ask.sql.bind import bind

    one = ask(bind(sql, catalog()), catalog(), {"people": "1"}).region
    two = ask(bind(sql, catalog()), catalog(), {"people": "2"}).region
    assert [p for _, p in one.axes] == [p for _, p in two.axes] == [Positions.points([1])]
    assert one != two
