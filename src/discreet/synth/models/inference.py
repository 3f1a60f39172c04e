"""From noisy one-way marginals and a chain of noisy tables to one model that agrees with all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import CodeGroups, Columns, Merges, Shape
from discreet.synth.fitting.likely_table import fit_table
from discreet.synth.measure.one_way_marginals import Singles, agreed_total, onto_simplex
from discreet.synth.measure.private_marginals import Measured
from discreet.synth.models.conditional_chain import Network, Node
from discreet.synth.models.conditioning import hosts


@dataclass(frozen=True, slots=True, eq=False)
class ModelLink:
    """A column, its parents, and the noisy table of all of them (none for a first column)."""

    column: int
    parents: Columns
    measured: Measured | None

    @property
    def family(self) -> Columns:
        """Return the parents, then the column."""
        return (*self.parents, self.column)

    def table(self) -> Floats:
        """Return the noisy counts with the parents' axes first."""
        assert self.measured is not None, "a first column has no table"
        order = [self.measured.columns.index(column) for column in self.family]
        return self.measured.values.transpose(order).astype(np.float64)


def infer(shape: Shape, singles: Singles, merges: Merges, links: Sequence[ModelLink]) -> Network:
    """Return the model of a chain of tables, parents before children.

    Everything noisy says something about the one-way marginals: a table's sums are one more
    measurement of each of its columns. Given the number of rows, least squares weighs them by their
    precision, column by column, in closed form. Then each table in turn is fitted to the margins
    that are fixed already: its parents', from the table where they stood before, and its column's.
    """
    measured = [link.measured for link in links if link.measured is not None]
    total = agreed_total([*singles.measured, *measured])
    groups = [
        merges.get(column, np.arange(size, dtype=np.int64))
        for column, size in enumerate(shape.sizes)
    ]
    margins = [
        _margin(column, singles.measured[column], measured, groups[column], total)
        for column in range(shape.width)
    ]
    tables = _fit_all(links, margins, total)
    nodes = []
    for link, table in zip(links, tables, strict=True):
        inside = _inside(singles.measured[link.column], groups[link.column], margins[link.column])
        chances = _chances(table, margins[link.column])[
            np.ix_(*(groups[column] for column in link.family))
        ]
        nodes.append(Node(link.column, link.parents, _law(chances * inside)))
    return Network(shape, total, tuple(nodes))


def _margin(
    column: int, single: Measured, tables: Sequence[Measured], groups: CodeGroups, total: float
) -> Floats:
    """Return the counts of a column's groups that all measurements of it agree on."""
    members = np.bincount(groups)
    precision = 1 / (single.variance * members)
    pulled = np.bincount(groups, single.values) * precision
    for each in tables:
        if column in each.columns:
            axis = each.columns.index(column)
            others = each.values.size // each.values.shape[axis]
            weight = 1 / (each.variance * others)
            beside = tuple(i for i in range(each.values.ndim) if i != axis)
            pulled += weight * each.values.sum(axis=beside)
            precision += weight
    return onto_simplex(pulled / precision, total, 1 / precision)


def _fit_all(links: Sequence[ModelLink], margins: Sequence[Floats], total: float) -> list[Floats]:
    """Return the counts of each family, each fitted to the margins fixed before it."""
    hosting = hosts([link.family for link in links])
    found: list[Floats] = []
    for link, host in zip(links, hosting, strict=True):
        margin = margins[link.column]
        if host is None:
            found.append(margin)
            continue
        rows = _summed(found[host], links[host].family, link.parents)
        rows = rows * (total / rows.sum())  # projections stop a millionth short
        table = link.table()
        fitted = fit_table(table.reshape(rows.size, -1), _variance(link), rows.ravel(), margin)
        found.append(fitted.reshape(table.shape))
    return found


def _variance(link: ModelLink) -> float:
    assert link.measured is not None, "a first column has no table"
    return link.measured.variance


def _summed(table: Floats, family: Columns, kept: Columns) -> Floats:
    """Return a family's counts summed to some of its columns, axes in their order."""
    gone = tuple(axis for axis, column in enumerate(family) if column not in kept)
    left = [column for column in family if column in kept]
    summed: Floats = table.sum(axis=gone).transpose([left.index(column) for column in kept])
    return summed


def _chances(table: Floats, margin: Floats) -> Floats:
    """Return each row of counts as chances; a row that cannot occur has the margin's."""
    sums = table.sum(axis=-1, keepdims=True)
    likely = sums > 0
    found: Floats = np.where(likely, table / np.where(likely, sums, 1.0), margin / margin.sum())
    return found


def _inside(single: Measured, groups: CodeGroups, margin: Floats) -> Floats:
    """Return, for each code, its part of its group: what its own noisy count still says."""
    parts = np.ones(groups.size)
    for group in np.flatnonzero(np.bincount(groups) > 1):
        members = np.flatnonzero(groups == group)
        noisy = single.values[members].astype(np.float64)
        counts = onto_simplex(noisy, max(float(margin[group]), 1.0))
        parts[members] = counts / counts.sum()
    return parts


def _law(chances: Floats) -> Floats:
    """Return rows that add up to 1 to the last digit that matters."""
    found: Floats = chances / chances.sum(axis=-1, keepdims=True)
    return found
