from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from discreet.errors import InvalidInput
from discreet.noise import sparse
from discreet.noise.sparse import SparseVector, above_threshold, sparse_scales
from discreet.testing.rng import SeededRng
from sittings import FULL

ALPHA = 1e-9


@pytest.mark.parametrize("cutoff", [1, 2, 10, 100])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_two_scales_spend_exactly_epsilon(cutoff, monotone):
    sensitivity, epsilon = Fraction(3), Fraction(1, 10)
    scales = sparse_scales(sensitivity, epsilon, cutoff=cutoff, monotone=monotone)
    moves = 1 if monotone else 2
    spent = sensitivity / scales.threshold + cutoff * moves * sensitivity / scales.question
    assert spent == epsilon


def test_the_noise_of_questions_grows_with_the_cutoff():
    scales = [sparse_scales(1, 1, cutoff=cutoff).question for cutoff in (1, 2, 4, 8)]
    assert scales == sorted(scales)
    assert scales[3] > 5 * scales[0]


def test_stops_after_the_cutoff():
    answers = [0, 10**6, 0, 10**6, 10**6, 0]
    once = above_threshold(answers, 1000, 1, 1)
    assert once.above.tolist() == [False, True, False, False, False, False]
    assert int(once.asked) == 2
    thrice = above_threshold(answers, 1000, 1, 1, cutoff=3)
    assert thrice.above.tolist() == [False, True, False, True, True, False]
    assert int(thrice.asked) == 5


def test_never_above_means_all_were_asked():
    result = above_threshold(np.zeros((3, 4), int), 10**6, 1, 1)
    assert not result.above.any()
    assert result.asked.tolist() == [4, 4, 4]


def test_extreme_integers_do_not_wrap_around():
    signed = above_threshold(np.array([-(2**63), 2**63 - 1]), 0, 1, 1)
    assert signed.above.tolist() == [False, True]
    unsigned = above_threshold(np.array([0, 2**64 - 1], dtype=np.uint64), 10**6, 1, 1)
    assert unsigned.above.tolist() == [False, True]
    assert above_threshold(np.array([-100, 100], dtype=np.int8), 0, 1, 50).above.tolist() == [
        False,
        True,
    ]


def first_above(asks):
    return next((i for i, above in enumerate(asks) if above), len(asks))


def test_one_at_a_time_follows_the_same_law():
    answers, trials, rng = [0, 1, 2, 1], 4000 if FULL else 700, SeededRng(1)

    def one_by_one(shift):
        vector = SparseVector(2 + shift, 1, 1, rng=rng)
        for i, answer in enumerate(answers):
            if vector.ask(answer):
                return i
        return len(answers)

    batch = above_threshold(np.tile(answers, (trials, 1)), 2, 1, 1, rng=rng)
    together = np.bincount([first_above(row) for row in batch.above.tolist()], minlength=5)
    for shift, same in ((0, True), (3, False)):
        alone = np.bincount([one_by_one(shift) for _ in range(trials)], minlength=5)
        assert bool(chi2_contingency([together, alone]).pvalue > ALPHA) is same


def test_nothing_is_answered_after_the_cutoff():
    vector = SparseVector(0, 1, 1, cutoff=2)
    assert vector.left == 2
    assert vector.ask(10**6)
    assert vector.ask(10**6)
    with pytest.raises(InvalidInput, match="as often as it may"):
        vector.ask(0)


def test_the_noisy_threshold_is_not_shown():
    vector = SparseVector(1234567, 1, 1)
    assert repr(vector) == "SparseVector(left=1)"


def test_nonsense_is_refused():
    for arguments in ((0, 1), (-1, 1), (1, 0)):
        with pytest.raises(InvalidInput):
            sparse_scales(*arguments)
    with pytest.raises(InvalidInput):
        sparse_scales(1, 1, cutoff=0)
    with pytest.raises(InvalidInput):
        above_threshold([0.5], 0, 1, 1)
    with pytest.raises(InvalidInput):
        above_threshold([1], 2**70, 1, 1)


@pytest.mark.parametrize("cutoff", [1, 2, 3, 4, 5, 10, 100, 2**20])
@pytest.mark.parametrize("monotone", [False, True])
def test_epsilon_is_split_near_the_least_variance(cutoff, monotone):
    scales = sparse_scales(1, 1, cutoff=cutoff, monotone=monotone)
    moves = cutoff if monotone else 2 * cutoff
    share = scales.threshold / scales.question * moves
    assert (share - 1) ** 3 < moves**2 <= share**3
    assert share.denominator == 1
    assert scales.cutoff == cutoff


def test_the_default_is_one_answer_and_no_monotony():
    plain = sparse_scales(1, 1, cutoff=1, monotone=False)
    assert sparse_scales(1, 1) == plain
    assert SparseVector(0, 1, 1)._scales == plain
    assert SparseVector(0, 1, 1).left == 1
    answers = np.arange(-20, 20).repeat(5).reshape(-1, 4)
    once = above_threshold(answers, 0, 1, 1, rng=SeededRng(1))
    said = above_threshold(answers, 0, 1, 1, cutoff=1, monotone=False, rng=SeededRng(1))
    assert (once.above == said.above).all()
    assert once.above.sum(axis=1).max() == 1


def test_monotony_and_cutoff_reach_the_scales():
    for cutoff, monotone in ((1, True), (3, False), (3, True)):
        vector = SparseVector(0, 2, "0.5", cutoff=cutoff, monotone=monotone)
        assert vector._scales == sparse_scales(2, "0.5", cutoff=cutoff, monotone=monotone)
        assert vector.left == cutoff


def test_answers_equal_to_the_bar_are_above(monkeypatch):
    monkeypatch.setattr(sparse, "discrete_laplace", lambda scale, size, rng: np.zeros(size, int))
    assert above_threshold([4, 5, 6], 5, 1, 1, cutoff=3).above.tolist() == [False, True, True]
    vector = SparseVector(5, 1, 1, cutoff=3)
    assert [vector.ask(answer) for answer in (4, 5, 6)] == [False, True, True]
    assert vector.left == 1


def test_noise_is_added_to_the_bar_and_to_each_answer(monkeypatch):
    asked = []

    def ones(scale, size, rng):
        asked.append((scale, size))
        return np.full(size, 10 if len(asked) % 2 else 3)

    monkeypatch.setattr(sparse, "discrete_laplace", ones)
    scales = sparse_scales(1, 1)
    assert above_threshold([[1, 2], [6, 7]], -1, 1, 1).above.tolist() == [
        [False] * 2,
        [True, False],
    ]
    assert asked == [(scales.threshold, (2, 1)), (scales.question, (2, 2))]
    asked.clear()
    vector = SparseVector(-1, 1, 1)
    assert vector.ask(6)
    assert asked == [(scales.threshold, 1), (scales.question, 1)]


def test_far_answers_and_bars_stop_at_2_to_the_61():
    far = 2**61
    for dtype in (np.int64, np.uint64):
        clipped = sparse._clipped(np.array([0, far - 1, far, far + 1, 2**63 - 1], dtype=dtype))
        assert clipped.tolist() == [0, far - 1, far, far, far]
        assert clipped.dtype == np.int64
    assert sparse._clipped(np.array([-far - 1, -far, -(2**63)])).tolist() == [-far] * 3
    for threshold in (far, -far):
        assert sparse._checked(threshold) == threshold
    for threshold in (far + 1, -far - 1):
        with pytest.raises(InvalidInput, match="sensible"):
            SparseVector(threshold, 1, 1)


def test_cutoffs_and_shapes_out_of_range_are_refused():
    for cutoff in (-1, 0, 2**20 + 1):
        with pytest.raises(InvalidInput, match="cutoff"):
            sparse_scales(1, 1, cutoff=cutoff)
    for answers in (5, [[[1]]], ["a"]):
        with pytest.raises(InvalidInput, match="integers"):
            above_threshold(answers, 0, 1, 1)
