"""Security test 20: forked workers never repeat each other.

64-bit words: a chance repetition among 80,000 has a probability of 2e-10, among 640,000 of 1e-8.
"""

import multiprocessing

import numpy as np
import pytest

from discreet.noise.additive import discrete_laplace
from discreet.noise.rng import SystemRng
from discreet.testing.rng import SeededRng

DRAWS = 10_000
SHARED = SystemRng()
SEEDED = SeededRng(1)


def system_words(_):
    noise = discrete_laplace(10**12, 40, rng=SHARED)
    return SHARED.words(DRAWS), noise.tobytes()


def seeded_words(_):
    return SEEDED.words(DRAWS), b""


def repeats(work, workers):
    # A fresh process for each task, forked from this one after it has drawn already.
    SHARED.words(10)
    with multiprocessing.get_context("fork").Pool(min(workers, 8), maxtasksperchild=1) as pool:
        results = pool.map(work, range(workers), chunksize=1)
    words = np.concatenate([words for words, _ in results])
    noises = [noise for _, noise in results]
    return words.size - np.unique(words).size, len(noises) - len(set(noises))


def test_forked_workers_do_not_repeat():
    assert repeats(system_words, 8) == (0, 0)


def test_a_seeded_generator_would_be_caught():
    words, _ = repeats(seeded_words, 8)
    assert words >= 7 * DRAWS


@pytest.mark.slow
def test_64_forked_workers_do_not_repeat():
    assert repeats(system_words, 64) == (0, 0)
