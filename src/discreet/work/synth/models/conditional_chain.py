"""A chain of conditional tables (a Bayesian network): the model of random, independent, tree and correlated.

From noisy one-way marginals and noisy tables to one chain that agrees with all; its marginals by variable
elimination, and the same chain under a condition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arrays import Floats
from discreet.errors import InternalError, InvalidInput
from discreet.measure.one_way_marginals import Singles, agreed_total, onto_simplex
from discreet.measure.private_marginals import Measured
from discreet.measure.shape import CodeGroups, Codes, Columns, Merges, Shape, joint_codes
from discreet.work.synth.models.junction_tree import no_chance
from discreet.work.synth.models.model import Allowed, Dice, draw_codes, head_json

_ROUNDS = 200
_CLOSE = 1e-6
_STEP = 0.3  # of the noise: far enough that rounding does not matter, near enough to be local


def fit_table(noisy: Floats, variance: float, rows: Floats, columns: Floats) -> Floats:
    """Return a table with these margins, estimated from one with independent noise in each cell.

    Two estimates compete. One is the nearest possible table: best where few cells hold most rows.
    The other first shrinks what differs from independence, since dependence between two columns is
    often a few directions of a matrix in white noise: best where it is smooth. Stein's unbiased
    estimate of the squared error tells, from the noisy table alone, which is nearer the truth.
    """
    if rows.sum() <= 0:
        return np.zeros_like(noisy)
    apart = np.outer(rows, columns) / rows.sum()

    def nearest(table: Floats) -> Floats:
        return onto_margins(table, rows, columns)

    def shrunk(table: Floats) -> Floats:
        dependence = with_margins(table, rows, columns) - apart
        return nearest(apart + shrink(dependence, math.sqrt(variance)))

    found = [_judged(estimate, noisy, variance) for estimate in (nearest, shrunk)]
    return min(found, key=lambda judged: judged[1])[0]


def _judged(
    estimate: Callable[[Floats], Floats], noisy: Floats, variance: float
) -> tuple[Floats, float]:
    """Return an estimate with its risk: |noisy - estimate|^2 + 2 variance * divergence.

    Up to a constant the expected squared error [Stein 1981]; the divergence is measured along one
    random direction of signs [Ramani, Blu and Unser 2008], the same one for all that compete.
    """
    found = estimate(noisy)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], noisy.shape)  # no guarantee hangs on it
    step = _STEP * math.sqrt(variance)
    if step <= 0:
        return found, float(((noisy - found) ** 2).sum())
    beside = estimate(noisy + step * signs) - estimate(noisy - step * signs)
    divergence = float((signs * beside).sum()) / (2 * step)
    return found, float(((noisy - found) ** 2).sum()) + 2 * variance * divergence


def with_margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the nearest table with these margins, negative cells allowed (least squares)."""
    high, wide = table.shape
    over, beside = rows - table.sum(axis=1), columns - table.sum(axis=0)
    found: Floats = table + over[:, None] / wide + beside / high - over.sum() / (high * wide)
    return found


def shrink(matrix: Floats, sigma: float) -> Floats:
    """Return a matrix whose rows and columns add up to 0, less the noise of size `sigma` in it.

    The optimal shrinkage of singular values for squared error [Gavish and Donoho 2017, section
    III.A]: those that noise alone would reach go to 0, the others lose what noise added to them.
    Zero margins take one from each dimension.
    """
    narrow, wide = sorted(max(size - 1, 1) for size in matrix.shape)
    unit = sigma * math.sqrt(wide)
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    if unit <= 0:
        return matrix
    ratio, scaled = narrow / wide, values / unit
    shown = scaled > 1 + math.sqrt(ratio)
    kept = np.zeros_like(values)
    square = scaled[shown] ** 2
    kept[shown] = np.sqrt((square - ratio - 1) ** 2 - 4 * ratio) / scaled[shown]
    found: Floats = (left * (kept * unit)) @ right
    return found


def onto_margins(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the nearest table that has these margins and no negative cell.

    Dykstra's alternating projection, which (unlike plain alternation) ends at the nearest point of
    both sets; the margins must have the same sum. Stops when no margin is off by more than a
    millionth of the total, at the latest after 200 rounds; who divides rows by their sum scales
    the rest away.
    """
    found, owed = table, np.zeros_like(table)
    close = _CLOSE * float(rows.sum())
    for _ in range(_ROUNDS):
        moved = with_margins(found, rows, columns) + owed
        found = np.maximum(moved, 0.0)
        owed = moved - found
        off = max(np.abs(found.sum(axis=1) - rows).max(), np.abs(found.sum(axis=0) - columns).max())
        if off <= close:
            break
    return found


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


_SUMS_TO_ONE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One column, the columns it depends on, and its chances given them (the last axis is its own).

    A parent combination that cannot occur has some row all the same, so that every row adds up to 1.
    """

    column: int
    parents: Columns
    table: Floats

    @property
    def family(self) -> Columns:
        """Return the axes of the table: the parents, then the column itself."""
        return (*self.parents, self.column)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Columns in an order in which each depends on a few earlier ones that stood together before.

    Because the parents of a column always lie inside one earlier family, marginals and conditional
    samples are exact, by passing messages from the last column to the first; nothing is rejected.
    """

    shape: Shape
    total: float
    nodes: tuple[Node, ...]

    def __post_init__(self) -> None:
        complain = _wrong(self)
        if complain:
            raise InternalError(complain)

    @property
    def _factors(self) -> list[Factor]:
        return [(node.family, node.table) for node in self.nodes]

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal, axes in the order asked for."""
        return self.total * eliminate(self._factors, columns)

    def sample(self, rows: int, *, dice: Dice, given: Allowed | None = None) -> Codes:
        """Return that many made-up rows, each column's counts within one of their expectation."""
        tables = condition(self._factors, given) if given else [node.table for node in self.nodes]
        codes = np.zeros((rows, self.shape.width), dtype=np.int32)
        for node, table in zip(self.nodes, tables, strict=True):
            place = joint_codes(codes, node.parents, self.shape.sizes)
            chances = table.reshape(-1, self.shape.sizes[node.column])
            codes[:, node.column] = draw_codes(chances, place, dice)
        return codes

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain numbers, lists and text."""
        return {
            **head_json("network", self),
            "nodes": [
                {
                    "column": node.column,
                    "parents": list(node.parents),
                    "chances": node.table.ravel().tolist(),
                }
                for node in self.nodes
            ],
        }


def read_network(data: Mapping[str, Any]) -> Network:
    """Return the network that `to_json` described; every part of it is checked."""
    try:
        names, sizes = tuple(map(str, data["names"])), tuple(map(_whole, data["sizes"]))
        if len(names) != len(sizes) or min(sizes, default=1) < 1:
            raise InvalidInput("The columns of the model and their sizes do not fit together.")
        shape = Shape(names, sizes)
        nodes = tuple(_read_node(item, shape) for item in data["nodes"])
        return Network(shape, float(data["total"]), nodes)
    except InternalError as error:
        raise InvalidInput(f"The model does not fit together: {error}.") from None
    except (KeyError, TypeError, ValueError, IndexError, OverflowError):
        raise InvalidInput("A part of the model is missing or not a number.") from None


def _read_node(item: Mapping[str, Any], shape: Shape) -> Node:
    column, parents = _whole(item["column"]), tuple(map(_whole, item["parents"]))
    if any(not 0 <= each < shape.width for each in (*parents, column)):
        raise InvalidInput("A table of the model names a column that is not there.")
    chances = np.array(item["chances"], dtype=np.float64)
    return Node(column, parents, chances.reshape(shape.of((*parents, column))))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput("A number in the model should be a whole one.")
    return value


def _wrong(network: Network) -> str:
    """Return what is wrong with the parts of a network, or nothing."""
    nodes, sizes = network.nodes, network.shape.sizes
    if sorted(node.column for node in nodes) != list(range(len(sizes))):
        return "each column must stand in a network once"
    for node, host in zip(nodes, hosts([node.family for node in nodes]), strict=True):
        if node.parents and host is None:
            return "the parents of a column must stand together in an earlier family"
        if len(set(node.family)) != len(node.family):
            return "a column cannot be its own parent"
        if node.table.shape != network.shape.of(node.family):
            return "a table of chances must have the shape of its columns"
        if not np.isfinite(node.table).all() or (node.table < 0).any():
            return "chances must be finite and not negative"
        if (np.abs(node.table.sum(axis=-1) - 1) > _SUMS_TO_ONE).any():
            return "the chances of a column must add up to 1"
    if not np.isfinite(network.total) or network.total < 0:
        return "the number of rows must be finite and not negative"
    return ""


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
