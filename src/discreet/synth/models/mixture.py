"""A model of relaxed rows: each is a product of laws, one for each column; all weigh the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput
from discreet.synth.encoding.shape import Codes, Columns, Shape
from discreet.synth.fitting.belief_propagation import no_chance
from discreet.synth.models.model import Allowed, Dice, head_json, read_head
from discreet.synth.models.systematic import draw_codes

MILLION = 10**6
"""Chances are kept as whole weights of about this sum: small files that come back as they were."""


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Relaxed rows: `weights` has, for each column, relaxed rows by codes; `blocks` the chances."""

    shape: Shape
    total: float
    weights: tuple[Integers, ...]
    blocks: tuple[Floats, ...]

    @property
    def relaxed_rows(self) -> int:
        """Return how many relaxed rows there are."""
        return len(self.blocks[0])

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal, axes in the order asked for."""
        return self.total * shares_of(self.blocks, columns)

    def sample(self, rows: int, *, dice: Dice, given: Allowed | None = None) -> Codes:
        """Return that many made-up rows: randomised rounding of relaxed rows, all columns apart."""
        blocks = [
            block * given[column] if given and column in given else block
            for column, block in enumerate(self.blocks)
        ]
        weights = np.ones(self.relaxed_rows)
        for column in given or ():
            weights *= blocks[column].sum(axis=1)
        if not weights.any():
            raise no_chance()
        taken = draw_codes(weights[None], np.zeros(rows, dtype=np.int64), dice).astype(np.int64)
        codes = np.empty((rows, self.shape.width), dtype=np.int32)
        for column, block in enumerate(blocks):
            codes[:, column] = draw_codes(block, taken, dice)
        return codes

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain numbers, lists and text."""
        return {
            **head_json("mixture", self),
            "weights": [weights.tolist() for weights in self.weights],
        }


def shares_of(blocks: Sequence[npt.NDArray[np.floating[Any]]], columns: Columns) -> Floats:
    """Return the relaxed rows' share in each cell of a marginal.

    The largest column comes last, in one matrix product: what is written out before it is small.
    """
    if not columns:
        return np.ones(())
    order = sorted(range(len(columns)), key=lambda axis: blocks[columns[axis]].shape[1])
    # Codes by relaxed rows, the latter contiguous: products along strides are many times slower.
    sides = [np.ascontiguousarray(blocks[columns[axis]].T) for axis in order]
    rows = len(blocks[0])
    joint = sides[0] if len(sides) > 1 else np.ones((1, rows), dtype=sides[0].dtype)
    for side in sides[1:-1]:
        joint = (joint[:, None, :] * side).reshape(-1, rows)
    table = joint @ sides[-1].T / rows
    found: Floats = table.reshape([len(side) for side in sides]).transpose(np.argsort(order))
    return found


def mixture(shape: Shape, total: float, blocks: Sequence[Floats]) -> Mixture:
    """Return the model of relaxed rows, each of which adds up to about 1 in each column."""
    return _of_weights(shape, total, [np.rint(MILLION * b).astype(np.int64) for b in blocks])


def read_mixture(data: Mapping[str, Any]) -> Mixture:
    """Return the model that `to_json` described, or refuse it with a sentence."""
    try:
        shape, total = read_head(data)
        weights = [np.array(block, dtype=np.int64) for block in data["weights"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unreadable() from error
    if not len(shape.names) == len(shape.sizes) == len(weights) > 0 or not 0 <= total < np.inf:
        raise _unreadable()
    for size, block in zip(shape.sizes, weights, strict=True):
        if block.shape != (len(weights[0]), size) or not block.size:
            raise _unreadable()
        if block.min() < 0 or block.max() > 2 * MILLION or not block.any(axis=1).all():
            raise _unreadable()
    return _of_weights(shape, total, weights)


def _of_weights(shape: Shape, total: float, weights: Sequence[Integers]) -> Mixture:
    blocks = tuple(each / each.sum(axis=1, keepdims=True) for each in weights)
    return Mixture(shape, total, tuple(weights), blocks)


def _unreadable() -> InvalidInput:
    return InvalidInput("The model's rows do not fit together.", hint="Save the model again.")
