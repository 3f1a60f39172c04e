"""Where numbers and days lie, learned with budget: two noisy histograms, the rest is arithmetic.

The first histogram has fine cells near zero and coarser ones far out, so that it covers any range
that a column can have. Where the noise lets us see rows, a second one looks closer, and its cells
are put together into bins that hold about as many rows each.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.core.schema import DateDomain, IntegerDomain, NumberDomain, TimestampDomain
from discreet.synth.encoding.column_treatment import RangeToLearn
from discreet.synth.encoding.columns import BINS, MOST_SINGLE, Coded, Ordered, day_domain
from discreet.synth.measure.private_marginals import Measured

OCTAVE = 8
"""Cells for each doubling of a number: ends are found to within an eighth."""

DAYS = 256
"""Days of one cell of the first look."""

CLOSE_CELLS = 256
LIKELY = 2.5
"""Standard deviations at which the next cell beside a range is believed to belong to it."""

FALSE_ALARM = 1e-6
"""Chance that noise alone is taken for rows anywhere in a column: one far cell that is believed
turns a weight of some kilograms into one of some millions."""

LONGEST = 0.5
"""A bin of few rows that is longer than this part of its distance from zero is closed if rows are
seen in it: tails get bins of their own."""

FEWEST_STEPS = 1000
"""A learned number keeps at least this many steps over its range; finer ones would be made up."""


def first_cells(domain: Ordered) -> tuple[int, ...]:
    """Return the first positions of public cells that cover the whole domain; the first is 0."""
    if isinstance(domain, DateDomain | TimestampDomain):
        return tuple(range(0, day_domain(domain).size, DAYS))
    zero = -_lowest(domain)
    size = domain.size
    away = _distances(max(abs(zero), abs(size - zero)) + 1)
    places = {0, *(zero + d for d in away), *(zero + 1 - d for d in away)}
    return tuple(sorted(place for place in places if 0 <= place < size))


def _distances(far: int) -> list[int]:
    """Return distances from zero: one by one up to 8, then eight equal steps to each doubling."""
    found = list(range(OCTAVE))
    width = 1
    while found[-1] < far:
        start = found[-1] + width if width == 1 else 2 * OCTAVE * (width // 2)
        found += range(start, start + OCTAVE * width, width)
        width *= 2
    return found


def _lowest(domain: IntegerDomain | NumberDomain) -> int:
    step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
    return int(domain.lower / step)


@dataclass(frozen=True, slots=True)
class NoiseBars:
    """How far sums of noisy counts reach by noise alone: more for Laplace noise than for Gaussian."""

    deviation: float
    heavy: bool
    cells: int

    def certain(self, width: int) -> float:
        """Return what no sum of `width` cells exceeds by noise, except with chance FALSE_ALARM.

        Over all sums of all widths: at most 2 * cells of them, each by a bound on its tail
        (Gaussian: exp(-t^2/2); Laplace, by Bernstein's: t = sqrt(2 w L) + L deviations).
        """
        surprise = math.log(2 * self.cells / FALSE_ALARM)
        reach = math.sqrt(2 * width * surprise) + (surprise if self.heavy else 0.0)
        return reach * self.deviation

    def likely(self, width: int) -> float:
        """Return what the next `width` cells beside a range must hold to belong to it.

        A single cell makes a range longer by an eighth, and may be wrong; many may not.
        """
        return LIKELY * self.deviation if width == 1 else self.certain(width)


def bars_of(measured: Measured) -> NoiseBars:
    """Return the bars of one noisy histogram."""
    return NoiseBars(math.sqrt(measured.variance), measured.law.heavy, measured.values.size)


def seen_range(counts: Integers, bars: NoiseBars) -> tuple[int, int] | None:
    """Return the first and the last cell between which the rows lie, as far as the noise shows.

    Cells are joined two by two until a group stands out from the noise: few rows in many cells are
    found as well as many rows in one. Then the range is stretched over what probably belongs to
    it. None where nothing stands out.
    """
    width = 1 << max(0, math.ceil(math.log2(max(1, len(counts)))))
    padded = np.zeros(width)
    padded[: len(counts)] = counts
    found = _hull(padded, 0, width, bars)
    if found is None:
        return None
    first, behind = found[0], min(found[1], len(counts))
    first -= _stretch(counts[:first][::-1], bars)
    behind += _stretch(counts[behind:], bars)
    return first, behind - 1


def _hull(counts: Floats, first: int, behind: int, bars: NoiseBars) -> tuple[int, int] | None:
    """Return (first, behind) of the part of a group that holds rows for certain."""
    total = float(counts[first:behind].sum())
    bar = bars.certain(behind - first)
    if behind - first == 1:
        return (first, behind) if total > bar else None
    middle = (first + behind) // 2
    halves = ((first, middle), (middle, behind))
    parts = [p for half in halves if (p := _hull(counts, *half, bars)) is not None]
    if parts:
        # What lies beside these unseen is left to the stretch, which takes the nearest first: a
        # thin tail must not make the whole group part of the range.
        return parts[0][0], parts[-1][1]
    return (first, behind) if total > bar else None


def _stretch(beside: Integers, bars: NoiseBars) -> int:
    """Return how many of the cells beside a range, nearest first, probably belong to it."""
    taken = 0
    while True:
        rest = beside[taken:]
        widths = [1 << k for k in range(len(rest).bit_length()) if 1 << k <= len(rest)]
        more = [w for w in widths if rest[:w].sum() > bars.likely(w)]
        if not more:
            return taken
        taken += more[0]


def first_look(item: RangeToLearn) -> Coded:
    """Return the column in public cells that cover all of it, gaps apart."""
    return Coded(item.name, item.domain, first_cells(item.domain), missing=True, open_ends=True)


def narrowed(item: RangeToLearn, measured: Measured) -> Coded | None:
    """Return the column with the range that was seen, one code a value or cells for a closer look.

    `measured` counts the cells of `first_look` and, last, the missing ones. None: nothing was seen.
    """
    edges = first_cells(item.domain)
    found = seen_range(measured.values[:-1], bars_of(measured))
    if found is None:
        return None
    first, last = found
    behind = edges[last + 1] if last + 1 < len(edges) else day_domain(item.domain).size
    domain = _part(item.domain, edges[first], behind - 1)
    # Gaps that are declared keep their code, whatever the noise says about how many there are: a
    # column without one would drop every row that has a gap.
    column = Coded(item.name, domain, None, missing=item.missing, open_ends=True)
    if column.positions <= MOST_SINGLE:
        return column
    width = -(-column.positions // CLOSE_CELLS)
    places = {*range(0, column.positions, width)}
    if not isinstance(domain, DateDomain | TimestampDomain):
        # Zero is a value of its own in many columns: nobody has half a child or half a loan.
        # And what is dense near zero and thin far out needs cells that grow with the distance.
        zero = -_lowest(domain)
        places |= {place for place in (zero, zero + 1) if 0 <= place < column.positions}
        places |= set(first_cells(domain))
    return replace(column, edges=tuple(sorted(places)))


def merged(column: Coded, measured: Measured) -> Coded:
    """Return the column with its cells put together to bins of about equal noisy counts."""
    assert column.edges is not None, "single values are not merged"
    deviation = math.sqrt(measured.variance)
    counts = measured.values[: len(column.edges)]
    target = max(float(counts.sum()), 0.0) / BINS
    edges, held, cells = [0], 0.0, 0
    for i, count in enumerate(counts.tolist()):
        seen = held >= LIKELY * deviation * math.sqrt(max(cells, 1))
        enough = seen and (held >= target or _long(column, edges[-1], column.edges[i]))
        alone = count >= max(target, 2 * LIKELY * deviation) and cells
        if i and (enough or alone):
            edges.append(column.edges[i])
            held, cells = 0.0, 0
        held, cells = held + count, cells + 1
    return replace(column, edges=tuple(edges))


def _long(column: Coded, first: int, behind: int) -> bool:
    """Return whether a bin reaches so far that even values inside it would ruin a mean."""
    if not isinstance(column.domain, IntegerDomain | NumberDomain):
        return False
    zero = -_lowest(column.domain)
    near = min(abs(first - zero), abs(behind - zero))
    return behind - first > max(near * LONGEST, column.positions / CLOSE_CELLS)


def _part(domain: Ordered, first: int, last: int) -> Ordered:
    """Return the domain between two positions, both included; numbers in nicer, coarser steps."""
    match domain:
        case IntegerDomain():
            return IntegerDomain(domain.value(first), domain.value(last))
        case DateDomain():
            return DateDomain(domain.value(first), domain.value(last))
        case TimestampDomain():
            begin = domain.lower.date() + dt.timedelta(days=first)
            end = domain.lower.date() + dt.timedelta(days=last)
            return TimestampDomain(
                dt.datetime.combine(begin, dt.time()),
                dt.datetime.combine(end, dt.time(23, 59, 59)),
            )
        case NumberDomain(step=step):
            low, high = domain.value(first), domain.value(last)
            while (high - low) / (step * 10) >= FEWEST_STEPS:
                step *= 10
            return NumberDomain(low // step * step, -(-high // step) * step, step)
