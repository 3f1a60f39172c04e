"""Matrix mechanism: the best noise for all marginals of a table, planned from the sizes of its columns alone.

Reads no data and costs nothing. It is for whoever plans by hand: no command needs it. A marginal splits into
residuals, one for each subset of its attributes: what the subset says beyond smaller ones. They are
orthogonal, so their noise is chosen one by one, in closed form. [note 0041; Xiao, He, Zhang, Kifer: An
Optimal and Scalable Matrix Mechanism for Noisy Marginals, NeurIPS 2023]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.numbers import Delta, Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.privacy.account.convert import rho_of_target

MOST_ATTRIBUTES = 3
MOST_TABLES = 5_000_000


@dataclass(frozen=True, slots=True, eq=False)
class MarginalPlan:
    """Noise variances of all residuals; `residuals[k][i]` belongs to `subsets[k][i]`, k attributes.

    Guarantee: measuring every residual with Gaussian noise of these variances is rho-zCDP for
        add-remove neighbours that differ in one row, and no other Gaussian mechanism answers the
        same marginals with a smaller total variance at the same rho.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    rho: Fraction
    subsets: tuple[Integers, ...]
    residuals: tuple[Floats, ...]

    @property
    def tables(self) -> int:
        """Return how many marginals are planned, the grand total not counted."""
        return sum(len(each) for each in self.subsets[1:])

    def error(self, attributes: Sequence[str]) -> float:
        """Return the standard deviation of every cell of one marginal.

        >>> plan = plan_marginals({"sex": 2, "age": 5}, up_to=2, rho=0.5)
        >>> round(plan.error(["sex", "age"]), 2)
        1.11
        """
        for name in attributes:
            if name not in self.names:
                raise InvalidInput(f"There is no attribute '{name}' in this plan.")
        chosen = sorted({self.names.index(name) for name in attributes})
        if len(chosen) >= len(self.subsets):
            most = len(self.subsets) - 1
            raise InvalidInput(f"Marginals of up to {most} attributes are planned, not more.")
        return math.sqrt(float(self._variances(np.array([chosen], dtype=np.int64))[0]))

    def _variances(self, subsets: Integers) -> Floats:
        """Return the variance of one cell of each marginal: the sum over its residuals."""
        sizes, width = _sizes(self.sizes), subsets.shape[1]
        total = np.zeros(len(subsets))
        for k in range(width + 1):
            for inside in combinations(range(width), k):
                outside = [place for place in range(width) if place not in inside]
                part = subsets[:, list(inside)]
                factor = np.prod(1 - 1 / sizes[part], axis=1)
                factor = factor * np.prod(1 / sizes[subsets[:, outside]] ** 2, axis=1)
                total += factor * self.residuals[k][_places(part, len(self.sizes))]
        return total


def plan_marginals(
    sizes: Mapping[str, int],
    *,
    up_to: int = MOST_ATTRIBUTES,
    rho: Number | None = None,
    epsilon: Number | Epsilon | None = None,
    delta: Number | None = None,
) -> MarginalPlan:
    """Return the noise for all marginals of up to `up_to` attributes with least total variance.

    `sizes` says how many values each attribute has. The budget is `rho`, or `epsilon` and `delta`.

    >>> plan_marginals({"sex": 2, "age": 5, "job": 10}, up_to=2, rho=0.5).tables
    6
    """
    names = tuple(sizes)
    counts = _checked(sizes, up_to)
    budget = _budget(rho, epsilon, delta)
    subsets = tuple(_subsets(len(names), k) for k in range(up_to + 1))
    gains = _gains(_sizes(counts), up_to)
    costs = [np.prod(1 - 1 / _sizes(counts)[each], axis=1) for each in subsets]
    # Least sum of g v subject to sum of c / v = 2 rho: v = sqrt(c / g) * sum(sqrt(c g)) / (2 rho).
    weight = sum(float(np.sqrt(c * g).sum()) for c, g in zip(costs, gains, strict=True))
    variances = tuple(
        np.sqrt(c / g) * weight / (2 * float(budget)) for c, g in zip(costs, gains, strict=True)
    )
    return MarginalPlan(names, counts, budget, subsets, variances)


def _checked(sizes: Mapping[str, int], up_to: int) -> tuple[int, ...]:
    if not sizes:
        raise InvalidInput("A plan needs at least one attribute.")
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 2:
            raise InvalidInput(f"'{name}' needs at least 2 values, not {size}.")
    if not 1 <= up_to <= min(MOST_ATTRIBUTES, len(sizes)):
        most = min(MOST_ATTRIBUTES, len(sizes))
        raise InvalidInput(f"Marginals can be planned for 1 to {most} attributes here.")
    tables = sum(math.comb(len(sizes), k) for k in range(up_to + 1))
    if tables > MOST_TABLES:
        raise InvalidInput(
            f"These would be {tables:,} tables; at most {MOST_TABLES:,} are planned."
        )
    return tuple(sizes.values())


def _budget(rho: Number | None, epsilon: Number | Epsilon | None, delta: Number | None) -> Fraction:
    if (rho is None) == (epsilon is None) or (epsilon is None) != (delta is None):
        raise InvalidInput("A plan needs either rho, or epsilon and delta.")
    if epsilon is not None and delta is not None:
        return rho_of_target(Epsilon.of(epsilon).value, Delta.of(delta).value)
    found = to_fraction(rho if rho is not None else 0, name="rho")
    if found <= 0:
        raise InvalidInput("rho must be above 0.")
    return found


def _sizes(counts: tuple[int, ...]) -> Floats:
    return np.array(counts, dtype=np.float64)


def _subsets(count: int, k: int) -> Integers:
    """Return all subsets of k of `count` attributes, in the order of itertools.combinations."""
    if not k:
        return np.zeros((1, 0), dtype=np.int64)
    flat = np.fromiter(
        (place for chosen in combinations(range(count), k) for place in chosen),
        dtype=np.int64,
        count=k * math.comb(count, k),
    )
    return flat.reshape(-1, k)


def _places(subsets: Integers, count: int) -> Integers:
    """Return where each subset stands in the order of itertools.combinations."""
    k = subsets.shape[1]
    place = np.full(len(subsets), math.comb(count, k) - 1, dtype=np.int64)
    for i in range(k):
        after = count - 1 - subsets[:, i]
        place -= _choose(after, k - i)
    return place


def _choose(n: Integers, k: int) -> Integers:
    found = np.ones_like(n)
    for i in range(k):
        found = found * (n - i) // (i + 1)
    return found


def _gains(sizes: Floats, up_to: int) -> list[Floats]:
    """Return by how much a unit of each residual's variance raises the total over all cells.

    A residual on A enters every marginal B that holds A: each of B's cells gets prod_A (1 - 1/n) times
    prod_(B without A) 1/n^2, and B has prod_B n cells; so prod_A (n - 1) times the sum of prod 1/n
    over the sets B without A: elementary symmetric sums of what is left.
    """
    inverse = 1 / sizes
    gains = []
    for k in range(up_to + 1):
        subsets = _subsets(len(sizes), k)
        around = sum(_symmetric(inverse, subsets, more) for more in range(up_to - k + 1))
        gains.append(np.prod(sizes[subsets] - 1, axis=1) * around)
    return gains


def _symmetric(values: Floats, without: Integers, degree: int) -> Floats:
    """Return the sum of products of `degree` of the values, for each row those not in `without`.

    By Newton's identities from sums of powers, of which the left-out values are taken away.
    """
    powers = [(values**p).sum() - (values[without] ** p).sum(axis=1) for p in range(1, degree + 1)]
    sums = [np.ones(len(without))]
    for d in range(1, degree + 1):
        signed = [(-1) ** (p - 1) * sums[d - p] * powers[p - 1] for p in range(1, d + 1)]
        sums.append(np.asarray(sum(signed)) / d)
    return sums[degree]
