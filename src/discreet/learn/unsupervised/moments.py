"""Means and covariances of columns from one paid look: for scaling and principal components (PCA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.numbers import Epsilon
from discreet.core.schema import Column, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.gram_matrix import ProductsRequest, measured_products
from discreet.learn.linear.variables import MOST_COLUMNS, Variable, variables_of
from discreet.learn.prepare import find_private
from discreet.release.desk import Desk


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Noisy means and covariances of columns in their own units; `noise` is a variance's deviation."""

    columns: tuple[str, ...]
    rows: float
    means: Floats
    covariance: Floats
    noise: Floats


def moments(table: str, columns: Sequence[str], epsilon: Epsilon, desk: Desk) -> Moments:
    """Return means and covariances of columns (all unless named), charged before any row is read.

    Guarantee: that of `measured_products`; the rest is post-processing. A gap lies in the middle of
        the declared range, where it says least.
    """
    _, found_table = find_private(desk.catalog, table)
    variables = _variables(found_table.columns, columns, found_table.name)
    asked = ProductsRequest.of(table, variables=tuple(variables), known_last=False, epsilon=epsilon)
    found = measured_products(asked, desk)
    half = np.array([float(v.upper - v.lower) / 2 for v in variables])
    middle = np.array([float(v.lower + v.upper) / 2 for v in variables])
    offset = found.sums[0, 1:] / found.rows
    covariance = found.sums[1:, 1:] / found.rows - np.outer(offset, offset)
    return Moments(
        columns=tuple(v.column for v in variables),
        rows=found.rows,
        means=middle + offset * half,
        covariance=covariance * np.outer(half, half),
        noise=found.deviation / found.rows * half**2,
    )


def _variables(columns: Sequence[Column], wanted: Sequence[str], table: str) -> list[Variable]:
    usable = {
        column.name.lower(): column
        for column in columns
        if column.reviewed
        and not column.hidden
        and isinstance(column.domain, IntegerDomain | NumberDomain)
    }
    unknown = [name for name in wanted if name.lower() not in usable]
    if unknown:
        raise UnknownName(f"Column '{unknown[0][:60]}' of table '{table}' is no declared number.")
    chosen = [usable[name.lower()] for name in wanted] or list(usable.values())
    found = [each for column in chosen for each in variables_of(column)]
    if not found or len(found) > MOST_COLUMNS:
        raise InvalidInput(
            f"There are {len(found)} columns of numbers; between 1 and {MOST_COLUMNS} are taken.",
            hint="Nothing was charged.",
        )
    return found


def main_directions(found: Moments, count: int) -> tuple[Floats, Floats]:
    """Return the strongest directions, one a row, and the variance along each.

    Columns are compared in their own units; what is negative by noise alone counts as nothing.
    """
    values, vectors = np.linalg.eigh(found.covariance)
    order = np.argsort(-values, kind="stable")[:count]
    directions = vectors[:, order].T
    # The same sign every time: the largest part of each direction points up.
    sign = np.sign(directions[np.arange(len(order)), np.abs(directions).argmax(axis=1)])
    return directions * np.where(sign == 0, 1, sign)[:, None], np.maximum(values[order], 0.0)
