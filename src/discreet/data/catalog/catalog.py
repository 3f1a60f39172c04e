"""The catalog: what the owner has declared, ready for look-ups; its budgets, their renewal, and an outline for callers.

A budget that renews says by how much, how often, how many times in all, and for which periods it has. A renewal
forgets nothing. It raises the total, `epsilon`, by an amount that was declared before, once for each period of the
calendar (days, weeks, months, quarters, years). So the total in the file stays what it always is, the most that a
person can lose in all, and what a person can lose over all periods is known from the beginning: `lifetime`.

Guarantee: a policy grants at most `at_most` renewals, at most one for each period, in the order of the calendar. A
clock that is set back renews nothing (its period is not later than the last one granted); one that is set forward
grants one period, and then nothing until the calendar has passed it.

The outline has names, types and domains in words, and nothing from a row.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.base.event import Region
from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    Dataset,
    DateDomain,
    Domain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
    TimestampDomain,
)
from discreet.base.unit import Neighbours
from discreet.data.catalog.axes import describe
from discreet.errors import CatalogError, InvalidInput, NotReviewed, UnknownName


class Every(Enum):
    """How long a period is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"

    def period(self, day: dt.date) -> str:
        """Return the name of the period that `day` lies in; later periods have greater names.

        >>> Every.QUARTER.period(dt.date(2026, 11, 15))
        '2026-Q4'
        """
        match self:
            case Every.DAY:
                return day.isoformat()
            case Every.WEEK:
                year, week, _ = day.isocalendar()
                return f"{year:04}-W{week:02}"
            case Every.MONTH:
                return f"{day.year:04}-{day.month:02}"
            case Every.QUARTER:
                return f"{day.year:04}-Q{(day.month + 2) // 3}"
            case Every.YEAR:
                return f"{day.year:04}"

    def names(self, text: str) -> bool:
        """Return whether `text` has the form of such a period's name."""
        return _FORMS[self].fullmatch(text) is not None


_FORMS = {
    Every.DAY: re.compile(r"\d{4}-\d{2}-\d{2}"),
    Every.WEEK: re.compile(r"\d{4}-W(0[1-9]|[1-4]\d|5[0-3])"),
    Every.MONTH: re.compile(r"\d{4}-(0[1-9]|1[0-2])"),
    Every.QUARTER: re.compile(r"\d{4}-Q[1-4]"),
    Every.YEAR: re.compile(r"\d{4}"),
}


LENGTHS = (Every.MONTH, Every.QUARTER, Every.YEAR)
"""How long the periods of a budget may be: shorter ones would be no budget."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """What was declared, and the periods that were granted.

    `since` is the period that the first total was for. Each renewal adds `epsilon` and `delta` to the
    total, and `share` to every analyst's share (None: shares stay).
    """

    every: Every
    since: str
    epsilon: Epsilon
    delta: Delta
    share: Epsilon | None
    at_most: int
    granted: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        periods = (self.since, *self.granted)
        for name in periods:
            if not self.every.names(name):
                example = self.every.period(dt.date(2026, 11, 15))
                raise CatalogError(
                    f"renew: '{name}' is no {self.every.value}; write it as {example}."
                )
        if any(later <= earlier for earlier, later in pairwise(periods)):
            raise CatalogError(
                "renew: 'granted' holds later and later periods, each once, after 'since'."
            )
        if self.at_most < 1 or len(self.granted) > self.at_most:
            raise CatalogError(
                "renew: 'at_most' is how many renewals there may ever be, at least 1."
            )

    @property
    def left(self) -> int:
        """Return how many renewals may still be granted."""
        return self.at_most - len(self.granted)

    def lifetime(self, total: Epsilon) -> Epsilon:
        """Return the most that a person can lose over all periods, where `total` is in force now."""
        return Epsilon(total.value + self.left * self.epsilon.value)

    def due(self, day: dt.date) -> str:
        """Return the period that a renewal on `day` would be for, or refuse."""
        period, last = self.every.period(day), (self.since, *self.granted)[-1]
        if not self.left:
            raise InvalidInput(
                f"All {self.at_most} renewals that were declared have been granted.",
                hint="More would promise less to everybody: change 'at_most' in discreet.toml if they may lose that much.",
            )
        if period == last:
            raise InvalidInput(
                f"The budget of {period} is in force already.",
                hint=f"It renews once a {self.every.value}.",
            )
        if period < last:
            raise InvalidInput(
                f"This machine's clock says {period}, and {last} was granted before.",
                hint="Set the clock right; a clock that goes back renews nothing.",
            )
        return period

    def words(self, total: Epsilon) -> str:
        """Return the policy in a sentence or two, for people."""
        said = f"{len(self.granted)} of {self.at_most} granted"
        last = f", the last for {self.granted[-1]}" if self.granted else ""
        return (
            f"renews each {self.every.value} by epsilon {self.epsilon}: {said}{last}. Losses add up over periods: "
            f"over all of them a person can lose epsilon {self.lifetime(total)}."
        )


STATE = ".discreet"
ALERT = Fraction(4, 5)
"""The part of a budget after which its owner is told, where discreet.toml says nothing else."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the people of one or several datasets can lose in all.

    `alert`: the part of it after which the owner is told that it nears its end.
    """

    name: str
    epsilon: Epsilon
    delta: Delta
    neighbours: Neighbours
    renewal: Renewal | None = None
    alert: Fraction = ALERT


@dataclass(frozen=True, slots=True)
class DeclaredCap:
    """What one analyst may spend of a budget, on top of the budget's own total."""

    epsilon: Epsilon
    delta: Delta


@dataclass(frozen=True, slots=True)
class DeclaredStorage:
    """Whether places that hold something private must be encrypted; `vouched` is the operator's word for it."""

    encrypted: bool = False
    vouched: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Datasets, budgets and analysts, as the owner declared them.

    `analysts` maps a name to the caps by dataset; empty means that only the local owner asks.
    `unfinished` maps a dataset that cannot be asked yet to the sentence that says what to fill in;
    `waiting` holds the names of its tables. `warnings` are for the owner's eyes. `allow_superuser`:
    the engine's role may be a superuser of its server. `every` has all datasets, also where
    `datasets` are those that one analyst sees.
    """

    base: Path
    engine_url: str
    ledger_url: str
    datasets: Mapping[str, Dataset]
    budgets: Mapping[str, Budget]
    analysts: Mapping[str, Mapping[str, DeclaredCap]] = field(default_factory=dict)
    unfinished: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    allow_superuser: bool = False
    storage: DeclaredStorage = DeclaredStorage()
    path: Path | None = None
    every: Mapping[str, Dataset] = field(default_factory=dict)

    @property
    def state_folder(self) -> Path:
        """Return where this system keeps what is its own: snapshots, packages, tokens."""
        return self.base / STATE

    @property
    def accepted(self) -> bool:
        """Return whether some domains were taken from the data and declared public unseen."""
        return any(dataset.accepted for dataset in self.datasets.values())

    @property
    def sources(self) -> dict[str, str]:
        """Return the engine's name and the source of every table; see `engine_name`."""
        return {
            engine_name(dataset, table): table.source
            for dataset in self.datasets.values()
            for table in dataset.tables
        }

    @property
    def encodings(self) -> dict[str, str]:
        """Return by the engine's name how text files are encoded, where the owner said so."""
        return {
            engine_name(dataset, table): table.encoding
            for dataset in self.datasets.values()
            for table in dataset.tables
            if table.encoding
        }

    def dataset(self, name: str) -> Dataset:
        """Return the dataset called `name`, without regard to upper and lower case."""
        for known, dataset in self.datasets.items():
            if known.lower() == name.lower():
                return dataset
        for known, sentence in self.unfinished.items():
            if known.lower() == name.lower():
                raise NotReviewed(sentence)
        raise UnknownName(f"There is no dataset '{name}'.", hint=_near(name, self.datasets))

    def named(self, written: str) -> tuple[Dataset, Table]:
        """Return the dataset and the table that `written` means: TABLE or DATASET.TABLE."""
        dataset, dot, name = written.rpartition(".")
        return self.find(name, dataset if dot else None)

    def table(self, name: str, dataset: str | None = None) -> Table:
        """Return the table called `name`; see `find`."""
        return self.find(name, dataset)[1]

    def dataset_of(self, table: Table | str) -> Dataset:
        """Return the dataset that holds `table`."""
        if isinstance(table, str):
            return self.find(table)[0]
        for dataset in self.datasets.values():
            if any(table is mine for mine in dataset.tables):
                return dataset
        raise UnknownName(f"Table '{table.name}' is not in this catalog.")

    def column(self, table: Table, name: str) -> Column:
        """Return the column if queries may read it; otherwise refuse and say what to edit.

        A hidden column is refused like one that is not there: whoever asks may not know its name.
        """
        column = table.column(name)
        if column.hidden:
            raise table.no_column(name)
        if not column.reviewed:
            raise NotReviewed(
                f"Column '{column.name}' of table '{table.name}' waits for the owner's review.",
                hint="Its domain was read from the data. In discreet.toml check it against public "
                "knowledge, correct it, and remove 'review = true'.",
            )
        return column

    def budget_of(self, dataset: Dataset) -> Budget:
        """Return the budget that pays for releases from `dataset`."""
        return self.budgets[dataset.budget]

    def cap(self, analyst: str, dataset: Dataset) -> DeclaredCap:
        """Return what `analyst` may spend on `dataset`, or refuse."""
        if analyst not in self.analysts:
            hint = "Add them under [analysts] in discreet.toml."
            raise UnknownName(f"There is no analyst '{analyst}'.", hint=hint)
        found = self.analysts[analyst].get(dataset.name)
        if found is None:
            hint = f"Add it to [analysts.{analyst}] in discreet.toml."
            raise CatalogError(f"Analyst '{analyst}' may not ask '{dataset.name}'.", hint=hint)
        return found

    def caps_by_budget(self, analyst: str) -> dict[str, DeclaredCap]:
        """Return the caps of `analyst` by the budget that pays."""
        caps = self.analysts[analyst].items()
        return {self.datasets[name].budget: cap for name, cap in caps if name in self.datasets}

    def describe_region(self, region: Region) -> str:
        """Return `region` in plain words."""
        return describe(region, self.datasets)

    def find(self, name: str, dataset: str | None = None) -> tuple[Dataset, Table]:
        """Return the table called `name` and its dataset; where two have one, `dataset` must say which."""
        within = self.datasets.values() if dataset is None else (self.dataset(dataset),)
        found = [(d, t) for d in within for t in d.tables if t.name.lower() == name.lower()]
        if len(found) == 1:
            return found[0]
        if found:
            written = " or ".join(f"{d.name}.{t.name}" for d, t in found)
            raise UnknownName(f"Table '{name}' is in several datasets.", hint=f"Write {written}.")
        if dataset is None:
            self._refuse_unfinished(name)
        known = [t.name for d in within for t in d.tables]
        raise UnknownName(f"There is no table '{name}'.", hint=_near(name, known))

    def _refuse_unfinished(self, table: str) -> None:
        for dataset, tables in self.waiting.items():
            if table.lower() in (name.lower() for name in tables):
                raise NotReviewed(self.unfinished[dataset])


def engine_name(dataset: Dataset, table: Table) -> str:
    """Return the name under which the engine knows `table`: unique over all datasets."""
    return f"{dataset.name}.{table.name}"


def _near(name: str, known: Iterable[str]) -> str:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"There are: {', '.join(names)}." if names else "None is ready yet."


MAX_VALUES = 200
"""A longer list of categories is told by its number and its first values only."""

_TYPES: dict[type[Domain], str] = {
    BooleanDomain: "boolean",
    CategoryDomain: "category",
    DateDomain: "date",
    IdentifierDomain: "identifier",
    IntegerDomain: "integer",
    NumberDomain: "number",
    TextDomain: "text",
    TimestampDomain: "timestamp",
}


def outline(catalog: Catalog, datasets: Collection[str]) -> dict[str, Any]:
    """Return tables, columns, types, domains and units of the named datasets."""
    return {
        name: {
            "tables": {table.name: _table(table) for table in dataset.tables},
            "protects": _protects(dataset),
            "neighbours": dataset.neighbours.value,
            "budget": dataset.budget,
            "accepted": dataset.accepted,
            "public_rows": dataset.public_rows,
        }
        for name, dataset in catalog.datasets.items()
        if name in datasets
    }


def _protects(dataset: Dataset) -> str:
    units = [str(table.unit) for table in dataset.tables if table.unit is not None]
    return units[0] if units else "nobody: all tables are public"


def _table(table: Table) -> dict[str, Any]:
    return {
        "public": table.public,
        "unit": "public" if table.unit is None else str(table.unit),
        "max_rows": table.max_rows,
        "columns": {column.name: _column(column) for column in table.columns if not column.hidden},
    }


def _column(column: Column) -> dict[str, Any]:
    domain = column.domain
    facts: dict[str, Any] = {
        "type": _TYPES[type(domain)],
        "domain": domain.words(),
        "missing": column.missing,
        "reviewed": column.reviewed,
    }
    if column.complete:
        facts["complete"] = True
    if not column.reviewed:
        # What was only read from the data is not public until the owner says so.
        return facts | {"domain": "waits for the owner's review"}
    if isinstance(domain, CategoryDomain):
        facts["values"] = list(domain.values[:MAX_VALUES])
        facts["size"] = domain.size
    elif isinstance(domain, IntegerDomain):
        facts |= {"lower": domain.lower, "upper": domain.upper}
    elif isinstance(domain, NumberDomain):
        facts |= {
            "lower": float(domain.lower),
            "upper": float(domain.upper),
            "step": float(domain.step),
        }
    elif isinstance(domain, DateDomain | TimestampDomain):
        facts |= {"lower": domain.lower.isoformat(), "upper": domain.upper.isoformat()}
    return facts
