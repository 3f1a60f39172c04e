"""What every method hands back: something rows can be drawn from, again and again; and the mixture.

Codes are drawn so that their counts stay within one of what is expected. A mixture is a model of relaxed
rows: each is a product of laws, one for each column; all weigh the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats, Integers
from discreet.errors import InvalidInput
from discreet.measure.shape import Codes, Columns, Shape
from discreet.work.synth.models.junction_tree import no_chance

Dice: TypeAlias = np.random.Generator  # no guarantee hangs on these dice: the model is paid for
"""Chance for drawing rows."""
Allowed = Mapping[int, Bits]
"""For some columns, which codes a row may have: the condition of conditional sampling."""


class Model(Protocol):
    """A fitted model. Everything in it was paid for, so whatever is done with it is free."""

    @property
    def shape(self) -> Shape:
        """Return the columns and their sizes."""
        ...

    @property
    def total(self) -> float:
        """Return the estimated number of rows of the real table."""
        ...

    def marginal(self, columns: Columns) -> Floats:
        """Return the estimated counts of one marginal; they add up to `total`."""
        ...

    def sample(self, rows: int, *, dice: Dice, given: Allowed | None = None) -> Codes:
        """Return that many made-up rows, all of them satisfying `given`."""
        ...

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain numbers, lists and text, with a "kind" that names its reader."""
        ...


def head_json(kind: str, model: Model) -> dict[str, Any]:
    """Return what the JSON of every kind of model begins with."""
    return {
        "kind": kind,
        "names": list(model.shape.names),
        "sizes": list(model.shape.sizes),
        "total": model.total,
    }


def read_head(data: Mapping[str, Any]) -> tuple[Shape, float]:
    """Return the columns and the number of rows that `head_json` wrote, as they are."""
    names, sizes = map(str, data["names"]), map(int, data["sizes"])
    return Shape(tuple(names), tuple(sizes)), float(data["total"])


_RADIX = 1 << 16


def draw_codes(
    chances: Floats,
    place: Integers,
    dice: Dice,
) -> Codes:
    """Return a code for each row, by the chances in the row of `chances` that `place` names.

    Systematic sampling: of the m rows at a place, code x gets floor or ceiling of m * chance(x),
    each row with exactly that chance. Independent draws would add the error of a bootstrap sample
    (on 48,842 rows as much as a quarter of the error that the noise leaves) for nothing.
    """
    # Shuffled first, then sorted stably: within a place the order is random.
    shuffled = dice.permutation(place.size)
    narrow = np.uint16 if chances.shape[0] <= _RADIX else np.int64  # 16 bits sort by radix
    order = shuffled[np.argsort(place[shuffled].astype(narrow), kind="stable")]
    used, many = np.unique(place, return_counts=True)
    counts = _shares(chances[used], many, dice)
    codes = np.empty(place.size, dtype=np.int32)
    codes[order] = np.repeat(
        np.tile(np.arange(chances.shape[1], dtype=np.int32), used.size), counts.ravel()
    )
    return codes


def _shares(
    chances: Floats,
    many: Integers,
    dice: Dice,
) -> Integers:
    """Return whole counts for each row of chances that add up to `many`."""
    edges = np.cumsum(chances, axis=1)
    edges *= (many / edges[:, -1])[:, None]
    edges += dice.random(many.size)[:, None]
    whole = np.floor(edges).astype(np.int64)
    whole[:, -1] = many  # the last edge is the sum itself, whatever rounding says
    np.minimum(whole, many[:, None], out=whole)
    return np.diff(whole, axis=1, prepend=0)


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
