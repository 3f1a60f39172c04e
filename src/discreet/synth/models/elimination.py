"""Marginals of a chain of conditional tables, by summing out one column after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.synth.encoding.shape import Columns

Factor: TypeAlias = tuple[Columns, npt.NDArray[np.float64]]
"""A table and the columns of its axes."""


def eliminate(families: Sequence[Factor], wanted: Columns) -> npt.NDArray[np.float64]:
    """Return the chances of the wanted columns, axes in that order.

    `families` are conditional tables, the column itself on the last axis, parents before children.
    A column that no wanted one depends on sums to 1 and is left out. The others go from last to
    first: since parents stand together in an earlier family, a step never joins more columns than
    one family and the wanted ones.
    """
    if not wanted:
        return np.ones(())
    waiting = _needed(families, wanted)
    order = [axes[-1] for axes, _ in waiting]
    for column in reversed(order):
        if column in wanted:
            continue
        touched = [factor for factor in waiting if column in factor[0]]
        waiting = [factor for factor in waiting if column not in factor[0]]
        waiting.append(_joined(touched, without=column))
    return _product(waiting, wanted)


def _needed(families: Sequence[Factor], wanted: Columns) -> list[Factor]:
    """Return the tables of the wanted columns and of all they depend on."""
    needed, kept = set(wanted), []
    for factor in reversed(families):
        if factor[0][-1] in needed:
            needed.update(factor[0])
            kept.append(factor)
    return kept[::-1]


def _joined(factors: list[Factor], *, without: int) -> Factor:
    axes = sorted({axis for columns, _ in factors for axis in columns} - {without})
    return tuple(axes), _product(factors, tuple(axes))


def _product(factors: list[Factor], axes: Columns) -> npt.NDArray[np.float64]:
    """Return the product of some tables, summed over all columns but `axes`."""
    names = {column: name for name, column in enumerate(sorted({c for f, _ in factors for c in f}))}
    operands: list[Any] = []  # tables and their axes in turn
    for columns, table in factors:
        operands += [table, [names[column] for column in columns]]
    found: npt.NDArray[np.float64] = np.einsum(
        *operands, [names[axis] for axis in axes], optimize="greedy"
    )
    return found
