"""Aggregates as measures: shared, centred, and turned back exactly."""

from fractions import Fraction

import pytest

from asking import plan, question
from discreet.ask.plan.evaluate import evaluate
from discreet.ask.plan.measure import Kind
from discreet.errors import QueryRefused


def kinds(sql):
    return [measure.kind for _, measure in question(sql).measured.measures]


def test_a_mean_is_a_centred_sum_and_a_count():
    assert kinds("SELECT AVG(age) FROM people") == [Kind.CENTRED, Kind.PRESENT]


def test_aggregates_of_one_expression_share_their_measures():
    sql = "SELECT AVG(age), SUM(age), COUNT(age), VARIANCE(age), STDDEV(age) FROM people"
    assert kinds(sql) == [Kind.CENTRED, Kind.PRESENT, Kind.SQUARES]


def test_counting_the_unit_is_counting_people():
    assert kinds("SELECT COUNT(DISTINCT person) FROM visits") == [Kind.UNITS]
    sql = "SELECT COUNT(DISTINCT person) FROM (SELECT person FROM visits WHERE ward = 'A') AS t"
    assert kinds(sql) == [Kind.UNITS]
    assert kinds("SELECT COUNT(DISTINCT ward) FROM visits") == [Kind.DISTINCT]


JOINED = "visits AS v JOIN patients AS p ON v.person = p.person"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(DISTINCT v.person) FROM {JOINED}",
        f"SELECT COUNT(DISTINCT p.person) FROM {JOINED}",
        f"SELECT COUNT(DISTINCT p.person) FROM {JOINED.replace('JOIN', 'LEFT JOIN')}",
        f"SELECT COUNT(DISTINCT who) FROM (SELECT p.person AS who FROM {JOINED}) AS t",
        f"SELECT COUNT(DISTINCT p.person) FROM {JOINED} JOIN wards AS w ON v.ward = w.ward",
        "SELECT COUNT(DISTINCT person) FILTER (WHERE ward = 'A') FROM visits",
        "SELECT COUNT(DISTINCT CASE WHEN cost > 5 THEN person END) FROM visits",
    ],
)
def test_counting_people_has_the_noise_of_a_count_also_after_joins(sql):
    found = plan(sql)
    assert [measure.kind for _, measure in found.question.measured.measures] == [Kind.UNITS]
    assert found.mechanisms.laws["m0"].scale == 1
    assert not found.question.enforced


def test_counting_other_columns_is_not_counting_people():
    assert kinds(f"SELECT COUNT(DISTINCT p.sex) FROM {JOINED}") == [Kind.DISTINCT]
    swapped = "SELECT COUNT(DISTINCT CASE WHEN cost > 5 THEN ward END) FROM visits"
    assert kinds(swapped) == [Kind.DISTINCT]


def test_shares_add_up_to_the_epsilon():
    found = plan("SELECT AVG(age), COUNT(*), SUM(income), MEDIAN(age) FROM people", epsilon="0.7")
    assert sum(found.epsilons.values()) == Fraction(7, 10)


@pytest.mark.parametrize("values", [[3, 5, 10], [0], [120, 120]])
def test_formulas_give_back_the_aggregates(values):
    sql = "SELECT AVG(age), SUM(age), VARIANCE(age) FROM people"
    found = question(sql)
    centre, n = 120, len(values)
    exact = {
        Kind.CENTRED: sum(2 * v - centre for v in values),
        Kind.PRESENT: n,
        Kind.SQUARES: sum((2 * v - centre) ** 2 for v in values),
    }
    row = {name: exact[measure.kind] for name, measure in found.measured.measures}
    mean, total, variance = (evaluate(value, row) for _, value in found.outputs)
    assert (mean, total) == (Fraction(sum(values), n), sum(values))
    assert variance == sum((v - mean) ** 2 for v in values) / n


def test_a_mean_stays_inside_the_declared_range_and_needs_somebody():
    found = question("SELECT AVG(age) FROM people")
    ((_, mean),) = found.outputs
    names = {measure.kind: name for name, measure in found.measured.measures}
    assert evaluate(mean, {names[Kind.CENTRED]: 10_000, names[Kind.PRESENT]: 3}) == 120
    assert evaluate(mean, {names[Kind.CENTRED]: 0, names[Kind.PRESENT]: 0}) is None
    assert evaluate(mean, {names[Kind.CENTRED]: 0, names[Kind.PRESENT]: -2}) is None


def test_squares_that_could_overflow_are_refused():
    with pytest.raises(QueryRefused, match="too large to be summed"):
        question("SELECT VARIANCE(income * income * income * balance) FROM people")
