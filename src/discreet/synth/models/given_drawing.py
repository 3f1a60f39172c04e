"""Rows of a layered model in which some columns are given, each row by its own values."""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats
from discreet.synth.encoding.shape import Codes, Columns, joint_codes
from discreet.synth.fitting.beliefs import spread
from discreet.synth.fitting.junction import drawing_order
from discreet.synth.models.layered import Layered
from discreet.synth.models.model import Dice
from discreet.synth.models.systematic import draw_codes


def draw_given(model: Layered, given: Columns, known: Codes, *, dice: Dice) -> Codes:
    """Return the codes of all other columns, one row for each row of `known`, exactly by the model.

    Columns are eliminated one by one, which leaves for each the law given what it was joined to;
    drawn the other way round, each finds those values in its row.
    """
    tree = model.beliefs.tree
    sizes = tree.sizes
    own = tuple(column for column in range(model.shape.width) if column not in given)
    coarse = np.zeros((len(known), model.shape.width), dtype=np.int64)
    for at, column in enumerate(given):
        coarse[:, column] = model.groups[column][known[:, at]]
    families = drawing_order(sizes, model.parts, given)
    for family, logs in zip(families, _laws(model, families), strict=True):
        *by, column = family
        place = joint_codes(coarse, by, sizes)
        chances = np.exp(logs - logs.max(axis=-1, keepdims=True)).reshape(-1, sizes[column])
        coarse[:, column] = draw_codes(chances, place, dice)
    found = np.empty((len(known), len(own)), dtype=np.int32)
    for at, column in enumerate(own):
        table = np.zeros((sizes[column], model.shape.sizes[column]))
        table[model.groups[column], np.arange(model.shape.sizes[column])] = model.within[column]
        found[:, at] = draw_codes(table, coarse[:, column], dice)
    return found


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
