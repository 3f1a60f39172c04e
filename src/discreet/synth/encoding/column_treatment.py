"""What is decided about each column before anything is paid: from the catalog, never from rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from discreet.catalog.catalog import Catalog
from discreet.core.schema import (
    Dataset,
    DateDomain,
    IdentifierDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import InvalidInput, NotReviewed
from discreet.plan.ir import Scan
from discreet.sql.relations import declared_scan
from discreet.synth.encoding.columns import (
    MOST_SINGLE,
    Coded,
    MadeUpIdentifier,
    Ordered,
    binned,
    fine,
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
