"""Mechanisms in words."""

from asking import plan
from discreet.ask.release.answer import mechanism_words


def words(sql, **settings):
    return " / ".join(mechanism_words(plan(sql, **settings)))


def test_noise_sensitivity_and_share():
    assert words("SELECT COUNT(*) FROM people", epsilon="0.5") == (
        "rows: discrete Laplace noise of scale 2, one unit moves it by 1 (0.5)"
    )
    assert "100,000 steps of 0.01" in words("SELECT SUM(income) FROM people")


def test_thresholds_and_bounds_are_told():
    assert "groups appear from" in words("SELECT job FROM people GROUP BY job", delta="1e-6")
    assert "at most 4 rows of each unit count" in words("SELECT COUNT(*) FROM visits")


def test_quantiles_promise_a_rank():
    assert "121 public values, rank off by at most 8 rows" in words(
        "SELECT MEDIAN(age) FROM people"
    )
    ranges = "public ranges of 25 values each, the middle of one is shown, its rank off by at most"
    assert ranges in words("SELECT MEDIAN(income) FROM people")
