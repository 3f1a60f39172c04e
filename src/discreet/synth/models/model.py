"""What every method hands back: something rows can be drawn from, again and again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

import numpy as np

from discreet.core.arrays import Bits, Floats
from discreet.synth.encoding.shape import Codes, Columns, Shape

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
