"""Chances of being unique, on populations where everybody is known."""

import numpy as np
import pytest

from discreet.lab.attacks.uniqueness import chances_of_uniqueness

pytest.importorskip("scipy")


def population(size, sizes, seed=3):
    """Return people with dependent columns: each is a coarse view of numbers that share a part."""
    dice = np.random.default_rng(seed)
    common = dice.normal(size=size)
    made = []
    for values in sizes:
        number = 0.6 * common + 0.8 * dice.normal(size=size)
        made.append(np.clip((number + 3) / 6 * values, 0, values - 1).astype(np.int64))
    return np.stack(made)


def alone(codes):
    _, inverse, counts = np.unique(codes, axis=1, return_inverse=True, return_counts=True)
    return counts[inverse.ravel()] == 1


def dense(rows):
    return [np.unique(row, return_inverse=True)[1] for row in rows]


@pytest.mark.parametrize(
    ("sizes", "share"), [((40, 12, 6, 4), 0.1), ((30, 8, 3), 0.1), ((60, 30, 20, 5), 0.05)]
)
def test_the_share_of_unique_people_is_found_from_a_sample(sizes, share):
    everyone = population(20_000, sizes)
    truth = alone(everyone)
    rng = np.random.default_rng(1)
    taken = rng.permutation(20_000)[: int(share * 20_000)]
    found = chances_of_uniqueness(dense(everyone[:, taken]), 20_000, rng)
    assert found.mean() == pytest.approx(truth.mean(), abs=0.06)
    # Who is claimed is unique far more often than whoever is alone in the sample.
    ranks = np.argsort(np.argsort(found))
    mine = truth[taken]
    if 0 < mine.sum() < len(mine):
        assert ranks[mine].mean() > ranks[~mine].mean() + 0.25 * len(mine)


def test_a_row_that_is_not_alone_in_the_sample_is_never_unique():
    rows = np.array([[0, 0, 1, 2, 3] * 20, [0, 0, 1, 1, 2] * 20])
    rows = np.concatenate([rows, [[4], [3]]], axis=1)
    found = chances_of_uniqueness(dense(rows), 1_000, np.random.default_rng(0))
    assert (found[:-1] == 0).all()
    assert found[-1] > 0


def test_values_that_the_sample_does_not_show_have_weight_too():
    """Birthdays: 600 people, 25,000 days. A value seen once is not one in 600 of everybody."""
    dice = np.random.default_rng(5)
    everyone = np.stack([dice.integers(0, 25_000, 20_000), dice.integers(0, 4, 20_000)])
    taken = dice.permutation(20_000)[:600]
    found = chances_of_uniqueness(dense(everyone[:, taken]), 20_000, dice)
    truth = alone(everyone)[taken].mean()  # 0.82
    assert found.mean() == pytest.approx(truth, abs=0.15)
