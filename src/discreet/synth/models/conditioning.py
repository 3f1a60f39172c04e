"""A chain of conditional tables under a condition: the same chain with other chances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.synth.encoding.shape import Columns
from discreet.synth.models.elimination import Factor
from discreet.synth.models.model import Allowed


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


def condition(families: Sequence[Factor], allowed: Allowed) -> list[npt.NDArray[np.float64]]:
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
            raise InvalidInput(
                "The model gives no chance to rows that satisfy the condition.",
                hint="Ask for a wider condition.",
            )
        # Where nothing is allowed the row is never reached: what stood there keeps it a law.
        dead = likely <= 0
        tables[position][dead] = original[dead]
        tables[position] /= tables[position].sum(axis=-1, keepdims=True)
    return tables


def _spread(
    message: npt.NDArray[np.float64], columns: Columns, family: Columns
) -> npt.NDArray[np.float64]:
    """Return a message with an axis for each column of a family that holds its columns."""
    order = sorted(range(len(columns)), key=lambda axis: family.index(columns[axis]))
    sizes = dict(zip(columns, message.shape, strict=True))
    return message.transpose(order).reshape([sizes.get(column, 1) for column in family])
