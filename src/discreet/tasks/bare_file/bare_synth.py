"""A bare file made ready for a copy or a model: declared, its types and ranges paid for.

What is left of the budget is named; a command that is refused before anything is paid leaves no declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import sqlglot

from discreet.api import open as open_curator
from discreet.catalog.bare_file import BareTable, bare_table, is_untyped, rebound, retype
from discreet.catalog.policy_file import FILE_NAME
from discreet.core.bill import NOTHING_SPENT, Bill, Spent
from discreet.core.event import Composed
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import EVERYONE
from discreet.errors import InvalidInput
from discreet.ledger.entry import Payer
from discreet.synth.budget import synth_budget
from discreet.synth.measure.learned_types import (
    is_unbounded,
    learn_bounds,
    learn_types,
    types_are_paid,
)
from discreet.tasks.bare_file.asker import AskedBy, EarlierLooks, LookPrices, earlier_looks
from discreet.tasks.bare_file.unpaid import rollback_unless_paid

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
