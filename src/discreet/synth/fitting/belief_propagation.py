"""Belief propagation (sum-product) on a junction tree: from log-potentials to the probabilities of any marginal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.errors import InvalidInput
from discreet.synth.encoding.shape import Columns
from discreet.synth.fitting.junction import JunctionTree


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The probability table of each clique, and the logarithm of the normaliser."""

    tree: JunctionTree
    tables: tuple[Floats, ...]
    log_total: float

    def marginal(self, columns: Columns) -> Floats:
        """Return the probabilities of ascending columns, whether or not one clique has them all.

        Of the cliques between those columns, each (given its separator) sends on what is wanted of
        it and below it, so a step never holds more than a clique and the wanted columns.
        """
        host = self.tree.host(columns)
        if host is not None:
            return onto(self.tables[host], self.tree.cliques[host], columns)
        wanted = set(columns)
        needed = sorted({i for way in self.tree.ways(columns).values() for i in way})
        top = needed[0]  # parents come first, so this one is above all others
        held = {i: (self.tree.cliques[i], self._given(i)) for i in needed[1:]}
        held[top] = (self.tree.cliques[top], self.tables[top])
        for i in needed[:0:-1]:
            axes, table = held[i]
            separator = self.tree.separators[i]
            kept = tuple(column for column in axes if column in wanted or column in separator)
            if set(kept) != set(separator):  # else it sends ones: a conditional adds up to 1
                parent = self.tree.parents[i]
                held[parent] = _times(held[parent], (kept, onto(table, axes, kept)))
        return onto(held[top][1], held[top][0], columns)

    def _given(self, clique: int) -> Floats:
        """Return a clique's probabilities given its separator."""
        table, columns = self.tables[clique], self.tree.cliques[clique]
        separator = self.tree.separators[clique]
        own = onto(table, columns, separator)
        return divided(table, spread(own, separator, columns))


def pass_beliefs(tree: JunctionTree, potentials: Sequence[Floats]) -> Beliefs:
    """Return each clique's probabilities under the product of exp(potentials).

    Messages are logarithms, each taken relative to the greatest term of its own cell: potentials a
    thousand apart neither overflow nor vanish, as products of exponentials would.
    """
    logs = [np.array(potential, dtype=np.float64) for potential in potentials]
    sent: list[Floats] = [np.zeros(())] * len(logs)
    for i in range(len(logs) - 1, 0, -1):
        parent, separator = tree.parents[i], tree.separators[i]
        sent[i] = _log_onto(logs[i], tree.cliques[i], separator)
        logs[parent] += spread(sent[i], separator, tree.cliques[parent])
    log_total = float(_log_onto(logs[0], tree.cliques[0], ()))
    if not np.isfinite(log_total):
        raise no_chance()
    tables = [np.exp(logs[0] - log_total)]
    for i in range(1, len(logs)):
        parent, separator = tree.parents[i], tree.separators[i]
        back = onto(tables[parent], tree.cliques[parent], separator)
        given = np.exp(logs[i] - spread(_finite(sent[i]), separator, tree.cliques[i]))
        tables.append(given * spread(back, separator, tree.cliques[i]))
    return Beliefs(tree, tuple(tables), log_total)


def no_chance() -> InvalidInput:
    """Return the refusal of a condition whose rows a model never makes."""
    return InvalidInput(
        "The model gives no chance to rows that satisfy the condition.",
        hint="Ask for a wider condition.",
    )


def _log_onto(logs: Floats, columns: Columns, wanted: Columns) -> Floats:
    """Return the logarithms of the sums of exp(logs) over all columns but the wanted ones."""
    gone = tuple(axis for axis, column in enumerate(columns) if column not in wanted)
    if not gone:
        return logs
    top = _finite(logs.max(axis=gone, keepdims=True))
    sums = np.exp(logs - top).sum(axis=gone)
    with np.errstate(divide="ignore"):  # the logarithm of no chance is minus infinity
        found: Floats = np.log(sums) + top.reshape(sums.shape)
    return found


def _finite(logs: Floats) -> Floats:
    """Return logarithms with 0 for those of no chance: what is impossible is so with any factor."""
    return np.where(np.isneginf(logs), 0.0, logs)


def onto(table: Floats, columns: Columns, wanted: Columns) -> Floats:
    """Return the sums of a table over all columns but the wanted ones."""
    gone = tuple(axis for axis, column in enumerate(columns) if column not in wanted)
    if not gone:
        return table
    found: Floats = table.sum(axis=gone)
    return found


def spread(table: Floats, columns: Columns, wanted: Columns) -> Floats:
    """Return the table with an axis of length 1 for each wanted column that it lacks."""
    there = iter(table.shape)
    return table.reshape([next(there) if column in columns else 1 for column in wanted])


def divided(above: Floats, below: Floats) -> Floats:
    """Return the quotient, with 0 / 0 = 0: where nothing was sent, nothing is there."""
    whole = np.broadcast_to(below, above.shape)
    return np.divide(above, whole, out=np.zeros_like(above), where=whole > 0)


def _times(one: tuple[Columns, Floats], other: tuple[Columns, Floats]) -> tuple[Columns, Floats]:
    axes = tuple(sorted({*one[0], *other[0]}))
    return axes, spread(one[1], one[0], axes) * spread(other[1], other[0], axes)
