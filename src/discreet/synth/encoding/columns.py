"""How the columns of a table become small codes, and back: public facts only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
    TimestampDomain,
)
from discreet.errors import InvalidInput
from discreet.synth.encoding.shape import Shape

MOST_SINGLE = 256
"""Whole numbers and days with at most this many values keep one code for each value."""

BINS = 32
"""Other numbers and days get this many bins: enough for a shape, few enough for small noise."""

FINE_BINS = 64
"""Bins of equal width for methods that put neighbouring bins together where they are mostly noise."""

FINEST = 256
"""The smallest bin beside zero is this part of an equal one."""

MOST_CODES = 4096
"""No column may have more codes: pairs of two such columns would have 16 million cells."""

Ordered: TypeAlias = IntegerDomain | NumberDomain | DateDomain | TimestampDomain


@dataclass(frozen=True, slots=True)
class Coded:
    """One column of codes.

    `edges` are the first positions of the bins, ascending, the first of them 0; None where every
    value of the domain has its own code. `missing`: the last code stands for NULL and for
    everything outside the domain. `open_ends`: values beyond the domain count in the first and last
    bin instead (learned ranges). Positions of a timestamp are days. `stems`: that many of a
    category's last values stand for all texts that begin so and are no other value; longer first.
    """

    name: str
    domain: FiniteDomain
    edges: tuple[int, ...] | None = None
    missing: bool = False
    open_ends: bool = False
    stems: int = 0

    @property
    def positions(self) -> int:
        """Return how many positions the domain has; a timestamp is counted in days."""
        return day_domain(self.domain).size

    @property
    def values(self) -> int:
        """Return how many codes stand for values, NULL not counted."""
        return self.positions if self.edges is None else len(self.edges)

    @property
    def size(self) -> int:
        """Return how many codes there are."""
        return self.values + self.missing

    def span(self, code: int) -> tuple[int, int]:
        """Return the first position of a code's values and the first one behind them."""
        if self.edges is None:
            return code, code + 1
        last = code + 1 == len(self.edges)
        return self.edges[code], self.positions if last else self.edges[code + 1]


@dataclass(frozen=True, slots=True)
class MadeUpIdentifier:
    """An identifier: no value of it is read; every synthetic row gets a new one, a whole number.

    Not what the column is stored as now: that may follow from rows, which nobody paid for. Earlier
    versions looked at it, and what they learned may make texts (`whole` is False).
    """

    name: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Encoding:
    """All columns of a synthetic table, in the order of the real one."""

    table: str
    columns: tuple[Coded | MadeUpIdentifier, ...]

    @property
    def coded(self) -> tuple[Coded, ...]:
        """Return the columns that a method sees."""
        return tuple(column for column in self.columns if isinstance(column, Coded))

    @property
    def shape(self) -> Shape:
        """Return names and sizes as methods see them."""
        return shape_of(self.coded)

    def index(self, name: str) -> int:
        """Return the place of a column among the coded ones."""
        for i, column in enumerate(self.coded):
            if column.name.lower() == name.lower():
                return i
        raise InvalidInput(f"The synthetic table has no column '{name}'.")


def shape_of(columns: Sequence[Coded]) -> Shape:
    """Return some columns as methods see them."""
    ordered = {
        i: column.values
        for i, column in enumerate(columns)
        if column.edges is not None and isinstance(column.domain, IntegerDomain | NumberDomain)
    }
    return Shape(
        tuple(column.name for column in columns),
        tuple(column.size for column in columns),
        ordered,
        frozenset(i for i, column in enumerate(columns) if column.missing),
    )


def day_domain(domain: FiniteDomain) -> FiniteDomain:
    """Return the domain that positions are counted in: a timestamp counts as its day."""
    if isinstance(domain, TimestampDomain):
        return DateDomain(domain.lower.date(), domain.upper.date())
    return domain


def equal_edges(positions: int, bins: int = BINS) -> tuple[int, ...] | None:
    """Return the first positions of bins of equal width; None where single values are few enough.

    >>> equal_edges(100) is None
    True
    >>> equal_edges(1000, bins=4)
    (0, 250, 500, 750)
    """
    if positions <= MOST_SINGLE:
        return None
    width = -(-positions // bins)
    return tuple(range(0, positions, width))


def round_width(positions: int, step: Fraction, bins: int = BINS) -> int:
    """Return a bin width in positions that is 1, 2 or 5 times a power of ten in the column's own
    unit where the step allows it, and gives at most about `bins` bins.

    >>> round_width(500_001, Fraction(1))
    20000
    """
    least = -(-positions // bins)
    wanted = least * step
    power = Fraction(1)
    while power * 10 <= wanted:
        power *= 10
    while power > wanted:
        power /= 10
    for factor in (1, 2, 5, 10):
        width = power * factor / step
        if width >= least and width.denominator == 1:
            return int(width)
    return least


def fine(column: Coded) -> Coded:
    """Return the column with many public bins: equal ones, and finer ones towards zero.

    For methods that count neighbouring bins together as far as noise makes them. Money, sizes and
    times are dense near zero and thin far out: four bins to each doubling keep their tails.
    """
    coarse = binned(column, FINE_BINS)
    domain = column.domain
    if coarse.edges is None or not isinstance(domain, IntegerDomain | NumberDomain):
        return coarse
    zero = -int(domain.lower if isinstance(domain, IntegerDomain) else domain.lower / domain.step)
    width = -(-column.positions // FINE_BINS)
    distances = [0, 1]
    step = Fraction(max(width, FINEST) // FINEST)
    while step < 4 * width:
        distances += [int(step), int(step * 5 / 4), int(step * 6 / 4), int(step * 7 / 4)]
        step *= 2
    near = {zero + d for d in distances} | {zero + 1 - d for d in distances}
    inside = {place for place in near if 0 < place < column.positions}
    return replace(column, edges=tuple(sorted({*coarse.edges, *inside})))


def binned(column: Coded, bins: int = BINS) -> Coded:
    """Return the column with public equal-width bins where it has too many values for codes."""
    domain = column.domain
    if isinstance(domain, BooleanDomain | CategoryDomain):
        if column.size > MOST_CODES:
            raise too_many(column.name, column.values)
        return column
    if column.positions <= MOST_SINGLE:
        return column
    step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
    if isinstance(domain, DateDomain | TimestampDomain):
        return replace(column, edges=equal_edges(column.positions, bins))
    width = round_width(column.positions, step, bins)
    low = domain.lower if isinstance(domain, IntegerDomain) else domain.lower / domain.step
    # Bins begin at round numbers: at multiples of the width, whatever the lower bound is.
    first = int(low) // width * width + width - int(low)
    return replace(column, edges=(0, *range(first, column.positions, width)))


def stem_text(stem: str) -> str:
    """Return how a stem is written in a copy: texts that begin so, whichever they are.

    >>> stem_text("A12")
    'A12*'
    """
    return f"{stem}*"


def too_many(name: str, values: int) -> InvalidInput:
    """Return the refusal of a column with more values than codes."""
    return InvalidInput(
        f"Column '{name}' has {values:,} declared values, more than the {MOST_CODES:,} that a "
        "synthetic column can have.",
        hint="Declare the column as text (common values are then learned, rare codes kept by how they "
        "begin), declare the common values only, or hide the column.",
    )
