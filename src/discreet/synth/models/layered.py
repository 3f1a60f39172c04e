"""A model in two layers: groups of codes that hang together by a junction tree, codes inside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput
from discreet.synth.models.junction_tree import (
    Beliefs,
    drawing_order,
    junction_tree,
    no_chance,
    spread,
)
from discreet.synth.models.maximum_entropy import LogPotentials, believe
from discreet.synth.models.model import Allowed, Dice, draw_codes, head_json, read_head
from discreet.synth.shape import CodeGroups, Codes, Columns, Shape, joint_codes

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
