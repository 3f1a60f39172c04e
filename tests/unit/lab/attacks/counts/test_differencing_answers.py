import math
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.counts.differencing import (
    asked,
    ceiling,
    guess,
    left_over,
    question,
    rounded,
    suppressing,
    tracker,
)
from discreet.privacy.noise import discrete_laplace
from discreet.privacy.noise.error_bars import lower_limit
from discreet.testing import SeededRng

ALPHA = 1e-9


def test_the_worked_numbers_of_the_course():
    assert left_over((3005, 202), (3004, 201))
    assert left_over((91, 71), (90, 70))
    assert not left_over((3005, 201), (3004, 201))
    with pytest.raises(InvalidInput, match="exactly one person"):
        left_over((3005, 202), (3003, 201))


def test_rounding_goes_to_the_nearest_multiple():
    assert rounded(np.array([0, 2, 3, 7, 8, 12]), 5).tolist() == [0, 0, 5, 5, 10, 10]


@pytest.mark.parametrize("bit", [False, True])
def test_the_tracker_reads_a_bit_that_the_desk_declines(bit):
    secret = np.array([bit, *[True, False] * 10])
    group = np.ones(21, dtype=bool)
    others = group.copy()
    others[0] = False
    desk = suppressing(100, 5)
    assert desk(group & ~others) is None, "one person is too few to be counted"
    assert tracker(desk, group=group, others=others, secret=secret) is bit
    strict = suppressing(21, 5)
    assert tracker(strict, group=group, others=others, secret=secret) is None


def test_nobody_beats_the_ceiling_and_half_the_noise_does():
    size, truth = 40_000, np.arange(40_000) % 2 == 0
    others = np.full(size, 7)

    def right(scale: str) -> int:
        noise = discrete_laplace(scale, size, rng=SeededRng(5))
        return int((guess(others + truth + noise, others) == truth).sum())

    assert ceiling(1.0) == pytest.approx(math.e / (1 + math.e))
    # A correct answer fails here with probability ALPHA; the bound is reached, not only kept.
    assert lower_limit(right("1"), size, ALPHA) <= ceiling(1.0)
    assert right("1") / size > ceiling(1.0) - 0.02
    assert lower_limit(right("1/2"), size, ALPHA) > ceiling(1.0)


def test_answers_are_put_in_the_order_of_their_blocks():
    def ask(sql, epsilon):
        assert sql == question("people", others_only=True)
        assert epsilon == "1"
        return SimpleNamespace(rows=((2, 7), (0, 5), (1, -3)))

    assert asked(ask, question("people", others_only=True), "1").tolist() == [5, -3, 7]
