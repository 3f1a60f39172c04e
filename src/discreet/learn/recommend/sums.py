"""The two private sums of a recommender: item means from all, then products of leanings.

A person's vector is weighted so that everybody counts about the same, and the kernel's `VectorSum` cuts
it to a public length in whole numbers. What a person adds depends on that person and on noisy values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.core.unit import Neighbours
from discreet.engine.base import PaidReader
from discreet.kernel.mechanism import Norm, VectorSum
from discreet.learn.measure.unit_rows import SealedUnitCodes, fetch_unit_codes
from discreet.noise.laws import law_costing
from discreet.noise.rng import Rng

FINE = 4096
"""Steps of the lattice to one."""

BATCH_CELLS = 4_000_000
PULL = 5.0
"""Ratings that a person's own level is believed to have had before: none of them says anything."""

MEANS_LENGTH = Fraction(9, 4)
PRODUCTS_LENGTH = Fraction(3, 2)
"""Lengths that vectors are cut to: about what one with usual ratings has."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonRatings:
    """Exact ratings, sorted by person; `starts` is where each person's begin. Never shown."""

    item: Integers
    level: Integers
    starts: Integers

    def __repr__(self) -> str:
        return "Ratings(hidden)"

    def people(self, batch: int) -> Iterator[list[slice]]:
        """Yield the places of the ratings of `batch` people at a time."""
        ends = np.append(self.starts[1:], len(self.item))
        each = [slice(int(a), int(b)) for a, b in zip(self.starts, ends, strict=True)]
        for start in range(0, len(each), batch):
            yield each[start : start + batch]


def fetch_ratings(reader: PaidReader, sealed: SealedUnitCodes) -> PersonRatings:
    """Return all ratings. After paying, and for sums of bounded vectors alone."""
    codes, unit = fetch_unit_codes(reader, sealed)
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else unit
    item, level = (codes[:, i].astype(np.int64) for i in range(2))
    return PersonRatings(item, level, starts.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Payment:
    """A part of the rho that was charged, and for whom."""

    rho: Fraction
    neighbours: Neighbours
    rng: Rng


def _noisy(summed: VectorSum, total: Integers, payment: Payment) -> tuple[Floats, float]:
    law = law_costing(payment.rho, summed.moved**2, concentrated=True)
    noisy = summed.noisy(total, law, payment.rng) / FINE
    return np.asarray(noisy), float(np.sqrt(law.variance)) / FINE


def _vector_sum(size: int, length: Fraction, neighbours: Neighbours) -> VectorSum:
    return VectorSum(Norm.L2, int(length * FINE), size, neighbours)


def item_means(
    ratings: PersonRatings, levels: Floats, items: int, payment: Payment
) -> tuple[Floats, Floats, float]:
    """Return noisy weights of items, weighted sums of their ratings, and the noise.

    `levels` are the ratings that codes stand for, scaled to -1 to 1. A person with k ratings gives
    each the weight 1 / sqrt(k).
    """
    summed = _vector_sum(2 * items, MEANS_LENGTH, payment.neighbours)
    total = np.zeros(2 * items, dtype=np.int64)
    for people in ratings.people(max(1, BATCH_CELLS // (2 * items))):
        vectors = np.zeros((len(people), 2 * items))
        for row, place in enumerate(people):
            item = ratings.item[place]
            weight = FINE / np.sqrt(len(item))
            vectors[row, item] = weight
            vectors[row, items + item] = weight * levels[ratings.level[place]]
        total += summed.add(vectors)
    found, deviation = _noisy(summed, total, payment)
    return found[:items], found[items:], deviation


def leaning_products(
    ratings: PersonRatings, levels: Floats, means: Floats, top: Integers, payment: Payment
) -> tuple[Floats, Floats, float]:
    """Return noisy sums of products of leanings and of who has rated both, for pairs of `top` items.

    The third number is the noise of a product.
    A leaning is a rating minus the item's noisy mean and the person's own level.
    """
    size = len(top)
    upper = np.triu_indices(size)
    cells = len(upper[0])
    # Both halves of the matrix are one cell here, so that cell counts twice in its length.
    twice = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    place_of = np.full(len(means), -1, dtype=np.int64)
    place_of[top] = np.arange(size)
    summed = _vector_sum(2 * cells, PRODUCTS_LENGTH, payment.neighbours)
    total = np.zeros(2 * cells, dtype=np.int64)
    for people in ratings.people(max(1, BATCH_CELLS // (2 * cells))):
        vectors = np.zeros((len(people), 2 * cells))
        for row, where in enumerate(people):
            item = ratings.item[where]
            gaps = levels[ratings.level[where]] - means[item]
            gaps = gaps - gaps.sum() / (len(gaps) + PULL)
            known = place_of[item] >= 0
            if not known.any():
                continue
            lean, seen = np.zeros(size), np.zeros(size)
            lean[place_of[item[known]]] = gaps[known] / SPREAD
            seen[place_of[item[known]]] = 1.0
            weight = FINE / known.sum()
            vectors[row, :cells] = weight * twice * lean[upper[0]] * lean[upper[1]]
            vectors[row, cells:] = weight * twice * seen[upper[0]] * seen[upper[1]]
        total += summed.add(vectors)
    found, deviation = _noisy(summed, total, payment)
    products, both = np.zeros((size, size)), np.zeros((size, size))
    products[upper] = found[:cells] / twice * SPREAD**2
    both[upper] = found[cells:] / twice
    products += np.triu(products, 1).T
    both += np.triu(both, 1).T
    return products, both, deviation / float(np.sqrt(2)) * SPREAD**2


SPREAD = 0.5
"""About the standard deviation of a leaning on the scale of -1 to 1: products are about one then."""
