"""DP-SGD: Poisson sample, per-unit clipped gradient sum, noise, step."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.account.batch import NoisySteps
from discreet.core.arrays import Bits, Floats, Integers
from discreet.core.progress import Progress
from discreet.errors import InternalError
from discreet.learn.sgd.clipped import BOUND, clipped_sum
from discreet.learn.sgd.layers import Layers, passed, rounded_layers
from discreet.noise.additive import discrete_gaussian_squared
from discreet.noise.rng import Rng

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
