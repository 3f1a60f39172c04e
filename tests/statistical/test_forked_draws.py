"""Security test 20: forked workers never repeat each other.

64-bit words: a chance repetition among 80,000 has a probability of 2e-10, among 640,000 of 1e-8.

The parent that forks is a fresh interpreter with one thread: a process of many threads (servers and
engines of other tests) may leave a lock held for ever in its forked children.
"""

import subprocess
import sys

import pytest

DRAWS = 10_000
PARENT = f"""
import multiprocessing, sys
import numpy as np
from discreet.privacy.noise.additive import discrete_laplace
from discreet.privacy.noise.rng import SystemRng
from discreet.testing.rng import SeededRng

SHARED = SystemRng()
SEEDED = SeededRng(1)

def system(_):
    noise = discrete_laplace(10**12, 40, rng=SHARED)
    return SHARED.words({DRAWS}), noise.tobytes()

def seeded(_):
    return SEEDED.words({DRAWS}), b""

work, workers = {{"system": system, "seeded": seeded}}[sys.argv[1]], int(sys.argv[2])
SHARED.words(10)  # the parent has drawn already
with multiprocessing.get_context("fork").Pool(min(workers, 8), maxtasksperchild=1) as pool:
    results = pool.map(work, range(workers), chunksize=1)
words = np.concatenate([words for words, _ in results])
noises = [noise for _, noise in results]
print(words.size - np.unique(words).size, len(noises) - len(set(noises)))
"""


def repeats(work, workers):
    """How many words, and how many runs of noise, `workers` forked processes had in common."""
    done = subprocess.run(
        [sys.executable, "-c", PARENT, work, str(workers)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    words, noises = map(int, done.stdout.split())
    return words, noises


def test_forked_workers_do_not_repeat():
    assert repeats("system", 8) == (0, 0)


def test_a_seeded_generator_would_be_caught():
    words, _ = repeats("seeded", 8)
    assert words >= 7 * DRAWS


@pytest.mark.slow
def test_64_forked_workers_do_not_repeat(record_property):
    assert repeats("system", 64) == (0, 0)
    record_property("forked workers, 0 repeats", 64)
