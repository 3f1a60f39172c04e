"""Clipped sums of gradients: bounded for each unit in whole numbers, without writing one down.

A row's gradient is made of two outer products, inputs times errors. Its length follows from theirs, so the
errors are scaled down, cut to the lattice, and the length is then checked in whole numbers. The sum over
rows is a product of two matrices of whole numbers: exact, whatever adds it up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.learn.measure.rows import WHOLE
from discreet.learn.sgd.layers import BACK, INPUT, ActivationsAndErrors

ERROR = 1 << 14
"""Steps to one in a clipped error."""

BOUND = INPUT * ERROR
"""Length that a unit's gradient may have, in steps of the lattice: one."""

_LARGEST_ERROR = 1 << 16
_ROOM = 1 - 2.0**-9
"""A little less than the bound: cutting and rounding up must not push many rows over it."""


@dataclass(frozen=True, slots=True, eq=False)
class GradientSum:
    """The exact sum of clipped gradients, flat: hidden layer first. Never shown without noise."""

    values: Integers

    def __repr__(self) -> str:
        return "GradientSum(hidden)"


def clipped_sum(rows: ActivationsAndErrors, unit: Integers) -> GradientSum:
    """Return the sum over units of gradients, each at most BOUND in L2.

    `unit` tells the rows of one unit, numbered from 0, in order. Guarantee: what a unit adds is a
        function of its own rows and public weights, and has length at most BOUND: for each row n =
        (|inputs|^2 + 1)|e|^2 over both layers is a whole number, its root is rounded up, and units
        whose roots add up to more than BOUND add nothing. Adding or removing a unit therefore moves
        the sum by at most BOUND. (docs/notes/0053)
    """
    out, hidden = rows.error_out / WHOLE, rows.error_hidden / BACK
    wide = (rows.middle * rows.middle).sum(axis=1) + INPUT**2
    narrow = (rows.inputs * rows.inputs).sum(axis=1) + INPUT**2
    length = np.sqrt(wide * _squared(out) + narrow * _squared(hidden)) / INPUT
    together = np.bincount(unit, weights=np.rint(length * 2**20))[unit] / 2**20
    factor = np.minimum(1.0, _ROOM / np.maximum(together, 2.0**-20))[:, None] * ERROR
    out, hidden = (_cut(each * factor) for each in (out, hidden))
    kept = _short(wide, out, narrow, hidden, unit)[:, None]
    out, hidden = out * kept, hidden * kept
    first = _product(rows.inputs, hidden)
    second = _product(rows.middle, out)
    return GradientSum(np.concatenate([first.ravel(), second.ravel()]).astype(np.int64))


def _squared(errors: Floats) -> Floats:
    return np.asarray((errors * errors).sum(axis=1))


def _cut(errors: Floats) -> Floats:
    return np.asarray(np.clip(np.trunc(errors), -_LARGEST_ERROR, _LARGEST_ERROR))


def _short(wide: Floats, out: Floats, narrow: Floats, hidden: Floats, unit: Integers) -> Floats:
    """Return 1 for rows of units within the bound, 0 for others: decided in whole numbers."""
    # Far too long ones are told by their estimate, so that no product of whole numbers wraps.
    sane = wide * _squared(out) + narrow * _squared(hidden) < 2.0**60
    squares = wide.astype(np.int64) * (_squared(out) * sane).astype(np.int64)
    squares += narrow.astype(np.int64) * (_squared(hidden) * sane).astype(np.int64)
    roots = np.floor(np.sqrt(squares.astype(np.float64))).astype(np.int64)
    roots += roots * roots < squares
    roots[~sane] = BOUND + 1
    total = np.zeros(int(unit.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(total, unit, roots)
    return np.asarray((total <= BOUND)[unit], dtype=np.float64)


def _product(inputs: Floats, errors: Floats) -> Floats:
    """Return the sum over rows of inputs (and one) times errors; whole numbers below 2^53."""
    return np.concatenate([inputs.T @ errors, INPUT * errors.sum(axis=0, keepdims=True)])
