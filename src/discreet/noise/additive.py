"""Noise on numbers: exact integers from the discrete Laplace and Gaussian laws."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod
from operator import index
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import Integers
from discreet.core.numbers import Number, plain, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.exact.gaussian import gaussian_sampler
from discreet.noise.exact.geometric import geometric_sampler
from discreet.noise.rng import SYSTEM, Rng

DrawShape: TypeAlias = int | tuple[int, ...]

SMALLEST_SCALE = Fraction(1, 1000)
GREATEST_SCALE = Fraction(10**12)
CHUNK = 1 << 15  # draws at a time: what they need stays in the processor's cache


def discrete_laplace(scale: Number, size: DrawShape, *, rng: Rng = SYSTEM) -> Integers:
    """Return integers with P(x) proportional to exp(-|x| / scale), as numpy int64.

    `scale` is any rational from 1/1000 to 10^12; a float means the decimal that it prints as.

    Guarantee: exact sampling, no floating point, the same work whatever the values are. Added to an
        integer query of L1 sensitivity s it is (s / scale)-DP. [Ghosh et al. 2009; note 0002]

    >>> discrete_laplace("1/1000", 3).tolist()      # a chance of e^-1000 to be anything else
    [0, 0, 0]
    """
    written = to_fraction(scale, name="scale")
    _check(written, SMALLEST_SCALE, GREATEST_SCALE, "scale")
    sampler = geometric_sampler(written)
    width = sampler.words_per_draw
    return _fill(
        size, lambda count: sampler.laplace(rng.words(count * width).reshape(width, count), rng)
    )


def discrete_gaussian_squared(
    sigma_squared: Number, size: DrawShape, *, rng: Rng = SYSTEM
) -> Integers:
    """Return integers with P(x) proportional to exp(-x^2 / (2 sigma_squared)), as numpy int64.

    `sigma_squared` is any rational from 10^-6 to 10^24.

    Guarantee: exact sampling, no floating point, work that does not depend on the values. Added to an
        integer query of L2 sensitivity s it is (s^2 / (2 sigma_squared))-zCDP. [CKS20, Theorem 4]

    >>> discrete_gaussian_squared(100, (2, 3)).shape
    (2, 3)
    """
    variance = to_fraction(sigma_squared, name="sigma_squared")
    _check(variance, SMALLEST_SCALE**2, GREATEST_SCALE**2, "sigma_squared")
    sampler = gaussian_sampler(variance)
    return _fill(size, lambda count: sampler.draw(count, rng))


def _check(value: Fraction, smallest: Fraction, greatest: Fraction, name: str) -> None:
    if not smallest <= value <= greatest:
        raise InvalidInput(
            f"{name} must lie between {plain(smallest)} and {plain(greatest)}, not {plain(value)}.",
            hint="Noise is added to integers: choose their unit so that the scale fits.",
        )


def _fill(size: DrawShape, draw: Callable[[int], Integers]) -> Integers:
    """Return an array of shape `size`, drawn in chunks."""
    shape = tuple(index(n) for n in size) if isinstance(size, tuple) else (index(size),)
    if any(n < 0 for n in shape):
        raise InvalidInput(f"size must not be negative, not {size}.")
    filled = np.empty(prod(shape), dtype=np.int64)
    for start in range(0, filled.size, CHUNK):
        part = filled[start : start + CHUNK]
        part[:] = draw(part.size)
    return filled.reshape(shape)
