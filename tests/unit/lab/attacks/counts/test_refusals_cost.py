import numpy as np
import pytest

from discreet.lab.attacks.counts.refusals import (
    AuditingCost,
    DatabaseSearch,
    databases,
    determined,
    doubling,
    hard_queries,
    measured,
    undetermined,
)


def test_the_search_decides_what_all_databases_decide():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        people = int(rng.integers(2, 9))
        queries = rng.random((int(rng.integers(1, 5)), people)) < 0.5
        secret = rng.random(people) < 0.5
        every = databases(people)
        counts = every.astype(int) @ queries.T.astype(int)
        possible = (counts == queries.astype(int) @ secret.astype(int)).all(1)
        fixed = determined(possible, every)
        found = undetermined(queries, secret, DatabaseSearch(queries))
        assert found == np.flatnonzero(~fixed).tolist()
        seen.add(bool(fixed.any()))
    assert seen == {True, False}, "both kinds of instances were met"


def test_a_person_with_the_other_bit_is_found_or_proved_impossible():
    queries = np.array([[True, True, False]])
    search = DatabaseSearch(queries)
    assert search.find([1], person=0, bit=1) == [1, 0, 0]
    assert search.find([2], person=0, bit=0) is None
    assert search.steps > 2


def test_the_work_grows_exponentially():
    rng = np.random.default_rng(1)
    costs = [measured(people, rng, repeats=4) for people in (8, 11, 14, 17)]
    assert costs[-1].steps > 20 * costs[0].steps
    # Nine more people: a polynomial of degree 2 would be 4.5 times the work.
    assert 0.5 < doubling(costs) < 4


def test_doubling_is_read_off_a_straight_line():
    assert doubling([AuditingCost(n, 2.0 ** (n / 3), 0.0) for n in (3, 6, 9)]) == pytest.approx(3)
    assert doubling([AuditingCost(n, 5.0, 0.0) for n in (3, 6, 9)]) > 1e6


def test_hard_queries_are_about_as_many_as_determine_everybody():
    assert hard_queries(20, np.random.default_rng(0)).shape == (8, 20)
