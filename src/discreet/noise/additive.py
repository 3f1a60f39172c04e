"""Noise on numbers: exact integers from the discrete Laplace, Gaussian and geometric laws."""

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
    sampler = geometric_sampler(_scale(scale, "scale"))
    width = sampler.words_per_draw
    return _fill(
        size, lambda count: sampler.laplace(rng.words(count * width).reshape(width, count), rng)
    )


def discrete_gaussian(sigma: Number, size: DrawShape, *, rng: Rng = SYSTEM) -> Integers:
    """Return integers with P(x) proportional to exp(-x^2 / (2 sigma^2)), as numpy int64.

    `sigma` is any rational from 1/1000 to 10^12; where only its square is rational use
    `discrete_gaussian_squared`.

    Guarantee: exact sampling, no floating point, work that does not depend on the values. Added to
        an integer query of L2 sensitivity s it is (s^2 / (2 sigma^2))-zCDP. [CKS20, Theorem 4]

    >>> discrete_gaussian(10, (2, 3)).shape
    (2, 3)
    """
    return discrete_gaussian_squared(_scale(sigma, "sigma") ** 2, size, rng=rng)


def discrete_gaussian_squared(
    sigma_squared: Number, size: DrawShape, *, rng: Rng = SYSTEM
) -> Integers:
    """Return integers with P(x) proportional to exp(-x^2 / (2 sigma_squared)), as numpy int64.

    `sigma_squared` is any rational from 10^-6 to 10^24. Guarantee: as `discrete_gaussian`.
    """
    variance = to_fraction(sigma_squared, name="sigma_squared")
    _check(variance, SMALLEST_SCALE**2, GREATEST_SCALE**2, "sigma_squared")
    sampler = gaussian_sampler(variance)
    return _fill(size, lambda count: sampler.draw(count, rng))


def geometric(scale: Number, size: DrawShape, *, rng: Rng = SYSTEM) -> Integers:
    """Return integers k >= 0 with P(k or more) = exp(-k / scale), as numpy int64.

    Guarantee: exact sampling, no floating point, the same work whatever the values are.
    """
    sampler = geometric_sampler(_scale(scale, "scale"))
    width = sampler.words_per_draw
    return _fill(
        size, lambda count: sampler.geometric(rng.words(count * width).reshape(width, count), rng)
    )


def truncated_geometric(
    scale: Number, size: DrawShape, *, upper: int, rng: Rng = SYSTEM
) -> Integers:
    """Return integers 0 <= k <= upper with P(k) proportional to exp(-k / scale), as numpy int64.

    Guarantee: exact, since a geometric number modulo upper + 1 has this law. No floating point.

    >>> bool(truncated_geometric(100, 50, upper=3).max() <= 3)
    True
    """
    modulus = index(upper) + 1
    if not 1 <= modulus < 1 << 62:
        raise InvalidInput(f"upper must be at least 0 and below 2^62, not {upper}.")
    drawn = geometric(scale, size, rng=rng)
    drawn %= np.int64(modulus)
    return drawn


def _scale(written: Number, name: str) -> Fraction:
    value = to_fraction(written, name=name)
    _check(value, SMALLEST_SCALE, GREATEST_SCALE, name)
    return value


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
