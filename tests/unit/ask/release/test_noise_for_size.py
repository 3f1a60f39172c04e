"""Noise for a stated group size: the sets that answers get, at the widest values of the range."""

from fractions import Fraction

import pytest

from asking import curator as make_curator
from asking import plan as planned
from discreet.ask.release import error_bars
from discreet.ask.release.confidence_sets import ratio_set, spread_set
from discreet.ask.release.error_bars import bar_of, drowned, drowned_notes, stated_noise
from discreet.ask.release.selection import FAILS
from discreet.errors import InvalidInput

SQL = "SELECT AVG(age) AS mean, VARIANCE(age) AS v, MEDIAN(age) AS m, COUNT(*) AS n FROM people"
ROWS = 2000


def test_a_mean_is_told_at_its_widest_and_no_mean_of_the_range_is_wider():
    plan = planned("SELECT AVG(age) AS mean FROM people", epsilon="0.5")
    told = stated_noise(plan, ROWS).noise["mean"]
    laws = plan.mechanisms.laws
    form = bar_of(plan.question.outputs[0][1], laws).ratio

    def width(mean):
        row = {form.top: (Fraction(mean) - form.constant) / form.factor * ROWS, form.bottom: ROWS}
        low, high = ratio_set(form, row, laws, FAILS)
        return max(high - mean, mean - low)

    widths = {mean: width(mean) for mean in range(0, 121, 10)}
    assert all(each <= told * 1.03 for each in widths.values()), "but for a step of the grid"
    assert widths[60] < 0.9 * told, "the middle alone would promise too much"


def test_more_rows_or_more_budget_mean_less_noise_and_few_rows_drown():
    plan = planned(SQL, epsilon="0.5")
    few, some, many = (stated_noise(plan, rows) for rows in (3, 1000, 100_000))
    assert few.noise["mean"] is None
    for name in ("mean", "v"):
        assert many.noise[name] < some.noise[name]
    assert many.noise["n"] == some.noise["n"], "a count's noise is the same for every group"
    richer = stated_noise(planned(SQL, epsilon="5"), 1000)
    assert richer.noise["mean"] < some.noise["mean"]
    assert richer.ranks["m"] < some.ranks["m"] == many.ranks["m"]


def test_what_follows_from_no_range_is_not_told():
    plan = planned("SELECT SUM(age) / COUNT(*) AS r FROM people", epsilon="1")
    assert stated_noise(plan, 1000).noise == {}


@pytest.mark.parametrize("rows", [0, -1])
def test_a_group_has_rows(rows, tmp_path):

    with make_curator(tmp_path) as curator, pytest.raises(InvalidInput):
        curator.explain(SQL, epsilon=1, group_size=rows)


DIVIDED = ("CORR(age, income)", "REGR_SLOPE(age, income)", "REGR_INTERCEPT(age, income)")
DIVIDED += (
    "REGR_R2(age, income)",
    "CORR(age, income) FILTER (WHERE age > 20)",
    "1 / VARIANCE(age)",
)
NOT_DIVIDED = ("COVAR_POP(age, income)", "STDDEV(age) / COUNT(*)", "VARIANCE(age)", "AVG(age)")


@pytest.mark.parametrize("call", DIVIDED)
def test_it_is_said_from_how_many_rows_on_a_correlation_can_be_told(call):
    """At any epsilon, from fewer rows the larger it is, and of what is public only."""
    found = []
    for epsilon in ("0.02", "0.05", "0.1", "1", "800", "10000"):
        plan = planned(f"SELECT {call} AS c FROM people", epsilon=epsilon)
        found.append(drowned(plan)["c"])
        assert len(drowned_notes(plan)) == (found[-1] > 10)
        assert all(f"{found[-1]:,} rows" in note for note in drowned_notes(plan))
        assert found[-1] == 1 or stated_noise(plan, found[-1] - 1).noise["c"] is None
        assert "c" not in stated_noise(plan, found[-1]).noise
    assert found == sorted(found, reverse=True)
    assert found[0] > 500
    assert found[-1] <= 10


@pytest.mark.parametrize("call", NOT_DIVIDED)
def test_what_divides_by_no_variance_can_always_be_told(call):
    assert drowned(planned(f"SELECT {call} AS c FROM people", epsilon="0.001")) == {}


def test_the_number_of_rows_is_the_least_that_shows_a_spread(monkeypatch):
    """At one row fewer the noise covers the largest variance; the broken twin says half as many."""
    plan = planned("SELECT CORR(age, income) AS c FROM people", epsilon="0.1")
    seen = []

    def noted(form, row, laws, failure):
        found = spread_set(form, row, laws, failure)
        seen.append((row[form.count], found[0] > 0))
        return found

    monkeypatch.setattr(error_bars, "spread_set", noted)
    rows = drowned(plan)["c"]

    def right(told):
        return (told, True) in seen and (told - 1, False) in seen

    assert right(rows)
    assert not right(rows // 2)
