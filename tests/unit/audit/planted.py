"""Mechanisms with a planted bug each, all claiming epsilon 1, and one that is right."""

import math

import numpy as np

from discreet.privacy.noise import discrete_laplace
from discreet.testing import SeededRng

EPSILON = 1
NEIGHBOURS = [([0.0, 1.0], [0.0]), ([1.0, 1.0], [1.0]), ([0.0], [1.0, 0.0])]
DICE = np.random.default_rng(7)
NOISE = SeededRng(7)
"""For mechanisms whose bug is rare: whether a pilot meets it is then no chance."""


def right(rows, size):
    return len(rows) + discrete_laplace(1, size)


def half_the_noise(rows, size):
    return len(rows) + discrete_laplace("1/2", size)


def wrong_sensitivity(rows, size):
    """Each row adds 2 to the sum, and the noise is for 1."""
    return round(2 * sum(rows)) + discrete_laplace(1, size)


def naive_float(rows, size):
    coin = DICE.random(size) - 0.5
    return sum(rows) - np.sign(coin) * np.log(1 - 2 * np.abs(coin))


def budget_used_twice(rows, size):
    """Two answers, each at the whole epsilon."""
    total = round(sum(rows))
    return np.stack([len(rows) + discrete_laplace(1, size), total + discrete_laplace(1, size)], 1)


def domain_from_data(rows):
    """A noisy histogram, right but for its keys: those that happen to be in the data."""
    return {row: rows.count(row) + int(discrete_laplace(1, 1)[0]) for row in set(rows)}


def as_text(rows):
    return "odd" if (len(rows) + int(discrete_laplace(1, 1)[0])) % 2 else "even"


BASE = [0.0] * 10
CANARIES = [float(i) for i in range(1, 2001)]


def leaks_rows(rows):
    """A 'model' that remembers most of what it saw."""
    return {row for row in rows if DICE.random() < 0.9}


def forgets(rows):
    return {row for row in CANARIES if DICE.random() < 0.5 + 0 * len(rows)}


def randomized(rows):
    """Randomized response for every canary: epsilon ln 3 for each."""
    present = set(rows)
    share = math.exp(math.log(3)) / (1 + math.exp(math.log(3)))
    return {row for row in CANARIES if (row in present) == (DICE.random() < share)}


def score(output, canary):
    return float(canary in output)


def nested(rows):
    """Epsilon 2, three tables deep."""
    return {"all": {"counts": {"n": len(rows) + int(discrete_laplace("1/2", 1)[0])}}}


def its_length(rows, size):
    """As many numbers as rows."""
    return [DICE.normal(size=len(rows)).tolist() for _ in range(size)]


def spills(rows, size):
    """Private, but for one run in ten thousand, which shows the count where no noise is."""
    noisy = len(rows) + discrete_laplace(1024, size, rng=NOISE) / 1024
    return np.where(DICE.random(size) < 1e-4, 1_000 + len(rows), noisy)


def debugs(rows, size):
    """Private, but for one run in ten thousand, which returns a table of the rows as well."""
    noisy = (len(rows) + discrete_laplace(1, size, rng=NOISE)).tolist()
    told = DICE.random(size) < 1e-4
    return [{"n": n, "rows": rows} if t else {"n": n} for n, t in zip(noisy, told, strict=True)]


def fails(rows):
    raise RuntimeError(len(rows))
