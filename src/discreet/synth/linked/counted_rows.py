"""How many rows of a person are worth counting: fewer rows, less noise. From noisy numbers alone."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Integers
from discreet.synth.models.model import Dice

TYPICAL = 0.01
"""Share of the rows in a cell that matters."""

PART = 0.1
"""Part of a table's budget that one of its measurements typically gets."""


def rows_worth_counting(people: Integers, most: int, noise: float) -> int:
    """Return how many rows of each person to count, from 1 to `most`.

    `people` says whose each made-up row is (paid for with the table above), `noise` is the standard
    deviation of one count if each person had one row and the whole budget. With m rows a person, R
    rows are counted with noise m times as large: the variance of a share p is p / R for the rows
    drawn and (m noise / R)^2 for the noise; the least sum of both is taken.
    """
    _, many = np.unique(people, return_counts=True)
    best, least = 1, np.inf
    for rows in range(1, most + 1):
        counted = max(float(np.minimum(many, rows).sum()), 1.0)
        error = TYPICAL / counted + (rows * noise / counted) ** 2 / PART
        if error < least:
            best, least = rows, error
    return best


def at_most(people: Integers, most: int, dice: Dice) -> Integers:
    """Return the places of rows of which each person has at most so many, chosen by chance.

    >>> at_most(np.array([5, 5, 5, 7]), 1, np.random.default_rng(0)).size
    2
    """
    order = dice.permutation(people.size)
    order = order[np.argsort(people[order], kind="stable")]
    return np.sort(order[ranks(people[order]) < most])


def ranks(parents: np.ndarray) -> np.ndarray:
    """Return 0, 1, ... for the rows of each parent, which stand together.

    >>> ranks(np.array([4, 4, 7])).tolist()
    [0, 1, 0]
    """
    if not parents.size:
        return parents
    starts = np.flatnonzero(np.r_[True, parents[1:] != parents[:-1]])
    return np.arange(parents.size) - np.repeat(starts, np.diff(np.r_[starts, parents.size]))
