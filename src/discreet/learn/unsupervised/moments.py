"""Means, spreads and products of columns from one private question: for scaling and main directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.catalog.catalog import Catalog
from discreet.core.answer import Answer
from discreet.core.numbers import Epsilon
from discreet.core.schema import Column, IntegerDomain, NumberDomain
from discreet.engine.base import Engine
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.linear.ridge import MOST_COLUMNS, Variable, variables_of
from discreet.learn.measure.rows import Reals
from discreet.learn.prepare import find_private
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng
from discreet.release.pipeline import release
from discreet.release.request import Request


@dataclass(frozen=True, slots=True)
class MomentsRequest:
    """Which columns of a table, with the products of pairs or without, and for how much."""

    table: str
    columns: tuple[str, ...]
    products: bool
    epsilon: Epsilon
    analyst: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Noisy means and covariances of columns in their own units; `noise` is a covariance's deviation.

    Covariances of pairs are zero where products were not asked for.
    """

    columns: tuple[str, ...]
    rows: float
    means: Reals
    covariance: Reals
    noise: Reals
    answer: Answer


def moments(
    request: MomentsRequest, *, catalog: Catalog, ledger: Ledger, engine: Engine, rng: Rng
) -> Moments:
    """Return means and covariances, charged before any row is read.

    Guarantee: that of the one question it asks (`release`); the rest is post-processing. A gap lies
        in the middle of the declared range, where it says least.
    """
    dataset, table = find_private(catalog, request.table)
    found = _variables(table.columns, request.columns, table.name)
    quoted = ".".join('"' + n.replace('"', '""') + '"' for n in (dataset.name, table.name))
    asked = Request.of(
        moments_sql(quoted, found, products=request.products),
        epsilon=request.epsilon,
        analyst=request.analyst,
        request_id=request.request_id,
    )
    answer = release(asked, catalog=catalog, ledger=ledger, engine=engine, rng=rng)
    return _finished(found, answer)


def moments_sql(table: str, variables: Sequence[Variable], *, products: bool) -> str:
    """Return the one question: the number of rows, every sum, and sums of squares or of all products."""
    parts = ["COUNT(*) AS n"]
    parts += [f"SUM({each.sql()}) AS s{i}" for i, each in enumerate(variables)]
    for i, one in enumerate(variables):
        others = range(i, len(variables)) if products else [i]
        parts += [f"SUM(({one.sql()}) * ({variables[j].sql()})) AS p{i}_{j}" for j in others]
    return f"SELECT {', '.join(parts)} FROM {table}"


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


def _finished(variables: Sequence[Variable], answer: Answer) -> Moments:
    values = {n: float(v or 0) for n, v in zip(answer.columns, answer.rows[0], strict=True)}
    errors = {n: float(e or 0) for n, e in zip(answer.columns, answer.error95[0], strict=True)}
    rows, size = max(values["n"], 1.0), len(variables)
    middle = np.array([float(v.lower + v.upper) / 2 for v in variables])
    # The SQL has twice the distance from the middle.
    offset = np.array([values[f"s{i}"] for i in range(size)]) / rows / 2
    second, noise = np.zeros((size, size)), np.zeros((size, size))
    for i in range(size):
        for j in range(i, size):
            if f"p{i}_{j}" in values:
                covered = values[f"p{i}_{j}"] / rows / 4 - offset[i] * offset[j]
                second[i, j] = second[j, i] = covered
                noise[i, j] = noise[j, i] = errors[f"p{i}_{j}"] / 1.96 / rows / 4
    return Moments(tuple(v.column for v in variables), rows, middle + offset, second, noise, answer)


def main_directions(found: Moments, count: int) -> tuple[Reals, Reals]:
    """Return the strongest directions, one a row, and the variance along each.

    Columns are compared in their own units; what is negative by noise alone counts as nothing.
    """
    values, vectors = np.linalg.eigh(found.covariance)
    order = np.argsort(-values, kind="stable")[:count]
    directions = vectors[:, order].T
    # The same sign every time: the largest part of each direction points up.
    sign = np.sign(directions[np.arange(len(order)), np.abs(directions).argmax(axis=1)])
    return directions * np.where(sign == 0, 1, sign)[:, None], np.maximum(values[order], 0.0)
