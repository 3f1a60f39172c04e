from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.privacy.noise.select import utility_gaps


def gaps_of(utilities, **options):
    return utility_gaps(utilities, 1, 1, monotone=False, dimensions=1, **options)


def test_integers_keep_their_own_lattice():
    contest = gaps_of([3, 1, 2])
    assert contest.gaps.tolist() == [[0, 2, 1]]
    assert contest.rate == Fraction(1, 2)


def test_the_whole_range_of_64_bits_is_exact():
    extremes = np.array([-(2**63), 2**63 - 1, 0])
    assert gaps_of(extremes).gaps.tolist() == [[2**64 - 1, 0, 2**63 - 1]]
    unsigned = np.array([0, 2**64 - 1], dtype=np.uint64)
    assert gaps_of(unsigned).gaps.tolist() == [[2**64 - 1, 0]]
    assert gaps_of(np.array([-128, 127], dtype=np.int8)).gaps.tolist() == [[255, 0]]


def test_floats_mean_their_decimal_on_a_common_lattice():
    contest = gaps_of([0.1, Fraction(1, 3), "0.25"])
    assert [gap * contest.rate for gap in contest.gaps[0].tolist()] == [
        Fraction(7, 60),
        0,
        Fraction(1, 24),
    ]


def test_integers_beyond_a_word():
    assert gaps_of([0, 10**30]).gaps.tolist() == [[10**30, 0]]


def test_monotone_drops_the_two():
    halved = utility_gaps([1], "0.5", "0.3", monotone=True, dimensions=1)
    assert halved.rate == Fraction(3, 5)
    assert utility_gaps([1], "0.5", "0.3", monotone=False, dimensions=1).rate == Fraction(3, 10)


def test_batches_cover_all_rows_once():
    contest = utility_gaps(np.zeros((2500, 1000), int), 1, 1, monotone=False, dimensions=2)
    covered = np.concatenate([np.arange(2500)[rows] for rows in contest.batches()])
    assert covered.tolist() == list(range(2500))
    assert [rows.stop - rows.start for rows in contest.batches()][:2] == [2**20 // 1000] * 2
    wide = utility_gaps(np.zeros((2, 2**21), np.int8), 1, 1, monotone=False, dimensions=2)
    assert len(list(wide.batches())) == 2, "a row is never cut"


@pytest.mark.parametrize("utilities", [[], [[1, 2]], 5])
def test_wrong_shapes_are_refused(utilities):
    with pytest.raises(InvalidInput):
        gaps_of(utilities)


@pytest.mark.parametrize(("sensitivity", "epsilon"), [(0, 1), (-1, 1), (1, 0), (1, -1)])
def test_wrong_amounts_are_refused(sensitivity, epsilon):
    with pytest.raises(InvalidInput):
        utility_gaps([1, 2], sensitivity, epsilon, monotone=False, dimensions=1)


def test_no_rows_are_no_choices():
    for nothing in (np.zeros((0, 3)), np.zeros((0, 3), dtype=int).astype(object)):
        contest = utility_gaps(nothing, 1, 1, monotone=False, dimensions=2)
        assert (contest.rows, contest.candidates) == (0, 3)


def test_gaps_are_words_wherever_they_fit():
    assert gaps_of([0, 2**64 - 1, "0"]).gaps.dtype == np.uint64
    assert gaps_of([0, 2**64, "0"]).gaps.dtype == object
    assert gaps_of([0, 2**64, "0"]).gaps.tolist() == [[2**64, 0, 2**64]]


def test_rows_have_their_own_best():
    contest = utility_gaps([[1, 5], [7, 3]], 1, 1, monotone=False, dimensions=2)
    assert contest.gaps.tolist() == [[4, 0], [0, 4]]
    decimals = utility_gaps([[1.5, 5], [7, 3]], 1, 1, monotone=False, dimensions=2)
    assert decimals.gaps.tolist() == [[7, 0], [0, 8]]
    assert decimals.rate == Fraction(1, 4)
