"""Utilities as integer gaps to the best candidate, on one exact lattice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.core.numbers import Epsilon, Number, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.exact.exp_table import Gaps

_CELLS = 1 << 20  # of one batch of rows: bounds the memory, not the outcome
_WORD = 1 << 64


@dataclass(frozen=True, slots=True)
class UtilityGaps:
    """Rows of candidates, how far each lies behind the best of its row, and the rate of decay.

    A gap of g means a factor exp(-g * rate) in the exponential mechanism.
    """

    gaps: Gaps
    rate: Fraction

    @property
    def rows(self) -> int:
        """Return how many choices are to be made."""
        return int(self.gaps.shape[0])

    @property
    def candidates(self) -> int:
        """Return how many candidates each choice has."""
        return int(self.gaps.shape[1])

    def batches(self) -> Iterator[slice]:
        """Return slices of rows of bounded size, for work in limited memory."""
        step = max(1, _CELLS // self.candidates)
        for start in range(0, self.rows, step):
            yield slice(start, start + step)


def utility_gaps(
    utilities: npt.ArrayLike,
    sensitivity: Number,
    epsilon: Number | Epsilon,
    *,
    monotone: bool,
    dimensions: int,
) -> UtilityGaps:
    """Return the gaps of `utilities` (candidates last) and the rate epsilon / (2 * sensitivity).

    `monotone` drops the 2. Integers in a numpy array take the same time whatever they are; other
    numbers mean what they print as and are put on their least common lattice.
    """
    spread = to_fraction(sensitivity, name="sensitivity")
    if spread <= 0:
        raise InvalidInput("The sensitivity of a utility must be greater than 0.")
    amount = Epsilon.of(epsilon).value
    array = np.asarray(utilities)
    if array.ndim != dimensions or array.shape[-1] == 0:
        raise InvalidInput(
            f"Utilities must be an array of {dimensions} dimension(s) with at least one candidate."
        )
    table = array.reshape(-1, array.shape[-1])
    gaps, denominator = (_integer_gaps(table), 1) if array.dtype.kind in "iu" else _gaps(table)
    moves = 1 if monotone else 2
    return UtilityGaps(
        gaps, amount * Fraction(spread.denominator, spread.numerator * denominator * moves)
    )


def _integer_gaps(table: npt.NDArray[np.integer]) -> Gaps:
    # Subtraction modulo 2^64 is exact: the true difference lies in 0 .. 2^64 - 1.
    wide = table.astype(np.uint64 if table.dtype.kind == "u" else np.int64)
    best = wide.max(axis=1, keepdims=True)
    gaps: Gaps = best.view(np.uint64) - wide.view(np.uint64)
    return gaps


def _gaps(table: npt.NDArray[np.generic]) -> tuple[Gaps, int]:
    """Return exact gaps of any numbers, in units of one over the returned denominator."""
    values = [to_fraction(value, name="a utility") for value in table.reshape(-1).tolist()]
    denominator = math.lcm(*{value.denominator for value in values})
    units = np.empty(len(values), dtype=object)
    units[:] = [value.numerator * (denominator // value.denominator) for value in values]
    rows = units.reshape(table.shape)
    gaps: Gaps = rows.max(axis=1, keepdims=True) - rows
    fits = not gaps.size or int(gaps.max()) < _WORD
    return (gaps.astype(np.uint64) if fits else gaps), denominator
