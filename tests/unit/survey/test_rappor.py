"""RAPPOR: bits that are turned over once for ever, and reports that blur them anew each time."""

import secrets
from fractions import Fraction
from math import comb, exp, log

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.privacy.noise.rng import SystemRng
from discreet.survey.estimators import once_epsilon, shares_from, variance
from discreet.survey.randomizers.base import WORD, Draws
from discreet.survey.randomizers.rappor import InstantaneousResponse, Rappor, RapporSketch
from laws_kit import exact_law
from survey_kit import VALUES, RecordedBytes, made

CHANCE = 1e-6  # that a correct device fails one of the tests below


@pytest.mark.parametrize("epsilon", ["0.1", "1", "2", "4", "8"])
@pytest.mark.parametrize("name", ["rappor", "rappor_sketch"])
def test_one_report_tells_what_is_stated_and_less_than_all_of_them(name, epsilon):
    randomizer = made(name, epsilon)
    laws = [exact_law(randomizer, value) for value in VALUES[name]]
    assert all(sum(law) == 1 for law in laws)
    worst = max(max(column) / min(column) for column in zip(*laws, strict=True))
    assert worst == randomizer.once_ratio < randomizer.worst_ratio
    assert once_epsilon(randomizer) == pytest.approx(log(worst))
    assert once_epsilon(randomizer) < float(epsilon)


def test_the_blur_sees_only_what_is_kept():
    """Equal permanent bits, equal draws for the blur: equal reports, whatever was answered."""
    randomizer = Rappor.of(2, Fraction(1))
    now = secrets.token_bytes(8)
    truth, lie = bytes(4), b"\xff" * 4  # coin(lie) falls, and does not
    kept = Draws(RecordedBytes(lie + lie + now))  # no bit is turned over: 10
    turned = Draws(RecordedBytes(truth + truth + now))  # both are: 01 becomes 10
    assert randomizer.encode(1, turned) == randomizer.encode(0, kept)


def guessed_right(randomizer, *, people, days, forgetful=False):
    """Return how many answers the sums of all reports give away; `forgetful`: permanent coins are tossed anew."""
    right = 0
    for answer in np.arange(people) % 2:
        if forgetful:
            told = randomizer.encode_many(np.full(days, answer), SystemRng())
        else:
            bits = randomizer.keep_many(np.array([answer]), SystemRng())
            told = randomizer.blur.many(np.repeat(bits, days, axis=0), 2, SystemRng())
        yes = int((told >> 7).sum()) - int((told >> 6 & 1).sum())
        right += (yes > 0) == (answer == 0)
    return right


def tail(count, least, share):
    """Return how likely a binomial reaches `least`."""
    return sum(
        comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(least, count + 1)
    )


def test_averaging_blurred_bits_for_ever_tells_no_more_than_the_bits():
    rappor, people, days, limit = Rappor.of(2, Fraction(2)), 100, 90, 96
    # The best guess from both permanent bits is right as often as one bit is not turned over: 73%.
    kept = float(1 - Fraction(rappor.lie, WORD))
    assert kept < exp(2) / (1 + exp(2))
    assert tail(people, limit, kept) < CHANCE
    assert guessed_right(rappor, people=people, days=days) < limit
    # 90 fresh reports separate the two sums by 20.8, at a standard error of 6.6: 0.08% are wrong.
    assert tail(people, people - limit + 1, 0.0008) < CHANCE
    assert guessed_right(rappor, people=people, days=days, forgetful=True) >= limit


def test_what_remains_after_averaging_is_what_was_kept():
    randomizer, count = Rappor.of(6, Fraction(2)), 400
    kept = randomizer.keep_many(np.arange(count) % 6, SystemRng())
    blur, total = InstantaneousResponse(), np.zeros((count, 6))
    for _ in range(300):
        total += np.unpackbits(blur.many(kept, 6, SystemRng()), axis=1, count=6)
    # Half-way lies 10 standard errors (8.7 of 300) from 75 and 225: 2,400 bits err with 1e-15.
    assert np.array_equal(total > 150, np.unpackbits(kept, axis=1, count=6).astype(bool))


def test_words_are_found_through_both_steps():
    sketch, people = RapporSketch.of(Fraction(6), rows=64, buckets=64), 20_000
    words = ["tea"] * 12_000 + ["coffee"] * 8_000
    tally = sketch.tally(sketch.encode_many(words, SystemRng()))
    found = shares_from(
        sketch, sketch.supporters(tally, ["tea", "coffee", "water"]), reports=people
    )
    truth = np.array([0.6, 0.4, 0.0])
    assert np.all(
        np.abs(found.value - truth) < 6 * np.sqrt(variance(sketch, truth, reports=people))
    )
    assert np.all((found.low <= found.value) & (found.value <= found.high))


def test_sizes_that_cannot_work_are_refused():
    for codes in (1, 1 << 17):
        with pytest.raises(InvalidInput):
            Rappor.of(codes, Fraction(1))
    with pytest.raises(InvalidInput):
        RapporSketch.of(Fraction(1), rows=3)
