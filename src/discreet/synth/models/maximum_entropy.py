"""Maximum-entropy distribution of noisy marginals, weighted by their noise; fitted by L-BFGS, in numpy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import Floats
from discreet.errors import InternalError
from discreet.synth.models.junction_tree import Beliefs, JunctionTree, onto, pass_beliefs, spread
from discreet.synth.shape import Columns

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
