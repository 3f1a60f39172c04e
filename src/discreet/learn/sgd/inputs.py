"""What a network sees of a row: for each feature, how much its value speaks for each class.

That is read off the noisy counts of the features by class, so it is post-processing; a row's inputs are
looked up by its own codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.errors import InvalidInput
from discreet.learn.linear.bayes import log_ratios
from discreet.learn.measure.binning import BinnedFeature
from discreet.learn.sgd.layers import INPUT, LARGEST_INPUT
from discreet.learn.shrinkage import class_shares, strength
from discreet.synth.shape import Codes

MOST_INPUTS = 400


@dataclass(frozen=True, slots=True, eq=False)
class CodeInputs:
    """For each feature in use, the whole-number inputs of every one of its codes."""

    columns: tuple[int, ...]
    tables: tuple[Floats, ...]

    @property
    def width(self) -> int:
        """Return how many inputs a row has."""
        return sum(table.shape[1] for table in self.tables)

    def of(self, codes: Codes) -> Floats:
        """Return the inputs of rows of codes."""
        parts = [t[codes[:, c]] for c, t in zip(self.columns, self.tables, strict=True)]
        return np.concatenate(parts, axis=1)

    def to_json(self) -> dict[str, Any]:
        """Return the tables as plain numbers."""
        tables = [table.astype(int).tolist() for table in self.tables]
        return {"columns": list(self.columns), "tables": tables}


def inputs_of(features: Sequence[BinnedFeature], variance: float) -> tuple[CodeInputs, Floats]:
    """Return the inputs, strongest features first, and the noisy share of each class."""
    shares = class_shares(list(features))
    known = [(strength(each, shares, variance).excess, each) for each in features]
    known.sort(key=lambda pair: -pair[0])
    useful = [each for excess, each in known if excess > 0] or [known[0][1]]
    room = MOST_INPUTS // (1 if len(shares) == 2 else len(shares))
    columns, tables = [], []
    for feature in useful[:room]:
        ratios = log_ratios(feature, shares, variance)
        whole = np.clip(np.rint(ratios * INPUT), -LARGEST_INPUT, LARGEST_INPUT)
        columns.append(feature.column)
        tables.append(whole[feature.groups])
    return CodeInputs(tuple(columns), tuple(tables)), shares


def code_inputs_from(data: Mapping[str, Any], sizes: Sequence[int], outputs: int) -> CodeInputs:
    """Return the inputs that `to_json` wrote; every number in them is checked."""
    columns = tuple(int(column) for column in data["columns"])
    tables = tuple(np.array(table, dtype=np.float64) for table in data["tables"])
    if not columns or len(columns) != len(tables) or len(columns) * outputs > MOST_INPUTS:
        raise InvalidInput("its inputs do not fit together")
    for column, table in zip(columns, tables, strict=True):
        if not 0 <= column < len(sizes) or table.shape != (sizes[column], outputs):
            raise InvalidInput("the inputs of a feature have the wrong size")
        if not (np.abs(table) <= LARGEST_INPUT).all() or (table != np.rint(table)).any():
            raise InvalidInput("an input is no whole number in range")
    return CodeInputs(columns, tables)
