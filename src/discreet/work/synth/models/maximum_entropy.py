"""Maximum-entropy distribution of noisy marginals, weighted by their noise; and the model in two layers.

Fitted by L-BFGS, in numpy. Two layers: groups of codes that hang together by a junction tree, codes inside them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.errors import InternalError, InvalidInput
from discreet.measure.shape import CodeGroups, Codes, Columns, Shape, joint_codes
from discreet.work.synth.models.junction_tree import (
    Beliefs,
    JunctionTree,
    drawing_order,
    junction_tree,
    no_chance,
    onto,
    pass_beliefs,
    spread,
)
from discreet.work.synth.models.model import Allowed, Dice, draw_codes, head_json, read_head

Slope: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""From a point to the function's value and gradient there."""

MEMORY = 10
SHRINKS = 50


def descend(slope: Slope, start: Floats, *, steps: int, scale: Floats) -> Floats:
    """Return a point near the least value, after at most `steps` steps.

    `scale` is a guess of the inverse of the second derivatives: the first step's length.
    """
    point = start
    value, gradient = slope(point)
    moves: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        direction = _direction(gradient, moves, scale)
        fall = float(gradient @ direction)
        if fall >= 0:
            moves.clear()
            direction = -scale * gradient
            fall = float(gradient @ direction)
        length = 1.0
        for _ in range(SHRINKS):
            ahead = point + length * direction
            there, steeper = slope(ahead)
            if there <= value + 1e-4 * length * fall:
                break
            length /= 2
        else:
            return point  # no step helps any more: rounding errors are all that is left
        if there == value and length < 1:
            return point  # nor does a shortened one that gains nothing
        moved, turned = ahead - point, steeper - gradient
        bend = float(moved @ turned)
        if bend > 1e-12 * float(moved @ moved):
            moves.append((moved, turned, bend))
        point, value, gradient = ahead, there, steeper
    return point


def _direction(
    gradient: Floats, moves: deque[tuple[Floats, Floats, float]], scale: Floats
) -> Floats:
    """Return the quasi-Newton direction from the last few moves: the two-loop recursion."""
    found = -gradient
    weights = []
    for moved, turned, bend in reversed(moves):
        weight = float(moved @ found) / bend
        weights.append(weight)
        found = found - weight * turned
    if moves:
        _, turned, bend = moves[-1]
        found = found * scale * (bend / float(turned @ (scale * turned)))
    else:
        found = found * scale
    for (moved, turned, bend), weight in zip(moves, reversed(weights), strict=True):
        found = found + moved * (weight - float(turned @ found) / bend)
    return found


LogPotentials: TypeAlias = Mapping[Columns, Floats]
"""Log-potentials, one table for each set of columns: the distribution is exp of their sum."""

DOUBT = 0.3
"""Weight of entropy against misfit, in standard deviations of the noise for a log-odds of 1.

The estimate may stay away from a noisy count by this much where that saves a factor e in odds.
From 0.03 to 1 the error on real tables is flat; much less believes the noise, much more nothing.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of one marginal: noisy counts, the variance of each, and entropy's weight."""

    columns: Columns
    values: Floats
    variance: Floats
    doubt: float = DOUBT

    def add(self, other: Evidence) -> Evidence:
        """Return the evidence of two measurements of the same marginal, by inverse variance."""
        mine, theirs = 1 / self.variance, 1 / other.variance
        both = mine + theirs
        values = (self.values * mine + other.values * theirs) / both
        return Evidence(self.columns, values, 1 / both, min(self.doubt, other.doubt))


def believe(tree: JunctionTree, parts: LogPotentials) -> Beliefs:
    """Return the distribution of some log-potentials."""
    return pass_beliefs(tree, _potentials(tree, parts))


def fit_entropy(
    tree: JunctionTree,
    evidence: Sequence[Evidence],
    total: float,
    *,
    base: LogPotentials,
    start: LogPotentials,
    steps: int,
) -> LogPotentials:
    """Return the log-potentials of the evidence, which come on top of `base`.

    They minimise N log Z(theta) - theta . y + ridge . theta^2 / 2: the dual of greatest entropy
    (relative to `base`) less half the squared misfit, each cell divided by its ridge. Convex and
    smooth, and its gradient is the misfit itself, so quasi-Newton steps from `start` suffice.
    """
    problem = _Problem(tree, evidence, total, base)
    found = descend(problem.slope, problem.joined(start), steps=steps, scale=problem.scale)
    return problem.parted(found)


class _Problem:
    def __init__(
        self, tree: JunctionTree, evidence: Sequence[Evidence], total: float, base: LogPotentials
    ) -> None:
        self.tree = tree
        self.total = total
        self.columns = [each.columns for each in evidence]
        self.shapes = [each.values.shape for each in evidence]
        self.hosts = [_host(tree, columns) for columns in self.columns]
        self.still = _potentials(tree, base)
        ends = np.cumsum([0] + [each.values.size for each in evidence]).tolist()
        self.slices = [slice(one, other) for one, other in pairwise(ends)]
        self.aim = np.concatenate([_balanced(each, total).ravel() for each in evidence])
        noise = [each.doubt * np.sqrt(each.variance).ravel() for each in evidence]
        self.ridge = np.concatenate(noise) + 1e-6
        self.scale = 1 / (np.maximum(self.aim, 1.0) + self.ridge)

    def joined(self, parts: LogPotentials) -> Floats:
        """Return one vector of all potentials; those that are not known yet are 0."""
        return np.concatenate(
            [
                np.asarray(parts.get(columns, np.zeros(shape))).ravel()
                for columns, shape in zip(self.columns, self.shapes, strict=True)
            ]
        )

    def parted(self, theta: Floats) -> LogPotentials:
        """Return the vector as tables again."""
        return {
            columns: theta[part].reshape(shape)
            for columns, part, shape in zip(self.columns, self.slices, self.shapes, strict=True)
        }

    def slope(self, theta: Floats) -> tuple[float, Floats]:
        """Return the dual's value and gradient."""
        tables = [table.copy() for table in self.still]
        for (columns, table), host in zip(self.parted(theta).items(), self.hosts, strict=True):
            tables[host] += spread(table, columns, self.tree.cliques[host])
        beliefs = pass_beliefs(self.tree, tables)
        model = np.concatenate(
            [
                onto(beliefs.tables[host], self.tree.cliques[host], columns).ravel()
                for columns, host in zip(self.columns, self.hosts, strict=True)
            ]
        )
        value = self.total * beliefs.log_total - float(theta @ self.aim)
        value += 0.5 * float(self.ridge @ theta**2)
        return value, self.total * model - self.aim + self.ridge * theta


def _potentials(tree: JunctionTree, parts: LogPotentials) -> list[Floats]:
    """Return one table of summed log-potentials for each clique."""
    tables = [np.zeros([tree.sizes[column] for column in clique]) for clique in tree.cliques]
    for columns, part in parts.items():
        host = _host(tree, columns)
        tables[host] += spread(part, columns, tree.cliques[host])
    return tables


def _host(tree: JunctionTree, columns: Columns) -> int:
    host = tree.host(columns)
    if host is None:
        raise InternalError("the tree does not cover the evidence")
    return host


def _balanced(evidence: Evidence, total: float) -> Floats:
    """Return the values moved so that they add up to the total, each as far as its noise may be off.

    In proportion to the variances: the nearest such values. A group of one code must not be moved as
    far as one of four hundred, whose noise added up.
    """
    lacking = total - float(evidence.values.sum())
    return evidence.values + lacking * evidence.variance / float(evidence.variance.sum())


LARGEST = 1 << 23
"""Cells of the largest tree that is built for a model from a file."""


@dataclass(frozen=True, slots=True, eq=False)
class Layered:
    """P(row) = P(its groups) times, for each column, P(code | group)."""

    shape: Shape
    total: float
    groups: tuple[CodeGroups, ...]
    within: tuple[Floats, ...]
    parts: LogPotentials
    beliefs: Beliefs

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal, axes in the order asked for."""
        ascending = tuple(sorted(columns))
        table = self.beliefs.marginal(ascending)
        table = table.transpose([ascending.index(column) for column in columns])
        for axis, column in enumerate(columns):
            chances = self.within[column].reshape([-1] + [1] * (len(columns) - axis - 1))
            table = np.take(table, self.groups[column], axis=axis) * chances
        return self.total * table

    def sample(self, rows: int, *, dice: Dice, given: Allowed | None = None) -> Codes:
        """Return that many made-up rows, counts within one of their expectation at each step."""
        within = [
            chances * given[column] if given and column in given else chances
            for column, chances in enumerate(self.within)
        ]
        beliefs = self._given(within, sorted(given)) if given else self.beliefs
        sizes = beliefs.tree.sizes
        coarse = np.zeros((rows, self.shape.width), dtype=np.int64)
        for clique, separator, table in zip(
            beliefs.tree.cliques, beliefs.tree.separators, beliefs.tables, strict=True
        ):
            fresh = tuple(column for column in clique if column not in separator)
            order = [clique.index(column) for column in (*separator, *fresh)]
            chances = table.transpose(order).reshape(prod(sizes[c] for c in separator), -1)
            drawn = draw_codes(chances, joint_codes(coarse, separator, sizes), dice)
            coarse[:, fresh] = np.stack(
                np.unravel_index(drawn, [sizes[column] for column in fresh]), axis=1
            )
        return self._inside(coarse, dict(enumerate(within)), dice)

    def _inside(self, coarse: Integers, within: Mapping[int, Floats], dice: Dice) -> Codes:
        """Return codes of some columns, drawn inside the groups of each row."""
        codes = np.empty((len(coarse), len(within)), dtype=np.int32)
        for at, (column, chances) in enumerate(within.items()):
            table = np.zeros((self.beliefs.tree.sizes[column], chances.size))
            table[self.groups[column], np.arange(chances.size)] = chances
            codes[:, at] = draw_codes(table, coarse[:, column], dice)
        return codes

    def draw_given(self, given: Columns, known: Codes, *, dice: Dice) -> Codes:
        """Return the codes of all other columns, one row for each row of `known`, exactly by the model.

        Columns are eliminated one by one, which leaves for each the law given what it was joined to;
        drawn the other way round, each finds those values in its row.
        """
        sizes = self.beliefs.tree.sizes
        coarse = np.zeros((len(known), self.shape.width), dtype=np.int64)
        for at, column in enumerate(given):
            coarse[:, column] = self.groups[column][known[:, at]]
        families = drawing_order(sizes, self.parts, given)
        for family, logs in zip(families, _laws(self, families), strict=True):
            *by, column = family
            place = joint_codes(coarse, by, sizes)
            chances = np.exp(logs - logs.max(axis=-1, keepdims=True)).reshape(-1, sizes[column])
            coarse[:, column] = draw_codes(chances, place, dice)
        own = {i: chances for i, chances in enumerate(self.within) if i not in given}
        return self._inside(coarse, own, dice)

    def _given(self, within: list[Floats], columns: list[int]) -> Beliefs:
        """Return the beliefs about groups, given that the codes of some columns are allowed ones."""
        tree = self.beliefs.tree
        parts = dict(self.parts)
        for column in columns:
            chances = np.bincount(
                self.groups[column], weights=within[column], minlength=tree.sizes[column]
            )
            if not chances.any():
                raise no_chance()
            with np.errstate(divide="ignore"):  # the logarithm of no chance is minus infinity
                parts[(column,)] = parts[(column,)] + np.log(chances)
        return believe(tree, parts)

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain numbers, lists and text: potentials, not their large product."""
        return {
            **head_json("layered", self),
            "groups": [groups.tolist() for groups in self.groups],
            "within": [chances.tolist() for chances in self.within],
            "parts": [
                {"columns": list(columns), "values": part.ravel().tolist()}
                for columns, part in self.parts.items()
            ],
        }


def _laws(model: Layered, families: list[Columns]) -> list[Floats]:
    """Return, for each family, the log-law of its last column given the others (not scaled)."""
    sizes = model.beliefs.tree.sizes
    factors: list[tuple[Columns, Floats]] = list(model.parts.items())
    laws: list[Floats] = []
    for family in reversed(families):
        column = family[-1]
        joined = np.zeros([sizes[c] for c in family])
        rest = []
        for columns, table in factors:
            if column not in columns:
                rest.append((columns, table))
                continue
            order = [columns.index(c) for c in family if c in columns]
            joined = joined + spread(table.transpose(order), columns, family)
        laws.append(joined)
        top = joined.max(axis=-1, keepdims=True)
        message = np.log(np.exp(joined - top).sum(axis=-1)) + top[..., 0]
        by = tuple(sorted(family[:-1]))
        factors = [*rest, (by, message)] if by else rest
    return laws[::-1]


def layered(
    shape: Shape,
    total: float,
    groups: tuple[CodeGroups, ...],
    within: tuple[Floats, ...],
    parts: LogPotentials,
) -> Layered:
    """Return the model of some log-potentials over groups."""
    sizes = tuple(int(each.max()) + 1 for each in groups)
    tree = junction_tree(sizes, parts)
    if tree.cells > LARGEST:
        raise InvalidInput("The model's tables are too large.", hint="Fit it with fewer cells.")
    return Layered(shape, total, groups, within, parts, believe(tree, parts))


def read_layered(data: Mapping[str, Any]) -> Layered:
    """Return the model that `to_json` described, or refuse it with a sentence."""
    try:
        return _read(data)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unreadable() from error


def _read(data: Mapping[str, Any]) -> Layered:
    shape, total = read_head(data)
    groups = tuple(np.array(each, dtype=np.int64) for each in data["groups"])
    chances = tuple(np.array(each, dtype=np.float64) for each in data["within"])
    fits = len(shape.names) == len(shape.sizes) == len(groups) == len(chances) > 0
    if not fits or not 0 <= total < np.inf:
        raise _unreadable()
    for size, each, chance in zip(shape.sizes, groups, chances, strict=True):
        if each.shape != (size,) or chance.shape != (size,) or not _whole_groups(each):
            raise _unreadable()
        sums = np.bincount(each, weights=chance)
        if not (chance >= 0).all() or not np.allclose(sums, 1.0, atol=1e-6):
            raise _unreadable()
    sizes = tuple(int(each.max()) + 1 for each in groups)
    return layered(shape, total, groups, chances, _read_parts(data["parts"], sizes))


def _read_parts(items: Any, sizes: tuple[int, ...]) -> LogPotentials:
    parts: dict[Columns, Floats] = {(column,): np.zeros(size) for column, size in enumerate(sizes)}
    for item in items:
        columns = tuple(int(column) for column in item["columns"])
        ascending = columns == tuple(sorted(set(columns)))
        if not columns or not ascending or not 0 <= columns[0] <= columns[-1] < len(sizes):
            raise _unreadable()
        values = np.array(item["values"], dtype=np.float64)
        if not np.isfinite(values).all():
            raise _unreadable()
        parts[columns] = values.reshape([sizes[column] for column in columns])
    return parts


def _whole_groups(groups: CodeGroups) -> bool:
    """Return whether groups are numbered 0, 1, ... without a gap."""
    return bool(groups.size and groups.min() == 0 and np.unique(groups).size == groups.max() + 1)


def _unreadable() -> InvalidInput:
    return InvalidInput("The model's tables do not fit together.", hint="Save the model again.")
