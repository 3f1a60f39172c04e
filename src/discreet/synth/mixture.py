"""A model of relaxed rows: each is a product of laws, one for each column; all weigh the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.synth.beliefs import Table
from discreet.synth.model import Allowed
from discreet.synth.shape import Codes, Columns, Shape
from discreet.synth.systematic import draw_codes

DIGITS = 7


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Relaxed rows: `blocks` has, for each column, relaxed rows by codes, each row adding up to 1."""

    shape: Shape
    total: float
    blocks: tuple[Table, ...]

    @property
    def relaxed_rows(self) -> int:
        """Return how many relaxed rows there are."""
        return len(self.blocks[0])

    def marginal(self, columns: Columns) -> Table:
        """Return the estimated counts of one marginal, axes in the order asked for."""
        return self.total * shares_of(self.blocks, columns)

    def sample(
        self, rows: int, *, dice: np.random.Generator, given: Allowed | None = None
    ) -> Codes:  # no guarantee hangs on these dice: the model is paid for
        """Return that many made-up rows: randomised rounding of relaxed rows, all columns apart."""
        blocks = [
            block * given[column] if given and column in given else block
            for column, block in enumerate(self.blocks)
        ]
        weights = np.ones(self.relaxed_rows)
        for column in given or ():
            weights *= blocks[column].sum(axis=1)
        if not weights.any():
            raise InvalidInput(
                "The model gives no chance to rows that satisfy the condition.",
                hint="Ask for a wider condition.",
            )
        taken = draw_codes(weights[None], np.zeros(rows, dtype=np.int64), dice).astype(np.int64)
        codes = np.empty((rows, self.shape.width), dtype=np.int32)
        for column, block in enumerate(blocks):
            codes[:, column] = draw_codes(block, taken, dice)
        return codes

    def to_json(self) -> dict[str, Any]:
        """Return the model as plain numbers, lists and text."""
        return {
            "kind": "mixture",
            "names": list(self.shape.names),
            "sizes": list(self.shape.sizes),
            "total": self.total,
            "blocks": [np.round(block, DIGITS).tolist() for block in self.blocks],
        }


def shares_of(blocks: Sequence[npt.NDArray[np.floating[Any]]], columns: Columns) -> Table:
    """Return the relaxed rows' share in each cell of a marginal.

    The largest column comes last, in one matrix product: what is written out before it is small.
    """
    if not columns:
        return np.ones(())
    order = sorted(range(len(columns)), key=lambda axis: blocks[columns[axis]].shape[1])
    rows = len(blocks[0])
    joint = np.ones((1, rows), dtype=blocks[0].dtype)
    for axis in order[:-1]:
        joint = (joint[:, None, :] * blocks[columns[axis]].T).reshape(-1, rows)
    table = joint @ blocks[columns[order[-1]]] / rows
    sides = [blocks[columns[axis]].shape[1] for axis in order]
    found: Table = table.reshape(sides).transpose(np.argsort(order))
    return found


def read_mixture(data: Mapping[str, Any]) -> Mixture:
    """Return the model that `to_json` described, or refuse it with a sentence."""
    try:
        shape = Shape(
            tuple(str(name) for name in data["names"]), tuple(int(size) for size in data["sizes"])
        )
        total = float(data["total"])
        blocks = [np.array(block, dtype=np.float64) for block in data["blocks"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unreadable() from error
    if not len(shape.names) == len(shape.sizes) == len(blocks) > 0 or not 0 <= total < np.inf:
        raise _unreadable()
    for size, block in zip(shape.sizes, blocks, strict=True):
        if block.shape != (len(blocks[0]), size) or not block.size:
            raise _unreadable()
        sums = block.sum(axis=1)
        if not (block >= 0).all() or not np.allclose(sums, 1.0, atol=1e-3):
            raise _unreadable()
    return Mixture(shape, total, tuple(block / block.sum(axis=1)[:, None] for block in blocks))


def _unreadable() -> InvalidInput:
    return InvalidInput("The model's rows do not fit together.", hint="Save the model again.")
