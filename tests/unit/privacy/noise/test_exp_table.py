from fractions import Fraction

import numpy as np
import pytest

from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.coins import BITS, exp_table
from discreet.testing.rng import SeededRng

RATES = [Fraction(1, 2), Fraction(7), Fraction(100), Fraction(3, 1000), Fraction(1, 10**9)]


def assert_within_slack(tables, gaps, words):
    extra = 64
    for gap, word in zip(gaps.tolist(), words.tolist(), strict=True):
        low, high = exp_bounds(-gap * tables.rate, BITS + extra)
        assert word << extra <= high, "a word above the truth"
        assert low <= (word + tables.slack) << extra, "a word too far below"


@pytest.mark.parametrize("rate", RATES)
def test_words_lie_within_slack_below_the_truth(rate):
    tables = exp_table(rate)
    reach = 256**tables.places
    words = SeededRng(2).words(300)
    gaps = np.concatenate(
        [
            np.arange(20, dtype=np.uint64),
            np.array([255, 256, 257, 65535, 65536, 2**63, 2**64 - 1], dtype=np.uint64),
            words % np.uint64(min(reach, 2**64 - 1)),
            words % np.uint64(max(2, int(40 / rate))),
        ]
    )
    assert_within_slack(tables, gaps, tables.words(gaps))


@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 10**15)])
def test_the_slack_is_needed_where_every_factor_is_near_one(rate):
    tables = exp_table(rate)
    gaps = SeededRng(3).words(2000) % np.uint64(max(2, int(1 / rate / 100)))
    words = tables.words(gaps)
    assert_within_slack(tables, gaps, words)
    short = [
        exp_bounds(-gap * rate, BITS)[0] - word
        for gap, word in zip(gaps.tolist(), words.tolist(), strict=True)
    ]
    assert max(short) >= tables.places, "one unit a place would be too few"


def test_integers_beyond_a_word_agree():
    rate = Fraction(1, 10**25)
    gaps = np.array([0, 1, 10**24, 10**26 + 7, 10**27, 10**40, 2**96, 2**200], dtype=object)
    tables = exp_table(rate)
    assert_within_slack(tables, gaps, tables.words(gaps))


def test_small_integers_agree_in_both_forms():
    gaps = np.arange(1000, dtype=np.uint64)
    tables = exp_table(Fraction(1, 90))
    assert (tables.words(gaps) == tables.words(gaps.astype(object))).all()


def test_no_gap_is_certain():
    assert exp_table(Fraction(1, 3)).words(np.zeros(1, dtype=np.uint64)).tolist() == [2**BITS]


def test_work_depends_on_the_rate_alone():
    assert exp_table(Fraction(1)).places == 1
    assert exp_table(Fraction(1, 10**6)).places == 4


@pytest.mark.parametrize("rate", [Fraction(44), Fraction(44, 256), Fraction(1, 10**15)])
def test_as_many_bytes_count_as_have_a_chance_above_2_to_the_minus_63(rate):
    places = exp_table(rate).places
    assert rate * 256**places >= 44
    assert places == 1 or rate * 256 ** (places - 1) < 44
    assert exp_table(rate * Fraction(99, 100)).places == places + (rate * 256**places == 44)


def test_only_gaps_beyond_the_last_byte_have_no_word():
    tables = exp_table(Fraction(1))
    for dtype in (np.uint64, object):
        gaps = np.array([0, 40, 255, 256, 2**32], dtype=dtype)
        assert (tables.words(gaps) > 0).tolist() == [True, True, False, False, False]
    slow = exp_table(Fraction(1, 2**62))
    assert slow.places == 9
    words = slow.words(np.array([2**63, 2**64 - 1], dtype=np.uint64))
    for word, gap in zip(words.tolist(), (2**63, 2**64 - 1), strict=True):
        low, high = exp_bounds(Fraction(-gap, 2**62), BITS)
        assert high - slow.slack <= word <= low


def test_tables_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        exp_table(Fraction(1)).tables[0][0] = 1
