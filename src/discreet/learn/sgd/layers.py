"""A network of one hidden layer in whole numbers: scores and errors that are the same wherever a row stands.

Inputs and hidden units are multiples of 1 / INPUT, weights of 1 / WEIGHT. Products and sums of such numbers
stay below 2^53, where doubles are exact in any order: a linear-algebra library may add as it likes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.learn.measure.rows import FINE, WHOLE, residuals

INPUT = 64
"""Steps to one in inputs and hidden units."""

WEIGHT = 1024
"""Steps to one in weights."""

BACK = 1 << 15
"""Steps to one in errors of hidden units."""

LARGEST_INPUT = 8 * INPUT
LARGEST_WEIGHT = 8 * WEIGHT
WIDEST = 1024
"""Inputs and hidden units together, at most: 2^9 * 2^13 * 2^10 is far below 2^53."""


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """Whole-number weights: `hidden` from inputs (and a last row of offsets), `out` from both.

    `out` has a row for each input, for each hidden unit, and a last one of offsets: what the inputs
    say directly needs no hidden unit.
    """

    hidden: Floats
    out: Floats

    @property
    def size(self) -> int:
        """Return how many weights there are."""
        return self.hidden.size + self.out.size


@dataclass(frozen=True, slots=True, eq=False)
class ActivationsAndErrors:
    """What rows did on their way: inputs to both layers, and the errors that came back to each."""

    inputs: Floats
    middle: Floats
    error_out: Floats
    error_hidden: Floats


def rounded_layers(hidden: Floats, out: Floats) -> Layers:
    """Return weights in whole steps, none larger than allowed."""
    parts = [
        np.clip(np.rint(part * WEIGHT), -LARGEST_WEIGHT, LARGEST_WEIGHT) for part in (hidden, out)
    ]
    return Layers(parts[0], parts[1])


def scores(layers: Layers, inputs: Floats) -> tuple[Integers, Floats]:
    """Return the scores of rows in steps of 1 / FINE, and both layers' inputs side by side."""
    before = inputs @ layers.hidden[:-1] + INPUT * layers.hidden[-1]
    units = np.clip(np.floor(before / WEIGHT), 0, LARGEST_INPUT)
    middle = np.concatenate([inputs, units], axis=1)
    found = middle @ layers.out[:-1] + INPUT * layers.out[-1]
    return np.floor(found * (FINE / (INPUT * WEIGHT))).astype(np.int64), middle


def passed(layers: Layers, inputs: Floats, truth: Integers) -> ActivationsAndErrors:
    """Return what each row contributes to the gradient: its inputs and its errors.

    Errors of the scores are in steps of 1 / 1024, of the hidden units in steps of 1 / BACK: then
    their squares add up exactly, too. Each depends on its own row and on public weights only.
    """
    found, middle = scores(layers, inputs)
    error = residuals(found, truth).astype(np.float64)
    width = inputs.shape[1]
    units = middle[:, width:]
    open_units = (units > 0) & (units < LARGEST_INPUT)
    back = np.floor((error @ layers.out[width:-1].T) / (WHOLE * WEIGHT // BACK)) * open_units
    return ActivationsAndErrors(inputs, middle, error, back)
