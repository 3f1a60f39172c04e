"""Commands on a bare file: its discreet.toml and ledger, and types and ranges that are paid for first.

Which table FILE|TABLE means; who asks for something, and under which id; a bare file made ready for a copy or a
model. A command that is refused before anything was paid leaves no declaration behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self, TypeVar

import sqlglot

from discreet.base.bill import NOTHING_SPENT, OWNER, Bill, Charged, Spent, require_named
from discreet.base.event import EVERYONE, Composed, Cost
from discreet.base.numbers import Delta, Epsilon
from discreet.curator import open as open_curator
from discreet.data.catalog.bare_file import (
    BareTable,
    bare_table,
    is_untyped,
    put_back,
    rebound,
    retype,
)
from discreet.data.catalog.policy_file import FILE_NAME, load
from discreet.errors import DiscreetError, InvalidInput, UnknownName
from discreet.measure.budget import synth_budget
from discreet.measure.learned_types import (
    is_unbounded,
    learn_bounds,
    learn_types,
    types_are_paid,
)
from discreet.privacy.ledger.entry import Entry, Payer, checked_name


@contextmanager
def rollback_unless_paid(bare: BareTable) -> Iterator[None]:
    """Take back the discreet.toml that was written for a command, if the command ends unpaid.

    The limit of a bare file is the epsilon of its first command. A refusal must not leave that limit
    behind: the next command would be held to a budget under which nothing was ever bought.

    Guarantee: a declaration under which anything was charged, or left without a guarantee, stays, and
        so does one that somebody has changed since. The ledger's history is never touched.
    """
    try:
        yield
    except BaseException:
        if bare.before != bare.after and _nothing_left(bare):
            put_back(bare)
        raise


def _nothing_left(bare: BareTable) -> bool:
    """Return whether the ledger knows of nothing that has left the table's dataset."""
    try:
        with open_curator(bare.config) as curator:
            dataset = curator.catalog.datasets[bare.dataset]
            charges = curator.ledger.spent(dataset.budget).charges
            return not charges and curator.ledger.exposed(bare.dataset) is None
    except (DiscreetError, KeyError):
        return False  # what cannot be read is left as it is


@dataclass(frozen=True, slots=True)
class AskedBy:
    """Whose share pays for what is asked, and the request id that it was given, if any."""

    analyst: str | None
    request_id: str | None

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Self | None:
        """Return who asks, if the fields of a request say so."""
        return cls(asked["analyst"], asked["request_id"] or None) if "analyst" in asked else None

    def check(self, config: Path) -> None:
        """Refuse an id or an analyst that the ledger would refuse, before anything is declared or paid."""
        if self.request_id is not None:
            checked_name(self.request_id, name="request id")
        known = load(config).analysts if config.is_file() else {}
        require_named(self.analyst, known)
        if self.analyst not in (None, OWNER, *known):
            raise UnknownName(
                f"There is no analyst '{self.analyst}'.",
                hint="Add them under [analysts] in discreet.toml.",
            )

    def check_share(self, bare: BareTable) -> None:
        """Refuse an analyst without a share in what pays for a table."""
        with open_curator(bare.config) as curator:
            budget = curator.catalog.datasets[bare.dataset].budget
            curator.ledger.spent(budget, curator.account_of(self.analyst))


@dataclass(frozen=True, slots=True)
class EarlierLooks:
    """What of a table was paid for before its copy: its types, its ranges; `all_paid`: the copy, too."""

    types: bool = False
    ranges: bool = False
    all_paid: bool = False


@dataclass(frozen=True, slots=True)
class LookPrices:
    """The whole epsilon that is asked for, what types take of it and cost, and what ranges do, if wanted."""

    whole: Fraction
    types_part: Fraction
    types: Fraction
    ranges: Fraction | None

    def left(self, looks: EarlierLooks) -> Fraction:
        """Return what is left of the whole after these looks."""
        ranges = self.ranges if looks.ranges and self.ranges is not None else Fraction(0)
        return self.whole - (self.types_part if looks.types else 0) - ranges


def earlier_looks(bare: BareTable, asker: AskedBy, prices: LookPrices) -> EarlierLooks:
    """Return which looks at a typed table were paid for by the request that is asked again.

    The table has types by now, so nothing but the ledger remembers that the first time only a part of
    epsilon was left. If the id was charged, its price says which looks came before it; if it was not,
    looks that are the last charges of the budget are those of a command that was ended between them.
    """
    assert asker.request_id is not None, "only what has a name can be asked again"
    with open_curator(bare.config) as curator:
        budget = curator.catalog.datasets[bare.dataset].budget
        own = curator.ledger.charge_of(curator.account_of(asker.analyst), asker.request_id)
        charges = [each for each in curator.ledger.history(budget) if each.kind == "charge"]
    if own is None:
        return _last_looks(bare, charges, prices)
    if own.kind != "charge" or own.data["dataset"] != bare.dataset:
        return EarlierLooks()
    paid = _epsilon(own)
    before = [each for each in charges if each.position < own.position]
    there = {
        "types": any(_is_look(each, "types", bare, prices.types) for each in before),
        "ranges": any(_is_look(each, "ranges", bare, prices.ranges) for each in before),
    }
    for types in sorted({False, there["types"]}):
        for ranges in sorted({False, there["ranges"]}):
            looks = EarlierLooks(types, ranges, all_paid=True)
            if prices.left(looks) == paid:
                return looks
    return EarlierLooks()


def _last_looks(bare: BareTable, charges: Sequence[Entry], prices: LookPrices) -> EarlierLooks:
    ranges = bool(charges) and _is_look(charges[-1], "ranges", bare, prices.ranges)
    rest = charges[:-1] if ranges else charges
    types = bool(rest) and _is_look(rest[-1], "types", bare, prices.types)
    return EarlierLooks(types, ranges)


def _is_look(entry: Entry, kind: str, bare: BareTable, price: Fraction | None) -> bool:
    named = entry.data["analyst"] is None
    named = named and entry.data["request_id"].startswith(f"{kind} {bare.table} ")
    return named and price is not None and _epsilon(entry) == price


def _epsilon(entry: Entry) -> Fraction | None:
    return Cost.from_json(entry.data["cost"]).epsilon


PURE = (Fraction(1, 10), Fraction(9, 10))
"""Parts of epsilon for the types of a text file's columns and for the copy, without a delta."""

CONCENTRATED = (Fraction(1, 5), Fraction(94, 100))
"""The same with a delta: squares of these add up to less than 1, as zCDP adds."""

RANGES = Fraction(1, 10)
"""The part of epsilon for the ranges of numbers, where they are needed."""

RISK = Fraction(1, 10)
"""The part of delta for the types."""


@dataclass(frozen=True, slots=True)
class PaidFirst:
    """What types and ranges take of the budget that was asked for, before what it was asked for is paid.

    `part` is what of it is no longer there, `price` what was charged: squares of the parts add up, with a
    delta. `before`: what was spent until then.
    """

    part: Spent
    price: Spent
    before: Spent

    def and_also(self, price: Spent) -> PaidFirst:
        """Return this, with something more that was paid for out of what is left."""
        return replace(self, part=self.part + price, price=self.price + price)

    def whole(self, bill: Bill) -> Bill:
        """Return the bill of all together, given that of what was asked for.

        Where all of this was paid for before, the bill has nothing of it.
        """
        if self.price == NOTHING_SPENT:
            return bill
        cost = self.price if bill.free else self.part + bill.cost
        return replace(bill, cost=cost, before=self.before, free=False)


ALL_PAID = PaidFirst(NOTHING_SPENT, NOTHING_SPENT, NOTHING_SPENT)
"""Types that are free by now: only what is left of the budget remembers them."""


@dataclass(frozen=True, slots=True)
class ReadyFile:
    """Where the table of a file is declared, and what is left for its copy; `first`: what types cost."""

    config: Path
    table: str
    epsilon: Epsilon
    delta: Delta | None
    first: PaidFirst | None = None


@contextmanager
def ready_file(
    path: Path,
    *,
    config: Path | None,
    epsilon: Epsilon,
    delta: Delta | None,
    unit: str,
    accept: bool,
    conditions: Sequence[str] = (),
    foresee: Callable[[ReadyFile], None] | None = None,
    pure: bool = False,
    ranges: Sequence[str] | None = None,
    asker: AskedBy | None = None,
) -> Iterator[ReadyFile]:
    """Lend a bare file declared for a copy; types that nobody declared are paid for first.

    `conditions` that name columns which are not there are refused before that, and whatever
    `foresee` refuses. What was declared is taken back where nothing was paid. `pure`: what follows is
    not known to add up as zCDP does, so the parts of epsilon add up to the whole, and delta is left whole.
    `ranges`: what follows needs bounds of these columns of numbers (none named: of all), so those that
    nobody declared are paid for, too. `asker`: refused first, if the ledger would refuse them; what is
    asked again under the same request id is left the same part of the budget as the first time, though
    types and ranges are there by now.

    Guarantee: nothing of the rows is read for free but, with `accept`, what is declared public.
    """
    if asker is not None:
        asker.check(path.parent / FILE_NAME if config is None else config)
    found = bare_table(
        path, config=config, epsilon=epsilon, delta=delta, unit=unit, accept=accept, untyped=True
    )
    with rollback_unless_paid(found):
        ready = ReadyFile(found.config, found.table, epsilon, delta)
        untyped = is_untyped(found)
        concentrated = bool(delta) and not pure
        looks = EarlierLooks()
        if asker is not None:
            asker.check_share(found)
            looks = _looks_before(found, asker, epsilon, ranges, concentrated=concentrated)
            ready = _after_looks(ready, looks, concentrated=concentrated)
        if untyped:
            _check_names(found, conditions)
            ready = _after_types(ready, _spent(found), concentrated=concentrated)
        if foresee is not None and (untyped or ranges is not None):
            foresee(ready)
        if untyped:
            ready = _typed(found, ready, asker)
        if ranges is not None and not looks.all_paid:
            ready = _with_ranges(found, ready, ranges, Epsilon(epsilon.value * RANGES))
        yield ready


def _after_types(ready: ReadyFile, before: Spent, *, concentrated: bool) -> ReadyFile:
    """Return what is left for the copy once types are paid for."""
    types, copy = CONCENTRATED if concentrated else PURE
    whole, delta = ready.epsilon.value, ready.delta
    risk = delta.value * RISK if delta is not None and concentrated else Fraction(0)
    return replace(
        ready,
        epsilon=Epsilon(whole * copy),
        delta=None if delta is None else Delta(delta.value - risk),
        first=PaidFirst(Spent(whole * (1 - copy), risk), Spent(whole * types, risk), before),
    )


def _looks_before(
    bare: BareTable,
    asker: AskedBy,
    epsilon: Epsilon,
    ranges: Sequence[str] | None,
    *,
    concentrated: bool,
) -> EarlierLooks:
    """Return what the same request has paid for before, of the same epsilon."""
    if asker.request_id is None or is_untyped(bare):
        return EarlierLooks()
    types, copy = CONCENTRATED if concentrated else PURE
    whole = epsilon.value
    wanted = None if ranges is None else whole * RANGES
    looks = earlier_looks(bare, asker, LookPrices(whole, whole * (1 - copy), whole * types, wanted))
    if not looks.all_paid and ranges is not None and _open_ended(bare, ranges):
        looks = replace(looks, ranges=False)  # not written down yet: asked for again, free
    return looks


def _after_looks(ready: ReadyFile, looks: EarlierLooks, *, concentrated: bool) -> ReadyFile:
    """Return what is left after looks that were paid for by an earlier try: nothing is paid for now."""
    if not (looks.types or looks.ranges):
        return ready
    left = ready
    if looks.types:
        left = _after_types(ready, NOTHING_SPENT, concentrated=concentrated)
    ranges = ready.epsilon.value * RANGES if looks.ranges else Fraction(0)
    return replace(left, epsilon=Epsilon(left.epsilon.value - ranges), first=ALL_PAID)


def _typed(bare: BareTable, ready: ReadyFile, asker: AskedBy | None) -> ReadyFile:
    """Return the same once types are there: paid for now, or before."""
    assert ready.first is not None, "types have a price"
    price = ready.first.price
    paid = _paid_or_fitting(bare, ready, price, asker)
    pay_types(bare, Epsilon(price.epsilon), Delta(price.delta))
    return replace(ready, first=ALL_PAID) if paid else ready


def _paid_or_fitting(
    bare: BareTable, ready: ReadyFile, price: Spent, asker: AskedBy | None
) -> bool:
    """Return whether types are paid for already; refuse to pay for them where the rest would not fit."""
    types = synth_budget(Epsilon(price.epsilon), Delta(price.delta), region=EVERYONE).quote
    delta = ready.delta or Delta(Fraction(0))
    with open_curator(bare.config) as curator:
        if types_are_paid(bare.table, curator, epsilon=Epsilon(price.epsilon)):
            return True
        rest = synth_budget(ready.epsilon, delta, region=EVERYONE).quote
        whole = replace(
            types, cost=types.cost + rest.cost, event=Composed((types.event, rest.event))
        )
        budget = curator.catalog.datasets[bare.dataset].budget
        curator.ledger.check_room(Payer(None, bare.dataset, budget), whole)
        account = None if asker is None else curator.account_of(asker.analyst)
        if account is not None:
            curator.ledger.check_room(Payer(account, bare.dataset, budget), rest)
    return False


def _spent(bare: BareTable) -> Spent:
    """Return what is spent of the budget of a bare file."""
    with open_curator(bare.config) as curator:
        dataset = curator.catalog.datasets[bare.dataset]
        return curator.ledger.balance(dataset.budget).spent


def _with_ranges(
    bare: BareTable, ready: ReadyFile, wanted: Sequence[str], price: Epsilon
) -> ReadyFile:
    """Return what is left once the ranges that nobody declared are paid for and written down."""
    open_ended = _open_ended(bare, wanted)
    if not open_ended:
        return ready
    first = ready.first or PaidFirst(NOTHING_SPENT, NOTHING_SPENT, _spent(bare))
    with open_curator(bare.config) as curator:
        bounds = learn_bounds(bare.table, curator, epsilon=price, columns=open_ended)
    rebound(bare, bounds)
    left = ready.epsilon.value - price.value
    return replace(
        ready, epsilon=Epsilon(left), first=first.and_also(Spent(price.value, Fraction(0)))
    )


def _open_ended(bare: BareTable, wanted: Sequence[str]) -> list[str]:
    """Return the columns of these (none named: of all) whose numbers nobody has given a range."""
    table = bare.declared()
    named = {column.lower() for column in wanted} or {c.name.lower() for c in table.columns}
    return [
        column.name
        for column in table.columns
        if column.name.lower() in named and not column.hidden and is_unbounded(column.domain)
    ]


def _check_names(bare: BareTable, conditions: Sequence[str]) -> None:
    known = {column.name.lower() for column in bare.declared().columns}
    for text in conditions:
        with suppress(
            sqlglot.errors.SqlglotError, TypeError
        ):  # what cannot be read is refused in its own words
            for column in sqlglot.parse_one(text, read="duckdb").find_all(sqlglot.exp.Column):
                if column.name.lower() not in known:
                    raise InvalidInput(f"The synthetic table has no column '{column.name}'.")


def pay_types(bare: BareTable, epsilon: Epsilon, delta: Delta) -> None:
    """Learn the types of a table's columns with budget, and write them into its discreet.toml."""
    with open_curator(bare.config) as curator:
        types = learn_types(bare.table, curator, epsilon=epsilon, delta=delta)
    retype(bare, types)


FILES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".parquet", ".pq")
"""Endings that mean a file, also where there is none."""

Foresee = Callable[[Path, str, dict[str, Any]], None]
"""Refuses what a command would refuse later: given the discreet.toml, the table and what is asked."""

Result = TypeVar("Result", bound=Charged)


@dataclass(frozen=True, slots=True)
class WrittenSource:
    """FILE|TABLE as it was written, and how a bare file is declared for it."""

    written: str
    config: Path | None = None
    unit: str = "row"
    accept: bool = False

    @property
    def is_file(self) -> bool:
        """Return whether a bare file is meant, be it there or not."""
        path = Path(self.written)
        return path.exists() or path.suffix.lower() in FILES

    @property
    def base(self) -> Path:
        """Return the folder of the discreet.toml that is meant."""
        if self.config is not None:
            return self.config.parent
        return Path(self.written).parent if self.is_file else Path()


@dataclass(frozen=True, slots=True)
class TypedPlace:
    """A declared table, what is left to ask of it, and what was paid first out of what was asked."""

    config: Path | None
    table: str
    asked: dict[str, Any]
    first: PaidFirst | None = None

    def told(self, found: Result) -> Result:
        """Return a result with the whole price in its bill: types, and ranges, were paid for first."""
        return found if self.first is None else replace(found, bill=self.first.whole(found.bill))


@contextmanager
def declared_place(
    source: WrittenSource, epsilon: str, delta: str | None
) -> Iterator[tuple[Path | None, str]]:
    """Lend the discreet.toml and the table that `source` means; undone if nothing is paid.

    For commands that choose among declared values, which types alone do not give them: the columns of
    a text file that nobody has declared are texts, so no row decides what is refused.
    """
    if not source.is_file:
        yield source.config, source.written
        return
    found = bare_table(
        Path(source.written),
        config=source.config,
        epsilon=Epsilon.of(epsilon),
        delta=None if delta is None else Delta.of(delta),
        unit=source.unit,
        accept=source.accept,
        untyped=True,
    )
    with rollback_unless_paid(found):
        yield found.config, found.table


@contextmanager
def typed_place(
    source: WrittenSource,
    asked: dict[str, Any],
    *,
    foresee: Foresee | None = None,
    pure: bool = False,
    ranges: Sequence[str] | None = None,
) -> Iterator[TypedPlace]:
    """Lend the discreet.toml and the table that `source` means, and what is asked of it.

    Of a text file nothing says what its columns hold but its rows: types are paid for first, after
    `foresee` has had its chance to refuse. `pure`, `ranges`: see `ready_file`.
    """
    if not source.is_file:
        yield TypedPlace(source.config, source.written, asked)
        return

    def left(found: ReadyFile) -> dict[str, Any]:
        delta = None if found.delta is None else found.delta.value
        return asked if found.first is None else {**asked, "epsilon": found.epsilon, "delta": delta}

    def tried(found: ReadyFile) -> None:
        if foresee is not None:
            foresee(found.config, found.table, left(found))

    delta = asked["delta"]
    ready = ready_file(
        Path(source.written),
        config=source.config,
        epsilon=Epsilon.of(asked["epsilon"]),
        delta=None if delta is None else Delta.of(delta),
        unit=source.unit,
        accept=source.accept,
        conditions=[each for each in (asked.get("where"), *asked.get("rules", ())) if each],
        foresee=tried,
        pure=pure,
        ranges=ranges,
        asker=AskedBy.of(asked),
    )
    with ready as found:
        yield TypedPlace(found.config, found.table, left(found), found.first)
