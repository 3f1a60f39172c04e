"""DP-SGD: a small network trained by noisy gradients over secret samples, in whole numbers.

What the network sees of a row, its layers, sums of gradients clipped for each unit, and the noisy steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.base.arrays import Bits, Floats, Integers
from discreet.base.display import Progress
from discreet.errors import InternalError, InvalidInput
from discreet.measure.shape import Codes
from discreet.privacy.account.batch import NoisySteps
from discreet.privacy.noise.additive import discrete_gaussian_squared
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.features import BinnedFeature, class_shares, strength
from discreet.work.learn.learners.bayes import log_ratios
from discreet.work.learn.private_rows import FINE, WHOLE, residuals

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


UNITS = 16
"""Hidden units: more of them get more noise, and tables of people rarely need more."""

STEPS = 400
RATE = Fraction(1, 8)
"""Steps, and the chance that a unit is in one: fixed, so that the price is known beforehand."""

PACE = 0.03
"""How far the weights move at first; it falls to nothing at the last step."""

BELIEVED = 0.6
"""A feature beside others says less than alone: where its direct weight starts."""

_FADE, _FADE_SQUARES, _LEAST = 0.9, 0.99, 1e-3
_SAMPLE_WORDS = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class UnitRows:
    """Inputs and classes of the rows, sorted by unit. Never shown."""

    inputs: Floats
    truth: Integers
    unit: Integers

    def __repr__(self) -> str:
        return "UnitRows(hidden)"

    @property
    def units(self) -> int:
        """Return how many units there are; exact, so for the sampler alone."""
        return int(self.unit[-1]) + 1 if len(self.unit) else 0


@dataclass(slots=True)
class _Moments:
    first: Floats
    second: Floats
    count: int = field(default=0)


def drawn(units: int, rate: Fraction, rng: Rng) -> Bits:
    """Return which units are in a sample: each with chance `rate`, exactly, and independently."""
    limit = rate * _SAMPLE_WORDS
    assert limit.denominator == 1, "rates are whole parts of 2^16"
    words = rng.words(-(-units // 4)).view(np.uint16)[:units]
    return np.asarray(words < int(limit))


def noisy_gradient(rows: UnitRows, layers: Layers, steps: NoisySteps, rng: Rng) -> Floats:
    """Return one noisy sum of clipped gradients over a secret sample: may be shown.

    Guarantee: one of the sums that `steps_epsilon` prices: every unit is in the sample with
        chance `steps.rate`, moves the sum by at most `steps.reach`, and each of at most
        `steps.coordinates` numbers gets fresh discrete Gaussian noise, once for the whole sum.
    """
    taken = drawn(rows.units, steps.rate, rng)[rows.unit]
    _, unit = np.unique(rows.unit[taken], return_inverse=True)
    there = passed(layers, rows.inputs[taken], rows.truth[taken])
    total = clipped_sum(there, unit.astype(np.int64)).values
    if len(total) > steps.coordinates or steps.reach < BOUND:
        raise InternalError("a gradient larger than was priced")
    noise = discrete_gaussian_squared(steps.sigma_squared, len(total), rng=rng)
    return np.asarray((total + noise) / BOUND)


def first_layers(width: int, outputs: int) -> tuple[Floats, Floats]:
    """Return the weights to start from: every feature's own word, and small hidden ones."""
    source = np.random.default_rng(0)  # no guarantee hangs on where the weights start
    hidden = source.normal(0, 1 / np.sqrt(width), (width + 1, UNITS))
    out = np.zeros((width + UNITS + 1, outputs))
    for i in range(width):
        out[i, i % outputs] = BELIEVED
    out[width:-1] = source.normal(0, 0.1, (UNITS, outputs))
    return hidden, out


def trained_layers(
    rows: UnitRows,
    shares: Floats,
    size: float,
    *,
    steps: NoisySteps,
    rng: Rng,
    progress: Progress,
) -> Layers:
    """Return the average of the later weights; reads rows through `noisy_gradient` alone.

    `size` is about how many units there are, from noisy counts; `shares` those of the classes.
    """
    outputs = 1 if len(shares) == 2 else len(shares)
    hidden, out = first_layers(rows.inputs.shape[1], outputs)
    log = np.log(np.maximum(shares, 1e-6))
    out[-1] = log[1:] - log[:1] if outputs == 1 else log
    weights = np.concatenate([hidden.ravel(), out.ravel()])
    moments = _Moments(np.zeros_like(weights), np.zeros_like(weights))
    expected = max(size * float(steps.rate), 1.0)
    doubt = (float(steps.sigma_squared) ** 0.5 / BOUND / expected) ** 2
    kept = np.zeros_like(weights)
    for number in range(steps.count):
        progress(number, steps.count, "training")
        layers = _layers(weights, hidden.shape, out.shape)
        found = noisy_gradient(rows, layers, steps, rng) / expected
        weights = weights + PACE * (1 - number / steps.count) * _move(moments, found, doubt)
        if 2 * number >= steps.count:
            kept += weights
    return _layers(kept / (steps.count - (steps.count + 1) // 2), hidden.shape, out.shape)


def _layers(weights: Floats, first: tuple[int, ...], second: tuple[int, ...]) -> Layers:
    cut = int(np.prod(first))
    return rounded_layers(weights[:cut].reshape(first), weights[cut:].reshape(second))


def _move(moments: _Moments, gradient: Floats, doubt: float) -> Floats:
    """Return Adam's move, whose second moment knows how much of it is noise [Tang et al. 2024]."""
    moments.count += 1
    moments.first = _FADE * moments.first + (1 - _FADE) * gradient
    moments.second = _FADE_SQUARES * moments.second + (1 - _FADE_SQUARES) * gradient**2
    first = moments.first / (1 - _FADE**moments.count)
    second = moments.second / (1 - _FADE_SQUARES**moments.count)
    scale = np.sqrt(np.maximum(second - doubt, doubt * 0.01 + _LEAST**2))
    return np.asarray(first / np.maximum(scale, np.sqrt(doubt)))
