"""How many rows a synthetic copy needs, told before it is paid for."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import median_high

from discreet.synth.budget import noise_of
from discreet.synth.encoding.columns import Coded, MadeUp
from discreet.synth.prepare import PreparedSynthesis

WRONG = 0.1
"""What share of a column's rows may stand in the wrong cell, on account of noise."""

LEARNED = 20
"""Cells that are reckoned for a column whose values are yet to be learned."""


def rows_needed(ready: PreparedSynthesis) -> int:
    """Return from about how many rows on the middle column is right but for a tenth; 0 if none are read.

    From public facts alone: each column gets an equal part of the budget, the cells of a column share
    no noise, and half of the absolute noise of all cells together is what stands in the wrong place.
    Pairs of columns need more.
    """
    if ready.free:
        return 0
    read = [item for item in ready.outline.items if not isinstance(item, MadeUp)]
    sizes = [item.values if isinstance(item, Coded) else LEARNED for item in read]
    if not sizes:
        return 0
    each = ready.funds.fitting.part(Fraction(1, len(sizes)))
    absolute = noise_of(each, ready.unit) * math.sqrt(2 / math.pi)
    return round_up(median_high(sizes) * absolute / 2 / WRONG)


def round_up(rows: float) -> int:
    """Return a number of two figures that is no smaller: more would pretend to know."""
    if rows <= 10:
        return math.ceil(rows)
    unit = int(10 ** (math.floor(math.log10(rows)) - 1))
    return math.ceil(rows / unit) * unit
