"""Probabilities of coins in whole parts of 2^32, rounded towards privacy, and exact ratios."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.errors import InternalError, InvalidInput
from discreet.noise.certified import exp_bounds
from discreet.noise.rng import Rng
from discreet.survey.randomizers.base import Randomizer
from discreet.survey.randomizers.device_coins import WORD

Made = TypeVar("Made", bound=Randomizer)

LEAST_EPSILON = Fraction(1, 1000)
_BITS = 128


@lru_cache(maxsize=4096)
def truthful_parts(epsilon: Fraction, others: Fraction) -> int:
    """Return the greatest T with T / (2^32 - T) <= e^epsilon / others.

    T parts of 2^32 go to the favoured outcomes, the rest to the others; `others` says how many times
    as many of those there are. Rounded down: never above the claim.

    >>> round(truthful_parts(Fraction(2), Fraction(1)) / WORD, 6)          # e^2 / (1 + e^2)
    0.880797
    """
    _, high = exp_bounds(-min(epsilon, Fraction(64)), _BITS)
    share = 1 / (1 + others * Fraction(high, 1 << _BITS))
    return min(int(WORD * share), WORD - 1)


def lying_parts(epsilon: Fraction) -> int:
    """Return the least Q with (2^32 - Q) / Q <= e^epsilon: how often a bit is turned over."""
    return WORD - truthful_parts(epsilon, Fraction(1))


def check_epsilon(epsilon: Fraction) -> Fraction:
    """Return `epsilon`, or refuse one that is too small for 32-bit coins to tell anything."""
    if epsilon < LEAST_EPSILON:
        raise InvalidInput(
            "An epsilon below 0.001 for one question tells nothing.",
            hint="Raise the survey's epsilon, ask fewer questions or allow fewer changes.",
        )
    return epsilon


def check_ratio(ratio: Fraction, epsilon: Fraction) -> None:
    """Refuse to go on unless `ratio` is certainly at most e^epsilon and tells something.

    Guarantee: 1 / ratio is compared with a certified upper bound of e^-epsilon, in whole numbers.
    """
    _, high = exp_bounds(-min(epsilon, Fraction(64)), _BITS)
    if ratio * Fraction(high, 1 << _BITS) > 1:
        raise InternalError("A randomizer would tell more than it claims.")
    if ratio <= 1:
        raise InvalidInput(
            "This many answers at so small an epsilon tell nothing.",
            hint="Raise epsilon or list fewer options.",
        )


def checked(made: Made, epsilon: Fraction) -> Made:
    """Return a randomizer whose `worst_ratio` is certainly at most e^epsilon (`check_ratio`)."""
    check_ratio(made.worst_ratio, epsilon)
    return made


def coins(parts: int, count: int, rng: Rng) -> Bits:
    """Return `count` coins that are True with probability exactly parts / 2^32.

    One byte decides all but one coin in 256; those that tie with the first byte of `parts` draw the
    other three.
    """
    first, rest = parts >> 24, parts & 0xFFFFFF
    drawn = _bytes(count, rng)
    found: Bits = drawn < first
    tied = np.flatnonzero(drawn == first)
    found[tied] = (words32(tied.size, rng) >> np.uint32(8)) < rest
    return found


def _bytes(count: int, rng: Rng) -> npt.NDArray[np.uint8]:
    return rng.words(-(-count // 8)).view(np.uint8)[:count]


def words32(count: int, rng: Rng) -> npt.NDArray[np.uint32]:
    """Return `count` numbers of 32 fresh bits."""
    return rng.words(-(-count // 2)).view(np.uint32)[:count]


def checked_code(value: int, codes: int) -> int:
    """Return the number of an option; anything else, which would be told as it is, is refused."""
    if not isinstance(value, int) or not 0 <= value < codes:
        raise InvalidInput("No option has this number.")
    return value


def checked_codes(values: Sequence[Any] | npt.NDArray[Any], codes: int) -> Integers:
    """Return the numbers of options as an array; anything else is refused."""
    found = np.asarray(values)
    if found.size and (found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= codes):
        raise InvalidInput("No option has this number.")
    return found.astype(np.int64)


def smallest_type(cells: int) -> type[np.unsignedinteger]:
    """Return the narrowest unsigned type that holds 0 .. cells - 1."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if cells <= 1 << (8 * np.dtype(kind).itemsize):
            return kind
    return np.uint64
