"""How many rows of a person are worth counting."""

from __future__ import annotations

import numpy as np

from discreet.work.synth.linked_model import at_most, rows_worth_counting


def test_much_noise_counts_one_row_and_none_counts_all():
    people = np.repeat(np.arange(1000), 1 + np.arange(1000) % 5)
    assert rows_worth_counting(people, 8, noise=1000.0) == 1
    assert rows_worth_counting(people, 8, noise=1e-6) == 5
    assert rows_worth_counting(np.zeros(0, dtype=np.int64), 8, noise=1.0) == 1


def test_nobody_keeps_more_rows_than_the_most():
    people = np.array([3, 1, 3, 3, 1, 2, 3])
    for most in (1, 2, 9):
        kept = people[at_most(people, most, np.random.default_rng(1))]
        _, many = np.unique(kept, return_counts=True)
        assert many.tolist() == [min(n, most) for n in (2, 1, 4)]
