"""What is reconciled: noisy sums over a grid of leaf cells, exact sums, and cells that are zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Bits, Integers
from discreet.publish.families.find import Family, Member
from discreet.publish.grid import add_up, refines


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of leaf cells by class along each dimension: measured with `variance`, exact with 0."""

    maps: tuple[Integers, ...]
    shape: tuple[int, ...]
    values: Integers
    variance: float

    @property
    def complete(self) -> bool:
        """Return whether every leaf cell is counted."""
        return all((classes >= 0).all() for classes in self.maps)


@dataclass(frozen=True, slots=True, eq=False)
class GridProblem:
    """Measured and exact sums over one grid. `zero` says which leaf cells are zero by a rule."""

    leaf: tuple[int, ...]
    measured: tuple[Sums, ...]
    exact: tuple[Sums, ...] = ()
    zero: Bits | None = None
    non_negative: bool = True


LEAST = 1e-12
"""Variance that a measurement has at least: at a huge epsilon the law's own is 0 to a float, and exact
measurements would be divided by it."""


def problem_of(
    family: Family,
    values: Sequence[Integers],
    variances: Sequence[float],
    *,
    facts: Sequence[Integers] = (),
    zero: Bits | None = None,
    non_negative: bool = True,
) -> GridProblem:
    """Return the problem of a family with its measurements, in the order of its members."""
    measured = tuple(
        _sums(member, value, max(variance, LEAST))
        for member, value, variance in zip(family.members, values, variances, strict=True)
    )
    exact = tuple(
        _sums(member, value, 0.0) for member, value in zip(family.facts, facts, strict=True)
    )
    return GridProblem(family.shape, measured, exact, zero, non_negative)


def _sums(member: Member, values: Integers, variance: float) -> Sums:
    return Sums(member.maps, member.shape, values.reshape(member.shape), variance)


def implies(fine: Sums, coarse: Sums) -> bool:
    """Return whether the sums of `fine` add up to those of `coarse`, and both count every leaf cell."""
    return fine.complete and coarse.complete and refines(fine.maps, coarse.maps)


def open_cells(zero: Bits, maps: Sequence[Integers], shape: Sequence[int]) -> Bits:
    """Return the sums that hold some leaf cell which no rule sets to zero."""
    return np.asarray(add_up((~zero).astype(np.int64), maps, shape) > 0)


def linked(
    fine: Sequence[Integers], coarse: Sequence[Integers], shape: Sequence[int]
) -> list[Integers]:
    """Return for each class of `fine` along each dimension the class of `coarse` that it lies in."""
    found = []
    for one, two, size in zip(fine, coarse, shape, strict=True):
        link = np.full(size, -1, dtype=np.int64)
        inside = one >= 0
        link[one[inside]] = two[inside]
        found.append(link)
    return found
