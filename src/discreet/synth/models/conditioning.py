"""A chain of conditional tables: its marginals by variable elimination, and the same chain under a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import Columns
from discreet.synth.fitting.belief_propagation import no_chance
from discreet.synth.models.model import Allowed

Factor: TypeAlias = tuple[Columns, Floats]
"""A table and the columns of its axes."""


def hosts(families: Sequence[Columns]) -> list[int | None]:
    """Return, for each family, the last earlier one that holds all its parents, or None.

    >>> hosts([(0,), (0, 2), (2, 1), (0, 2, 3)])
    [None, 0, 1, 1]
    """
    found: list[int | None] = []
    for position, family in enumerate(families):
        parents = set(family[:-1])
        holding = [i for i in range(position) if parents and parents <= set(families[i])]
        found.append(holding[-1] if holding else None)
    return found


def condition(families: Sequence[Factor], allowed: Allowed) -> list[Floats]:
    """Return the conditional tables of the same families, given what is allowed.

    From last to first, each column tells the family that hosts its parents how likely it is that
    all below it is allowed; the tables weighted by that and scaled to 1 again are exactly the
    chances given the condition (backward filtering, forward sampling).
    """
    tables = [table.copy() for _, table in families]
    hosting = hosts([columns for columns, _ in families])
    for position in reversed(range(len(families))):
        columns, original = families[position]
        if columns[-1] in allowed:
            tables[position] *= allowed[columns[-1]]
        likely = tables[position].sum(axis=-1)
        host = hosting[position]
        if host is not None:
            tables[host] *= _spread(likely, columns[:-1], families[host][0])
        elif float(likely) <= 0:
            raise no_chance()
        # Where nothing is allowed the row is never reached: what stood there keeps it a law.
        dead = likely <= 0
        tables[position][dead] = original[dead]
        tables[position] /= tables[position].sum(axis=-1, keepdims=True)
    return tables


def _spread(message: Floats, columns: Columns, family: Columns) -> Floats:
    """Return a message with an axis for each column of a family that holds its columns."""
    order = sorted(range(len(columns)), key=lambda axis: family.index(columns[axis]))
    sizes = dict(zip(columns, message.shape, strict=True))
    return message.transpose(order).reshape([sizes.get(column, 1) for column in family])


def eliminate(families: Sequence[Factor], wanted: Columns) -> Floats:
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


def _product(factors: list[Factor], axes: Columns) -> Floats:
    """Return the product of some tables, summed over all columns but `axes`."""
    names = {column: name for name, column in enumerate(sorted({c for f, _ in factors for c in f}))}
    operands: list[Any] = []  # tables and their axes in turn
    for columns, table in factors:
        operands += [table, [names[column] for column in columns]]
    found: Floats = np.einsum(*operands, [names[axis] for axis in axes], optimize="greedy")
    return found
