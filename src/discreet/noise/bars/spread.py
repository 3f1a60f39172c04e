"""From noise laws to error bars: of one answer, of many at once, of sums and of weighted sums.

Error bars of single answers are exact (laws.py). Those of a weighted sum of independent noises are
numerical with a controlled error: a convolution on the sum's own lattice where that is small enough
(error below 1e-9 in the coverage, on the safe side), otherwise on a coarser grid whose rounding
is added to the half width, which makes it an upper bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.numbers import Number, to_fraction
from discreet.errors import InvalidInput
from discreet.noise.laws import NoiseLaw, to_confidence
from discreet.noise.laws.law import REACH

Term: TypeAlias = tuple[Number, NoiseLaw]

CELLS = 1 << 17
ERROR = 1e-9  # of the coverage: what wraps around, and what the transform rounds


def combined_half_width(terms: Sequence[Term], confidence: Number, *, cells: int = CELLS) -> float:
    """Return h such that |sum of coefficient * X| <= h has at least this confidence.

    The X are independent, each with its own law. `cells` bounds the grid: where the sum's lattice
    has more points than that, h is larger than needed by at most one grid step for each term.

    >>> from discreet.noise.laws import LaplaceLaw
    >>> law = LaplaceLaw.of(1)
    >>> combined_half_width([(1, law), (-1, law)], 0.95)
    4.0
    """
    wanted = to_confidence(confidence)
    counts = Counter((abs(to_fraction(c, name="coefficient")), law) for c, law in terms)
    groups = [(c, law, count) for (c, law), count in counts.items() if c]
    if not groups:
        return 0.0
    if len(groups) == 1 and groups[0][2] == 1:
        return float(groups[0][0] * groups[0][1].half_width(wanted))
    if float(wanted) > 1 - 10 * ERROR:
        raise InvalidInput(
            "confidence is too close to 1 for a sum.", hint="Use joint_half_width for each term."
        )
    unit = _common_unit([c for c, _, _ in groups])
    spread = math.sqrt(sum(float(c) ** 2 * law.variance * count for c, law, count in groups))
    step = unit * max(1, math.ceil(2 * REACH * spread / (float(unit) * cells)))
    size = 1 << max(8, math.ceil(2 * REACH * spread / float(step)).bit_length())
    transform = np.ones(size // 2 + 1, dtype=np.complex128)
    for c, law, count in groups:
        transform *= np.fft.rfft(_on_grid(law, c / step, size)) ** count
    steps = _cover(np.fft.irfft(transform, size), float(wanted) + ERROR)
    exact = all((c / step).denominator == 1 for c, _, _ in groups)
    rounding = 0 if exact else sum(count for _, _, count in groups)
    return float((steps + Fraction(rounding, 2)) * step)


def _on_grid(law: NoiseLaw, coefficient: Fraction, size: int) -> Floats:
    """Return the law of coefficient * X rounded to whole numbers, wrapped around `size` cells."""
    reach = math.ceil(REACH * math.sqrt(law.variance) * float(coefficient)) + 1
    cells = np.arange(-reach, reach + 2, dtype=np.float64)
    # Cell j holds the x with j - 1/2 < coefficient * x <= j + 1/2.
    first = np.floor((cells - 0.5) / float(coefficient)) + 1
    above = law.survival(first)
    mass = above[:-1] - above[1:]
    return np.bincount(
        np.mod(cells[:-1].astype(np.int64), size), weights=mass, minlength=size
    ).astype(np.float64)


def _cover(masses: Floats, wanted: float) -> int:
    """Return the least h so that the cells -h ... h hold `wanted`."""
    half = len(masses) // 2
    both = masses[1:half] + masses[-1:-half:-1]
    held = masses[0] + np.concatenate([[0.0], np.cumsum(both)])
    return int(np.argmax(held >= wanted))


def _common_unit(values: Sequence[Fraction]) -> Fraction:
    """Return the greatest number of which all values are whole multiples."""
    bottom = math.lcm(*(value.denominator for value in values))
    return Fraction(math.gcd(*(int(value * bottom) for value in values)), bottom)
