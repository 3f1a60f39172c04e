"""Junction trees: cliques of columns, and belief propagation (sum-product) over them, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from discreet.base.arrays import Floats
from discreet.errors import InvalidInput
from discreet.measure.shape import Columns

Neighbours = dict[int, set[int]]


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, root first: each but the first hangs on an earlier one by its separator.

    A clique that shares no column with the others hangs on the root by an empty separator.
    """

    sizes: tuple[int, ...]
    cliques: tuple[Columns, ...]
    parents: tuple[int, ...]
    separators: tuple[Columns, ...]

    @property
    def cells(self) -> int:
        """Return how many numbers the tables of all cliques hold."""
        return sum(self._tables)

    def cells_of(self, columns: Iterable[int]) -> int:
        """Return how many cells the table of some columns has."""
        return prod(self.sizes[column] for column in columns)

    def host(self, columns: Columns) -> int | None:
        """Return the smallest clique that has all these columns, if there is one."""
        found = set.intersection(*(self._holding[column] for column in columns)) if columns else {0}
        return min(found, key=lambda i: (self._tables[i], i), default=None)

    def with_room(self, columns: Columns) -> tuple[Columns, ...]:
        """Return cliques of a tree that also covers these columns: its own, some of them wider.

        Where the columns lie in parts that nothing joins yet, one new clique joins them. Otherwise
        they meet in one clique, and each widens the cliques on its way there; that leaves every
        column's cliques connected, which is all that a junction tree needs.
        """
        if self._joins(columns):
            return (*self.cliques, columns)
        wide = dict(enumerate(map(set, self.cliques)))
        for i, more in self._guests(columns).items():
            wide[i] |= more
        return tuple(tuple(sorted(clique)) for clique in wide.values())

    def cells_with(self, columns: Columns) -> int:
        """Return the cells of the cliques of `with_room`."""
        if self._joins(columns):
            return self.cells + self.cells_of(columns)
        guests = self._guests(columns)
        return self.cells + sum(
            self._tables[i] * (self.cells_of(more) - 1) for i, more in guests.items()
        )

    def ways(self, columns: Columns) -> dict[int, list[int]]:
        """Return, for each column, the cliques between its nearest one and where all could meet."""
        near = Counter(i for column in columns for i in self._holding[column])
        meeting = min(near, key=lambda i: (-near[i], i))
        return {column: self._way(column, meeting) for column in columns}

    def _joins(self, columns: Columns) -> bool:
        """Return whether columns come from several loose parts, in each of which they have a host."""
        parts: dict[int, list[int]] = {}
        for column in columns:
            part = self._part[next(iter(self._holding[column]))]
            parts.setdefault(part, []).append(column)
        hosted = (self.host(tuple(part)) is not None for part in parts.values())
        return len(parts) > 1 and all(hosted)

    def _guests(self, columns: Columns) -> dict[int, set[int]]:
        """Return, for each clique that must be widened, the columns that it lacks."""
        found: dict[int, set[int]] = {}
        if self.host(columns) is None:
            for column, way in self.ways(columns).items():
                for i in way:
                    if i not in self._holding[column]:
                        found.setdefault(i, set()).add(column)
        return found

    def _way(self, column: int, meeting: int) -> list[int]:
        """Return the shortest way from the meeting place to a clique with the column."""
        there = self._upwards[meeting]
        if meeting in self._holding[column]:
            return [meeting]
        ways = []
        for i in self._holding[column]:
            here = self._upwards[i]
            common = next(node for node in here if node in there)
            ways.append(here[: here.index(common) + 1] + there[: there.index(common)])
        return min(ways, key=lambda way: (len(way), way))

    @cached_property
    def _tables(self) -> list[int]:
        return [self.cells_of(clique) for clique in self.cliques]

    @cached_property
    def _holding(self) -> list[set[int]]:
        """Return the cliques that hold each column."""
        found: list[set[int]] = [set() for _ in self.sizes]
        for i, clique in enumerate(self.cliques):
            for column in clique:
                found[column].add(i)
        return found

    @cached_property
    def _part(self) -> list[int]:
        """Return, for each clique, the first clique of the part that it hangs together with."""
        found: list[int] = []
        for i, (parent, separator) in enumerate(zip(self.parents, self.separators, strict=True)):
            found.append(found[parent] if separator else i)
        return found

    @cached_property
    def _upwards(self) -> list[list[int]]:
        """Return each clique's way to the root, itself first."""
        found: list[list[int]] = []
        for i, parent in enumerate(self.parents):
            found.append([i, *(found[parent] if parent >= 0 else [])])
        return found


def junction_tree(sizes: tuple[int, ...], wanted: Iterable[Columns]) -> JunctionTree:
    """Return a junction tree whose cliques cover every wanted set of columns, and all columns.

    >>> junction_tree((2, 2, 2), [(0, 1), (1, 2)]).cliques
    ((0, 1), (1, 2))
    """
    return _join(sizes, _maximal(_cliques(sizes, wanted)))


def widened(tree: JunctionTree, wanted: Iterable[Columns], new: Columns) -> JunctionTree:
    """Return the smaller of two trees that cover `wanted` and `new`: built afresh, or widened."""
    afresh = junction_tree(tree.sizes, [*wanted, new])
    grown = junction_tree(tree.sizes, tree.with_room(new))
    return min(afresh, grown, key=lambda found: found.cells)


def _cliques(sizes: tuple[int, ...], wanted: Iterable[Columns]) -> list[Columns]:
    """Return the cliques met when columns are eliminated one by one, cheapest table first."""
    near = _neighbours(sizes, wanted)
    gone = _eliminated(near, list(near), lambda column: _cost(column, near, sizes))
    return [tuple(sorted(around | {column})) for column, around in gone]


def _eliminated(
    near: Neighbours, columns: Sequence[int], cost: Callable[[int], Any]
) -> Iterator[tuple[int, set[int]]]:
    """Yield columns, the cheapest first, each with those beside it, which then stand together."""
    costs = {column: cost(column) for column in columns}
    while costs:
        column = min(costs, key=lambda c: (costs[c], c))
        del costs[column]
        around = near.pop(column)
        for other in around:
            near[other] |= around
            near[other] -= {column, other}
        costs |= {other: cost(other) for other in around if other in costs}
        yield column, around


def _neighbours(sizes: tuple[int, ...], wanted: Iterable[Columns]) -> Neighbours:
    """Return for each column those that stand beside it in some wanted set."""
    near: Neighbours = {column: set() for column in range(len(sizes))}
    for columns in wanted:
        for one, other in combinations(columns, 2):
            near[one].add(other)
            near[other].add(one)
    return near


def _cost(column: int, near: Neighbours, sizes: tuple[int, ...]) -> tuple[int, int]:
    """Return how many pairs elimination would join, and the cells of the table it makes.

    Nothing to join means nothing to lose: those go first, so that a tree stays the tree it was.
    """
    around = near[column]
    missing = sum(other not in near[one] for one, other in combinations(around, 2))
    table = sizes[column] * prod(sizes[other] for other in around)
    return (table if missing else 0), table


def _maximal(cliques: list[Columns]) -> list[Columns]:
    """Return the cliques that are part of no other, in reading order."""
    kept: list[set[int]] = []
    for clique in sorted(map(set, cliques), key=len, reverse=True):
        if not any(clique <= other for other in kept):
            kept.append(clique)
    return sorted(tuple(sorted(clique)) for clique in kept)


def _join(sizes: tuple[int, ...], cliques: list[Columns]) -> JunctionTree:
    """Return the cliques joined by a spanning tree of greatest separators: Prim's algorithm."""
    order, parents = [cliques[0]], [-1]
    separators: list[Columns] = [()]
    best = {clique: (0, len(set(clique) & set(cliques[0]))) for clique in cliques[1:]}
    while best:
        clique = max(best, key=lambda c: (best[c][1], [-column for column in c]))
        parent, _ = best.pop(clique)
        separators.append(tuple(sorted(set(clique) & set(order[parent]))))
        parents.append(parent)
        order.append(clique)
        for other, (_, shared) in best.items():
            overlap = len(set(other) & set(clique))
            if overlap > shared:
                best[other] = (len(order) - 1, overlap)
    return JunctionTree(sizes, tuple(order), tuple(parents), tuple(separators))


def drawing_cells(sizes: tuple[int, ...], sets: Iterable[Columns], given: Columns) -> int:
    """Return the cells of the tables that drawing all other columns, given these, would need."""
    return sum(prod(sizes[c] for c in family) for family in drawing_order(sizes, sets, given))


def drawing_order(sizes: tuple[int, ...], sets: Iterable[Columns], given: Columns) -> list[Columns]:
    """Return families, each a column that is drawn (last) and what it is drawn by; the first first.

    Columns that are not given are eliminated, cheapest table first; drawing goes the other way.
    """
    near = _neighbours(sizes, sets)
    open_ones = [column for column in near if column not in given]
    gone = _eliminated(near, open_ones, lambda c: sizes[c] * prod(sizes[o] for o in near[c]))
    return [(*sorted(around), column) for column, around in gone][::-1]


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
