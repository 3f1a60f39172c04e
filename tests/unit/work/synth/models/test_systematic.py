from __future__ import annotations

import numpy as np
import pytest

from discreet.testing import assert_frequency
from discreet.work.synth.models.model import draw_codes
from sittings import FULL

TRIES = 4000 if FULL else 1500
CHANCES = np.array([[0.1, 0.2, 0.7], [0.0, 0.5, 0.5]])


def test_every_count_is_the_floor_or_the_ceiling_of_its_expectation():
    rng = np.random.default_rng(1)
    for rows in (1, 2, 7, 100, 999):
        place = rng.integers(0, 2, rows)
        codes = draw_codes(CHANCES, place, rng)
        for which in (0, 1):
            here = codes[place == which]
            counts = np.bincount(here, minlength=3)
            assert np.abs(counts - here.size * CHANCES[which]).max() < 1
            assert counts.sum() == here.size


def test_each_row_has_its_chance_whatever_its_position():
    dice = np.random.default_rng(2)
    hits = [draw_codes(CHANCES, np.zeros(5, dtype=np.int64), dice)[3] for _ in range(TRIES)]
    for code, chance in enumerate(CHANCES[0]):
        found = sum(hit == code for hit in hits)
        assert_frequency(found, TRIES, chance, chance)
        with pytest.raises(AssertionError):
            assert_frequency(found, TRIES, chance + 0.1, chance + 0.1)


def test_a_chance_of_zero_is_never_drawn_and_rounding_does_not_matter():
    dice = np.random.default_rng(3)
    third = np.full((1, 3), 1 / 3)
    for rows in (3, 10, 10**5):
        assert draw_codes(third, np.zeros(rows, dtype=np.int64), dice).max() <= 2
    assert (draw_codes(CHANCES, np.ones(10**4, dtype=np.int64), dice) > 0).all()


def test_no_rows_and_many_places():
    dice = np.random.default_rng(4)
    assert draw_codes(CHANCES, np.zeros(0, dtype=np.int64), dice).size == 0
    many = np.eye(3)[np.arange(70_000) % 3]
    place = dice.integers(0, 70_000, 5000)
    assert (draw_codes(many, place, dice) == place % 3).all()
