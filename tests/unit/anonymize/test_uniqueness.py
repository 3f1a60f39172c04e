import math

import numpy as np
import pytest

from discreet.anonymize.risk import (
    MODELS,
    ClassSizes,
    estimates,
    mean_inverse_size,
    pitman,
    slid_negative_binomial,
    zayatz,
)


def sampled(population, part, seed=1):
    """Return the true share of uniques and the sizes that a sample of the classes shows."""
    rng = np.random.default_rng(seed)
    seen = rng.binomial(population, part)
    return (population == 1).sum() / population.sum(), ClassSizes.of(seen)


def shares(sizes, people):
    return {each.name: each.share for each in estimates(sizes, people)}


def test_the_whole_population_is_no_guess():
    sizes = ClassSizes.of([1, 1, 2, 6])
    assert set(shares(sizes, 10).values()) == {0.2}
    assert set(shares(sizes, 5).values()) == {0.2}


def test_without_sample_uniques_there_are_none():
    assert set(shares(ClassSizes.of([2, 3, 9]), 1000).values()) == {0.0}


def test_no_estimate_is_above_the_sample():
    for sizes in (ClassSizes.of([1] * 50), ClassSizes.of([1, 1, 500]), ClassSizes.of([1])):
        for people in (51, 600, 10**9):
            found = [s for s in shares(sizes, people).values() if s is not None]
            assert found, "at least one model says something"
            assert all(0 <= s <= sizes.share_unique for s in found)


def test_a_slid_negative_binomial_population_is_recovered_by_its_own_model():
    rng = np.random.default_rng(3)
    population = 1 + rng.negative_binomial(0.5, 0.5 / (0.5 + 9), size=60_000)
    truth, sizes = sampled(population, 0.2)
    assert slid_negative_binomial(sizes, 0.2) == pytest.approx(truth, rel=0.1)
    # Another shape is assumed by the others: off by far.
    assert abs(pitman(sizes, 0.2) - truth) > 0.3 * truth


def test_a_pitman_population_is_recovered_by_its_own_model():
    rng = np.random.default_rng(5)
    a, t, people = 0.6, 50.0, 40_000
    # The seating of guests at tables is the Ewens-Pitman law by definition.
    tables: list[int] = []
    guests = np.empty(people, dtype=np.int64)
    for i in range(people):
        if rng.random() < (t + a * len(tables)) / (t + i):
            guests[i] = len(tables)
            tables.append(1)
        else:
            other = guests[rng.integers(i)]
            # Rejection: a table with c guests is joined with weight c - a.
            while rng.random() < a / tables[other]:
                other = guests[rng.integers(i)]
            guests[i] = other
            tables[other] += 1
    truth = sum(size == 1 for size in tables) / people
    sample = rng.permutation(guests)[: people // 10]
    sizes = ClassSizes.of(np.unique(sample, return_counts=True)[1])
    assert pitman(sizes, 0.1) == pytest.approx(truth, rel=0.15)


def test_zayatz_is_bayes_by_hand():
    # Two classes of 1 and one of 2 seen in 4 of 8 people.
    sizes = ClassSizes.of([1, 1, 2])

    def drawn(size):
        return size * math.comb(8 - size, 3) / math.comb(8, 4)

    by_hand = 0.5 * 2 * drawn(1) / (2 * drawn(1) + drawn(2))
    assert zayatz(sizes, 0.5) == pytest.approx(by_hand)


@pytest.mark.parametrize(("size", "part"), [(1, 0.3), (2, 0.3), (5, 0.1), (9, 0.6), (3, 1.0)])
def test_the_mean_inverse_is_the_sum_of_its_series(size, part):
    total = sum(
        math.comb(f - 1, size - 1) * part**size * (1 - part) ** (f - size) / f
        for f in range(size, size + 400)
    )
    assert mean_inverse_size(size, part) == pytest.approx(total, rel=1e-4)


def test_adult_gives_the_published_figures(adult_sizes):
    found = shares(adult_sizes, 300_000_000)
    assert adult_sizes.share_unique == pytest.approx(0.465, abs=5e-4)
    assert found["pitman"] == pytest.approx(0.030, abs=5e-4)
    assert found["zayatz"] == pytest.approx(0.216, abs=5e-4)
    assert max(found.values()) / min(found.values()) > 100, "they disagree, and that is shown"


def test_every_model_says_what_it_assumes():
    assert [name for name, _, _ in MODELS] == ["pitman", "zayatz", "snb", "argus"]
    assert all(says for _, says, _ in MODELS)
