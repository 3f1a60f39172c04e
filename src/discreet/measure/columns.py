"""How the columns of a table become small codes, and back: public facts only.

What is decided about each column before anything is paid follows from the catalog, never from rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from discreet.ask.plan.ir import Scan
from discreet.ask.sql.relations import declared_scan
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Dataset,
    DateDomain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.data.catalog.catalog import Catalog
from discreet.errors import InvalidInput, NotReviewed
from discreet.measure.shape import Shape

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


WIDE_DAYS = 150 * 366
WIDE_POSITIONS = 2**40
"""Ranges beyond these say nothing about where the values lie: equal bins over them would be empty."""


class Bins(Enum):
    """How numbers and days with many values are divided."""

    AUTO = "auto"
    EQUAL = "equal"
    QUANTILE = "quantile"


@dataclass(frozen=True, slots=True)
class RangeToLearn:
    """Numbers or days whose bins are learned with budget, inside the declared `domain`."""

    name: str
    domain: Ordered
    missing: bool


@dataclass(frozen=True, slots=True)
class WordsToLearn:
    """Text without a declared list: its common values are learned by a threshold, with delta."""

    name: str


Item: TypeAlias = Coded | MadeUpIdentifier | RangeToLearn | WordsToLearn


@dataclass(frozen=True, slots=True)
class Outline:
    """One table, how each of its columns will be treated, and what the owner should know."""

    scan: Scan
    items: tuple[Item, ...]
    notices: tuple[str, ...] = field(default=())

    @property
    def dataset(self) -> Dataset:
        """Return the dataset that the table belongs to."""
        assert self.scan.dataset is not None, "a private table belongs to a dataset"
        return self.scan.dataset

    @property
    def table(self) -> Table:
        """Return the table."""
        return self.scan.table

    @property
    def ranges(self) -> tuple[RangeToLearn, ...]:
        """Return the columns whose bins must be learned."""
        return tuple(item for item in self.items if isinstance(item, RangeToLearn))

    @property
    def words(self) -> tuple[WordsToLearn, ...]:
        """Return the columns whose values must be learned."""
        return tuple(item for item in self.items if isinstance(item, WordsToLearn))


def scan_of(catalog: Catalog, table: str) -> Scan:
    """Return the private table called `table` (or `dataset.table`) with the columns that may be read."""
    dataset, found = catalog.named(table)
    if found.public:
        raise InvalidInput(f"Table '{found.name}' is public: it needs no synthetic copy.")
    return declared_scan(dataset, found)


def outline_of(
    catalog: Catalog,
    table: str,
    *,
    bins: Bins,
    has_delta: bool,
    many: bool = False,
) -> Outline:
    """Return how each column will be treated: by what is declared, whatever it is stored as.

    `many`: numbers and days may have many bins, since the method puts neighbours together.
    """
    scan = scan_of(catalog, table)
    readable = {f.origin.column.name for f in scan.fields if f.origin is not None}
    items: list[Item] = []
    notices: list[str] = []
    for column in scan.table.columns:
        name = column.name
        own = scan.table.unit is not None and name == scan.table.unit.column
        if column.hidden and not own:
            continue  # unsaid: whoever asks may not know its name
        if not column.reviewed:
            notices.append(f"Column '{name}' waits for the owner's review and was left out.")
            continue
        if name not in readable:
            continue
        domain = column.domain
        if own or isinstance(domain, IdentifierDomain):
            items.append(MadeUpIdentifier(name))
            notices.append(f"The values of '{name}' are made up: it identifies.")
        elif isinstance(domain, TextDomain):
            if has_delta:
                items.append(WordsToLearn(name))
            else:
                notices.append(
                    f"Column '{name}' is free text and was left out: learning its common values "
                    "needs delta."
                )
        else:
            items.append(_finite(Coded(name, domain, missing=column.missing), bins, many=many))
    if not any(not isinstance(item, MadeUpIdentifier) for item in items):
        _refuse(scan.table)
    return Outline(scan, tuple(items), tuple(notices))


def _finite(column: Coded, bins: Bins, *, many: bool) -> Item:
    domain = column.domain
    if isinstance(domain, Ordered) and column.positions > MOST_SINGLE:
        learned = bins is Bins.QUANTILE or (bins is Bins.AUTO and is_wide(domain))
        if learned:
            return RangeToLearn(column.name, domain, column.missing)
    return fine(column) if many else binned(column)


def is_wide(domain: Ordered) -> bool:
    """Return whether a range is so wide that equal bins over it would nearly all be empty."""
    if isinstance(domain, DateDomain | TimestampDomain):
        return (domain.upper - domain.lower).days > WIDE_DAYS
    return domain.size > WIDE_POSITIONS


def _refuse(table: Table) -> None:
    if any(not column.reviewed for column in table.columns):
        raise NotReviewed(
            f"No column of table '{table.name}' can be used yet: all wait for the owner's review.",
            hint="Check the domains in discreet.toml and remove 'review = true'.",
        )
    raise InvalidInput(
        f"Table '{table.name}' has no column that a synthetic copy could keep.",
        hint="Declare at least one column as integer, number, category, boolean or date.",
    )
