"""Public facts about tables: names, units and declared domains. Nothing here comes from a row."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.base.spelling import PLAIN, Spelling
from discreet.base.unit import Neighbours, PrivacyUnit, UnitPath
from discreet.errors import CatalogError, UnknownName

SECONDS = 86_400
"""Seconds of a day."""

MAX_PUBLIC_KEYS = 10_000
"""Integers and dates with at most this many declared values may be grouped by as public keys."""


@dataclass(frozen=True, slots=True)
class IntegerDomain:
    """Whole numbers from `lower` to `upper`."""

    lower: int
    upper: int

    def __post_init__(self) -> None:
        _ordered(self.lower, self.upper)

    @property
    def size(self) -> int:
        """Return how many values there are, NULL not counted."""
        return self.upper - self.lower + 1

    def value(self, position: int) -> int:
        """Return the value at `position`."""
        return self.lower + position

    def words(self) -> str:
        """Return the domain in plain words."""
        return f"{self.lower:,} to {self.upper:,}"


@dataclass(frozen=True, slots=True)
class NumberDomain:
    """The lattice lower, lower + step, ... up to `upper`; values between are rounded to it."""

    lower: Fraction
    upper: Fraction
    step: Fraction

    def __post_init__(self) -> None:
        _ordered(self.lower, self.upper)
        if self.step <= 0:
            raise CatalogError("step must be greater than 0.")
        if (self.lower / self.step).denominator != 1 or (self.upper / self.step).denominator != 1:
            raise CatalogError("lower and upper must be multiples of step.")

    @property
    def size(self) -> int:
        """Return how many lattice points there are, NULL not counted."""
        return int((self.upper - self.lower) / self.step) + 1

    def value(self, position: int) -> Fraction:
        """Return the value at `position`."""
        return self.lower + position * self.step

    def words(self) -> str:
        """Return the domain in plain words."""
        return f"{float(self.lower):,g} to {float(self.upper):,g} in steps of {float(self.step):g}"


@dataclass(frozen=True, slots=True)
class CategoryDomain:
    """A closed list of texts; anything else counts as NULL."""

    values: tuple[str, ...]
    _index: dict[str, int] = field(
        init=False, repr=False, compare=False, hash=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        if not self.values:
            raise CatalogError("a category needs at least one value.")
        self._index.update((value, i) for i, value in enumerate(self.values))
        if len(self._index) != len(self.values):
            raise CatalogError("a category lists the same value twice.")

    @property
    def size(self) -> int:
        """Return how many values there are, NULL not counted."""
        return len(self.values)

    def value(self, position: int) -> str:
        """Return the value at `position`."""
        return self.values[position]

    def position(self, value: str) -> int | None:
        """Return where `value` stands, or None if it is not declared."""
        return self._index.get(value)

    def words(self) -> str:
        """Return the domain in plain words."""
        shown = ", ".join(self.values[:5])
        return shown if self.size <= 5 else f"{self.size:,} values: {shown}, …"


@dataclass(frozen=True, slots=True)
class BooleanDomain:
    """False and true."""

    @property
    def size(self) -> int:
        """Return how many values there are, NULL not counted."""
        return 2

    def value(self, position: int) -> bool:
        """Return the value at `position`."""
        return bool(position)

    def words(self) -> str:
        """Return the domain in plain words."""
        return "false, true"


@dataclass(frozen=True, slots=True)
class DateDomain:
    """Days from `lower` to `upper`."""

    lower: dt.date
    upper: dt.date

    def __post_init__(self) -> None:
        _ordered(self.lower, self.upper)

    @property
    def size(self) -> int:
        """Return how many days there are, NULL not counted."""
        return (self.upper - self.lower).days + 1

    def value(self, position: int) -> dt.date:
        """Return the day at `position`."""
        return self.lower + dt.timedelta(days=position)

    def words(self) -> str:
        """Return the domain in plain words."""
        return f"{self.lower} to {self.upper}"


@dataclass(frozen=True, slots=True)
class TimestampDomain:
    """Whole seconds from `lower` to `upper`, both without a time zone and read as UTC.

    `step`: in so many seconds; declared ones have 1, those cut to the hour 3,600.
    """

    lower: dt.datetime
    upper: dt.datetime
    step: int = field(default=1, repr=False)  # not in the fingerprint of what is declared

    def __post_init__(self) -> None:
        for bound in (self.lower, self.upper):
            if bound.tzinfo is not None or bound.microsecond:
                raise CatalogError("the bounds of a timestamp are whole seconds without a zone.")
        if type(self.step) is not int or self.step < 1:
            raise CatalogError("the step of a timestamp is a whole number of seconds, at least 1.")
        _ordered(self.lower, self.upper)

    @property
    def size(self) -> int:
        """Return how many moments there are, NULL not counted."""
        return (self.upper - self.lower) // dt.timedelta(seconds=self.step) + 1

    def value(self, position: int) -> dt.datetime:
        """Return the moment at `position`."""
        return self.lower + dt.timedelta(seconds=position * self.step)

    def words(self) -> str:
        """Return the domain in plain words."""
        return f"{self.lower} to {self.upper}"


@dataclass(frozen=True, slots=True)
class IdentifierDomain:
    """Names a person or a thing; only joined on or counted, never shown or compared."""

    def words(self) -> str:
        """Return the domain in plain words."""
        return "identifier"


@dataclass(frozen=True, slots=True)
class TextDomain:
    """Free text: never read by a query, except as a private group key where that is allowed."""

    def words(self) -> str:
        """Return the domain in plain words."""
        return "free text"


FiniteDomain: TypeAlias = (
    IntegerDomain | NumberDomain | CategoryDomain | BooleanDomain | DateDomain | TimestampDomain
)
Domain: TypeAlias = FiniteDomain | IdentifierDomain | TextDomain


IMMUTABLE_WORDS = (
    "You promise that nobody's value changes in any later rows, also from another file, table or database. "
    "It is not checked: where it is not so, people lose more than they are charged for."
)
"""What an owner promises of a column declared `immutable`: bills are split by its values for ever."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column and what the owner has declared about it.

    `constant`: all rows of one unit carry one value (enforced by the generated SQL, never believed).
    `missing`: values may be missing or unknown, so NULL is listed among the keys of a GROUP BY.
    `complete`: a row without a declared value is left out of every question, so no row lacks one
    (enforced by the generated SQL, never believed).
    `immutable`: a person keeps the value across snapshots. `reviewed`: the owner said it is public.
    `spelling`: how cells are written where the source keeps them as texts. `moment`: the column is
    the second of the day of a timestamp, which is declared so. `fingerprint`: a short hash of the
    domain and its spelling, so that what is read in another way is a new axis.
    """

    name: str
    domain: Domain
    hidden: bool = False
    constant: bool = False
    immutable: bool = False
    missing: bool = False
    complete: bool = False
    reviewed: bool = True
    spelling: Spelling = PLAIN
    moment: TimestampDomain | None = None
    fingerprint: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        # Once, here: a category may list 40,000 codes, and every region asks for the fingerprint.
        spelled = repr(self.domain) + ("" if self.spelling == PLAIN else repr(self.spelling))
        digest = hashlib.sha256(spelled.encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "fingerprint", digest[:16])

    def by_day(self) -> Column:
        """Return the column as queries read it: a timestamp counts as its day."""
        if not isinstance(self.domain, TimestampDomain):
            return self
        return replace(self, domain=DateDomain(self.domain.lower.date(), self.domain.upper.date()))

    def clock(self) -> Column | None:
        """Return the second of the day of a timestamp as a column of its own, None for others."""
        if not isinstance(self.domain, TimestampDomain):
            return None
        return replace(self, domain=IntegerDomain(0, SECONDS - 1), moment=self.domain)


class Refresh(Enum):
    """When questions begin to read newer rows: at times that everybody may know, or at any change."""

    MANUAL = "manual"
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    ON_CHANGE = "on-change"

    def period(self, now: dt.datetime) -> str:
        """Return the name of the period that `now` lies in, in UTC; empty where there are no periods."""
        moment = now.astimezone(dt.UTC)
        match self:
            case Refresh.HOURLY:
                return f"{moment:%Y-%m-%dT%H}"
            case Refresh.DAILY:
                return f"{moment:%Y-%m-%d}"
            case Refresh.WEEKLY:
                return f"{moment:%G-W%V}"
            case Refresh.MONTHLY:
                return f"{moment:%Y-%m}"
            case _:
                return ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: where it lies, whom its rows belong to, and its columns.

    `unit` is None for a public table. `max_rows` bounds how many rows of one unit are kept
    (1 for row units); for a public table it is the greatest number of rows with one join key.
    `bounded`: that bound is applied once to the whole table, which is then stored and reused.
    `copied`: a database or cluster may store a canonical copy of it, which questions then read.
    `rules` are conditions that every row of a synthetic copy keeps, as they were written.
    `encoding` is that of its text files, empty for UTF-8. `rows_kept`: the owner declares that
    `max_rows` keeps at least this share of the rows. `path`: over which tables the unit is reached;
    its last column then stands in every row of this table.
    `parent`: the table of the same dataset whose rows these belong to, where it is not people's own.
    `events`: the day by which the rows of one parent follow each other, in linked copies.
    `stands_for`: the declared table that this is another reading of, whose versions are its own.
    """

    name: str
    source: str
    unit: PrivacyUnit | None
    columns: tuple[Column, ...]
    max_rows: int | None = None
    version: str | None = None
    bounded: bool = False
    copied: bool = False
    rules: tuple[str, ...] = ()
    encoding: str = ""
    rows_kept: Fraction | None = None
    path: UnitPath | None = None
    parent: str | None = None
    events: str | None = None
    stands_for: Table | None = field(default=None, repr=False)

    @property
    def public(self) -> bool:
        """Return whether this table holds public facts only, nobody's rows."""
        return self.unit is None

    @property
    def declaration(self) -> str:
        """Return a hash of all that is declared of this table alone and can change an answer.

        What only synthetic copies go by cannot. Which columns are stored is told by `CanonicalRecipe.declared`.
        """
        told = [getattr(self, each.name) for each in fields(self) if each.name not in _NO_ANSWER]
        columns = [
            [getattr(column, each.name) for each in fields(column) if each.name not in _NO_CELL]
            for column in self.columns
        ]
        said = repr((told, columns)).encode("utf-8", "surrogatepass")
        return hashlib.sha256(said).hexdigest()

    def column(self, name: str) -> Column:
        """Return the column called `name`, without regard to upper and lower case."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        raise self.no_column(name)

    def no_column(self, name: str) -> UnknownName:
        """Return the refusal of a column that is not there, or that the owner hides: they read the same."""
        known = ", ".join(column.name for column in self.columns if not column.hidden)
        return UnknownName(
            f"Table '{self.name}' has no column '{name}'.", hint=f"Its columns: {known}."
        )


@dataclass(frozen=True, slots=True)
class Dataset:
    """Tables that hold the same people, and the budget that protects them.

    `budget` names the account that pays; several datasets of the same people may share one.
    `accepted`: the domains were inferred from the data and declared public unseen, which every
    answer must say. `seconds` and `memory_mb` limit one query; None leaves the engine's own limit.
    `second_person`: a release must be approved by somebody else than who drafted it.
    `public_rows`: the owner declared that every row may be known by everybody, so that a class may
    rehearse on them with noise that repeats; other questions are answered as ever.
    `refresh`: when questions begin to read newer rows.
    """

    name: str
    tables: tuple[Table, ...]
    neighbours: Neighbours
    budget: str
    accepted: bool = False
    seconds: Fraction | None = None
    memory_mb: int | None = None
    second_person: bool = False
    public_rows: bool = False
    refresh: Refresh = Refresh.ON_CHANGE


_NO_ANSWER = frozenset({"columns", "stands_for", "rules", "rows_kept", "events", "parent"})
_NO_CELL = frozenset(
    {"domain", "spelling", "hidden", "reviewed"}
)  # the fingerprint has the first two


def _ordered(lower: Any, upper: Any) -> None:
    if not lower <= upper:
        raise CatalogError(f"lower ({lower}) must not be above upper ({upper}).")
