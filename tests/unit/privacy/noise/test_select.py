import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InvalidInput
from discreet.privacy.noise.select import (
    _pick,
    _scale,
    exponential,
    exponential_rows,
    permute_and_flip,
)
from discreet.testing.rng import FakeBits, SeededRng
from noise_kit import permute_and_flip_rows
from sittings import FULL

ALPHA = 1e-9
N = 100_000
UTILITIES = (3, 1, 0, 2)


def rows(utilities=UTILITIES, count=N):
    return np.broadcast_to(np.array(utilities), (count, len(utilities)))


def exponential_law(utilities, rate, weights=1):
    law = np.exp(rate * np.array(utilities, float)) * weights
    return law / law.sum()


def permute_and_flip_law(utilities, rate):
    """Return the law by the definition: all orders, the first head wins."""
    heads = np.exp(rate * (np.array(utilities, float) - max(utilities)))
    law = np.zeros(len(utilities))
    orders = list(itertools.permutations(range(len(utilities))))
    for order in orders:
        tails = 1.0
        for i in order:
            law[i] += tails * heads[i] / len(orders)
            tails *= 1 - heads[i]
    return law


def assert_law(chosen, right, wrongs):
    counts = np.bincount(chosen, minlength=len(right))
    assert chisquare(counts, right * counts.sum()).pvalue > ALPHA
    for wrong in wrongs:
        assert chisquare(counts, wrong * counts.sum()).pvalue < ALPHA


def test_exponential_law():
    chosen = exponential_rows(rows(), 1, 2, rng=SeededRng(1))
    wrongs = [exponential_law(UTILITIES, rate) for rate in (0.9, 1.1, 2)]
    assert_law(chosen, exponential_law(UTILITIES, 1), wrongs)


def test_exponential_law_with_weights():
    weights = np.array([1, 3, 0, 2])
    chosen = exponential_rows(rows(), 1, 2, weights=weights, rng=SeededRng(1))
    counts = np.bincount(chosen, minlength=4)
    assert counts[2] == 0
    kept = [0, 1, 3]
    right = exponential_law(UTILITIES, 1, weights)[kept] * N
    assert chisquare(counts[kept], right).pvalue > ALPHA
    wrong = exponential_law(UTILITIES, 1)[kept]
    assert chisquare(counts[kept], wrong / wrong.sum() * N).pvalue < ALPHA


def test_the_best_of_no_weight_does_not_count():
    # With a gap of 10^9 to a candidate that cannot be chosen, the others still follow their law.
    chosen = exponential_rows(rows((10**9, 0, 1)), 1, 2, weights=[0, 1, 1], rng=SeededRng(1))
    assert_law(chosen - 1, exponential_law((0, 1), 1), [exponential_law((0, 1), 1.1)])


def test_monotone_doubles_the_rate():
    chosen = exponential_rows(rows(), 1, 1, monotone=True, rng=SeededRng(1))
    assert_law(chosen, exponential_law(UTILITIES, 1), [exponential_law(UTILITIES, 0.5)])


def test_permute_and_flip_law_is_that_of_the_definition():
    right = permute_and_flip_law(UTILITIES, 1)
    chosen = permute_and_flip_rows(rows(), 1, 2, rng=SeededRng(1))
    assert_law(chosen, right, [exponential_law(UTILITIES, 1), permute_and_flip_law(UTILITIES, 0.9)])


def test_auction():
    # Bids 1.00, 1.00, 1.00, 3.01: revenue 4.00 at price 1.00, 3.01 at 3.01 and 0 at 3.02.
    revenue = [Fraction(4), Fraction("3.01"), Fraction(0)]
    rng, draws = SeededRng(1), 20_000 if FULL else 6000
    table = np.array([revenue] * draws, dtype=object)
    chosen = exponential_rows(table, "3.02", "3.02", rng=rng)
    right = exponential_law([4, 3.01, 0], 0.5)
    assert np.round(right, 3).tolist() == [0.573, 0.349, 0.078]
    assert_law(chosen, right, [exponential_law([4, 3, 0], 1)])
    assert exponential(revenue, "3.02", 1000, rng=rng) == 0


def test_cents_and_decimals_mean_the_same():
    whole = exponential_rows(rows((400, 301, 0), 5000), 302, 3, rng=SeededRng(8))
    decimals = exponential_rows(rows((4.0, 3.01, 0.0), 5000), 3.02, 3, rng=SeededRng(8))
    assert (whole == decimals).all()


@pytest.mark.parametrize("choose", [exponential, permute_and_flip])
def test_clear_winners_win(choose):
    assert choose([0, 5, 10**6], 1, 1) == 2
    assert choose(np.array([-(2**63), 2**63 - 1]), 1, 1) == 1
    assert choose([7], 1, 1) == 0
    assert isinstance(choose([7, 8], 1, 1), int)


def test_a_million_candidates():
    utilities = np.arange(10**6) % 1000
    for choose in (exponential, permute_and_flip):
        assert utilities[choose(utilities, 1, 2, rng=SeededRng(1))] > 900


def test_choices_differ_between_rows():
    table = np.array([[0, 1000], [1000, 0]] * 700)
    for choose in (exponential_rows, permute_and_flip_rows):
        assert choose(table, 1, 1).tolist() == [1, 0] * 700


def test_wild_rationals_are_exact():
    assert exponential([0.0, 1e300, 5e-300], 1, 1) == 1
    assert permute_and_flip([0.0, 1e300, 5e-300], 1, 1) == 1


@pytest.mark.parametrize(
    "weights", [[0, 0], [1], [1, -1], [1.5, 2.0], [1, 2**50], [2**63, 2**63 - 1]]
)
def test_wrong_weights_are_refused(weights):
    with pytest.raises(InvalidInput):
        exponential([1, 2], 1, 1, weights=np.array(weights))


def test_common_divisors_of_weights_do_not_matter():
    assert exponential([0, 10**6], 1, 1, weights=[2**50, 2**51]) == 1


@pytest.mark.parametrize(
    ("alone", "together"),
    [
        (exponential, exponential_rows),
        (permute_and_flip, permute_and_flip_rows),
    ],
)
def test_one_choice_is_a_row_of_many(alone, together):
    utilities = list(range(30))
    for options in ({}, {"monotone": False}, {"monotone": True}):
        chosen = [alone(utilities, 1, "0.3", **options, rng=SeededRng(i)) for i in range(40)]
        rows = [together([utilities], 1, "0.3", **options, rng=SeededRng(i)) for i in range(40)]
        assert chosen == [int(row[0]) for row in rows]
        halved = [
            alone(utilities, 1, "0.15", monotone=True, rng=SeededRng(i)) for i in range(40)
        ]  # the same rate as 0.3 without monotony
        assert (chosen == halved) is not options.get("monotone", False)


@pytest.mark.parametrize("choose", [exponential_rows, permute_and_flip_rows])
def test_rows_need_two_dimensions_and_one_choice_needs_one(choose):
    with pytest.raises(InvalidInput, match="2 dimension"):
        choose([1, 2], 1, 1)
    single = {
        exponential_rows: exponential,
        permute_and_flip_rows: permute_and_flip,
    }[choose]
    with pytest.raises(InvalidInput, match="1 dimension"):
        single([[1, 2]], 1, 1)


def test_a_winner_is_picked_evenly_among_the_eligible():
    eligible = np.array(list(itertools.product([False, True], repeat=4))[1:])
    for row in eligible:
        places = np.flatnonzero(row).tolist()
        for rank, place in enumerate(places):
            # The first word of `below` that says this rank, and the last.
            for word in (
                -(-(rank << 64) // len(places)) + 1,
                ((rank + 1 << 64) // len(places)) - 2,
            ):
                assert _pick(row[None, :], FakeBits([word, 5])).tolist() == [place]


def test_weights_are_kept_without_common_divisor_and_zeros():
    scale, kept = _scale(np.array([6, 0, 4, 10]), 4)
    assert scale.tolist() == [3, 2, 5]
    assert kept.tolist() == [0, 2, 3]
    scale, kept = _scale(None, 3)
    assert scale.tolist() == [1, 1, 1]
    assert kept.tolist() == [0, 1, 2]


def test_weights_add_up_to_at_most_2_to_the_40():
    most = 2**40
    assert _scale(np.array([1, most - 1]), 2)[0].tolist() == [1, most - 1]
    for uneven in ([1, most], [2, most - 1], [2**63, 2**63, 1], [most - 1, most - 2]):
        with pytest.raises(InvalidInput, match="uneven"):
            _scale(np.array(uneven, dtype=np.uint64), len(uneven))
