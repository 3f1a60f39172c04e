from __future__ import annotations

from itertools import combinations

import pytest

from discreet.errors import InvalidInput
from discreet.measure.shape import MOST_CELLS, MOST_MARGINALS, closed, find_workload
from synth_kit import shape_of


def test_all_triples_where_they_are_few_and_pairs_where_they_are_many():
    assert find_workload(shape_of(2, 3, 4, 5), None) == list(combinations(range(4), 3))
    wide = find_workload(shape_of(*[3] * 30), None)
    assert wide == list(combinations(range(30), 2))
    assert MOST_MARGINALS < 4060


def test_large_marginals_are_not_asked_for_but_their_pairs_are():
    found = find_workload(shape_of(60, 60, 60, 2), None)
    assert (0, 1, 2) not in found
    assert MOST_CELLS < 60**3
    assert set(combinations(range(4), 2)) <= set(closed(found))


def test_narrow_tables():
    assert find_workload(shape_of(7), None) == [(0,)]
    assert closed(find_workload(shape_of(7), None)) == []
    assert find_workload(shape_of(7, 2), None) == [(0, 1)]
    assert find_workload(shape_of(4000, 4000), None) == []


def test_names_and_positions_may_be_mixed():
    assert find_workload(shape_of(2, 2, 2), [["c2", 0], [1], ["c0", "c2"]]) == [(0, 2), (1,)]


@pytest.mark.parametrize("wanted", [[["x"]], [[9]], [[-1]], [[]], [[0, 1, 2, 3, 4, 5]]])
def test_what_makes_no_sense_is_refused(wanted):
    with pytest.raises(InvalidInput, match="workload"):
        find_workload(shape_of(2, 2, 2, 2, 2, 2), wanted)
