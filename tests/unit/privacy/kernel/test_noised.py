"""Where exact meets noise."""

import numpy as np

from asking import plan
from discreet.privacy.kernel.look import ExactResults, noised
from discreet.testing import SeededRng


def noisy(sql, exact, *, seed=1, **settings):
    found = plan(sql, **settings)
    return noised(exact, found.mechanisms, SeededRng(seed))


def test_every_measure_gets_its_own_noise():
    exact = ExactResults((("Female",), ("Male",)), {"m0": [1000, 1000]}, {})
    sql = "SELECT sex, COUNT(*) FROM people GROUP BY sex"
    drawn = [noisy(sql, exact, seed=seed, epsilon="0.01").measures["m0"] for seed in range(20)]
    assert len({value for pair in drawn for value in pair}) > 20
    assert all(isinstance(value, int) for pair in drawn for value in pair)


def test_small_private_groups_vanish_with_everything_about_them():
    exact = ExactResults((("a",), ("b",)), {"m0": [10**6, 1], "m1": [5, 5]}, {})
    sql = "SELECT job, COUNT(*), SUM(age) FROM people GROUP BY job"
    found = noisy(sql, exact, delta="1e-6")
    assert found.groups == (("a",),)
    assert [len(values) for values in found.measures.values()] == [1, 1]


def test_a_quantile_is_a_declared_value_near_the_right_rank():
    histogram = np.zeros((1, 121), dtype=np.int64)
    histogram[0, 30:50] = 500
    exact = ExactResults(((),), {}, {"q0": histogram})
    found = noisy("SELECT MEDIAN(age) FROM people", exact)
    assert found.choices["q0"][0] in range(38, 42)


def test_a_quantile_of_many_digits_does_not_wrap_around():
    histogram = np.full((1, 121), 1000, dtype=np.int64)
    exact = ExactResults(((),), {}, {"q0": histogram})
    for digits, place in (("0.12345678901234567", 14), ("0.99999999999999999", 120)):
        sql = f"SELECT QUANTILE_CONT(age, {digits}) FROM people"
        assert abs(noisy(sql, exact).choices["q0"][0] - place) <= 1


def test_no_group_no_noise():
    exact = ExactResults((), {"m0": []}, {})
    found = noisy("SELECT job, COUNT(*) FROM people GROUP BY job", exact, delta="1e-6")
    assert found.groups == ()
