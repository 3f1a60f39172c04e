"""Secret bits from noisy sums over subsets: by least squares and by linear programme."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.core.arrays import Bits, Floats
from discreet.core.system.extras import needs
from discreet.errors import InternalError, InvalidInput


def subset_queries(people: int, queries: int, rng: np.random.Generator) -> Bits:
    """Return random subsets, one a row: each person is in each with probability a half."""
    if people < 1 or queries < 1:
        raise InvalidInput("Reconstruction needs at least one person and one query.")
    return np.asarray(rng.random((queries, people)) < 0.5)


def sums(queries: Bits, secret: Bits) -> Floats:
    """Return the exact answers: how many of each subset have the bit."""
    # Products of floats, not of bits: the library for matrices is a hundred times faster.
    return queries.astype(np.float64) @ secret.astype(np.float64)


def uniform_noise(answers: Floats, most: float, rng: np.random.Generator) -> Floats:
    """Return the answers, each moved by at most `most` either way: what Dinur and Nissim allow."""
    return answers + rng.uniform(-most, most, answers.shape)


def spread_of_uniform(most: float) -> float:
    """Return the standard deviation of noise that is uniform between -most and most."""
    return most / math.sqrt(3)


def least_squares(queries: Bits, answers: Floats, *, spread: float) -> Floats:
    """Return for each person a value near their bit: the best linear estimate.

    `spread` is the standard deviation of the noise, which a publisher states; before any answer
    a bit is 1/2 give or take 1/2, so the estimate exists for fewer queries than people too.
    """
    matrix = queries.astype(np.float64)
    gram = matrix.T @ matrix
    gram[np.diag_indices_from(gram)] += max(4 * spread**2, 1e-6)
    centred = matrix.T @ (answers - matrix.sum(1) / 2)
    return np.asarray(0.5 + np.linalg.solve(gram, centred), dtype=np.float64)


def linear_programme(queries: Bits, answers: Floats) -> Floats:
    """Return values in [0, 1] whose sums miss no answer by more than they must (HiGHS).

    Minimises the greatest gap, so it needs no knowledge of the noise: where every answer is within
    E of the truth, every sum of the values returned is within 2E of it.
    """
    optimize = optimizer()
    count, people = queries.shape
    matrix = queries.astype(np.float64)
    slack = -np.ones((count, 1))
    found = optimize.linprog(
        np.append(np.zeros(people), 1.0),
        A_ub=np.block([[matrix, slack], [-matrix, slack]]),
        b_ub=np.concatenate([answers, -answers]),
        bounds=[(0.0, 1.0)] * people + [(0.0, None)],
        method="highs-ds",
    )
    if found.x is None:
        raise InternalError("a linear programme that always has a solution was not solved")
    return np.asarray(found.x[:people], dtype=np.float64)


def optimizer() -> Any:
    """Return scipy's solvers; they are an extra, so they are imported when needed."""
    with needs("scipy", extra="lab"):
        from scipy import optimize
    return optimize
