"""The catalog: what the owner has declared, ready for look-ups."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from discreet.catalog.describe import describe
from discreet.catalog.renewal import Renewal
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import Region
from discreet.core.schema import Column, Dataset, Table
from discreet.core.unit import Neighbours
from discreet.errors import CatalogError, NotReviewed, UnknownName

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
