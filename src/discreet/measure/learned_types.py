"""What the columns of a bare file hold, learned with budget: kinds of values, and the bounds of numbers.

A text file says nothing about types but by its rows, and one odd row would flip a column. So the
cells that read as a number, a day or a text are counted with noise, and the counts decide.

A bare file says of a number what it is read as, and that is a range of 10^12 and more. Noise that goes
with the width of a range would drown everything, so the ends are looked for first.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.ask.release.desk import Desk
from discreet.ask.release.paid import paid
from discreet.ask.release.snapshots import hold, label, snapshots_of
from discreet.base.event import EVERYONE, Quote
from discreet.base.numbers import Delta, Epsilon
from discreet.base.schema import (
    Column,
    DateDomain,
    Domain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TextDomain,
)
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.base import Held, PaidReader
from discreet.data.engines.column_types import Storage
from discreet.errors import EngineFailed
from discreet.measure.budget import synth_budget
from discreet.measure.columns import Coded, RangeToLearn, scan_of
from discreet.measure.learned_domains import first_look, narrowed
from discreet.measure.one_way_marginals import agreed_total
from discreet.measure.private_marginals import MarginalBudget, Measured, PrivateMarginals
from discreet.measure.sealing import seal_codes, unstored_counter
from discreet.privacy.kernel.nodes import Unfit
from discreet.privacy.ledger.charge import Charge
from discreet.privacy.ledger.entry import Payer

MOSTLY = 0.4
"""The part of all cells that must read as a kind: the rest may be gaps."""

WHOLE = 0.8
"""The part of the numbers that must be whole for a column of whole numbers."""

KINDS: Mapping[Storage, FiniteDomain] = {
    Storage.NUMBER: NumberDomain(Fraction(-(10**12)), Fraction(10**12), Fraction(1, 10_000)),
    Storage.INTEGER: IntegerDomain(-(10**15), 10**15),
    Storage.DATE: DateDomain(dt.date(1800, 1, 1), dt.date(2199, 12, 31)),
}
"""What is tried; everything else is text."""


@dataclass(frozen=True, slots=True)
class LookLabels:
    """What a paid look is called: its kind, what tells one from another, what is asked, and for people."""

    kind: str
    key: str
    body: str
    note: str


def paid_look(
    table: str,
    desk: Desk,
    quote: Quote,
    words: LookLabels,
    look: Callable[[PaidReader, Held], Mapping[str, Any]],
) -> dict[str, Any]:
    """Return what `look` finds in a bare table, charged before it looks; the same again is free.

    Guarantee: the charge names the very rows that `look` is lent the reader and the state of, and `look`
        runs once for it.
    """
    owner, _ = desk.catalog.named(table)
    scan = scan_of(desk.catalog, table)
    with hold(scan, desk) as held:
        snapshot = label(snapshots_of(scan, held))
        charge = Charge(
            quote,
            _look_id(table, snapshot, words.kind, words.key),
            f"{words.kind} {table} {words.body}",
            note=words.note,
            snapshot=f"synth {snapshot}",
        )
        _, stored = paid(
            Payer(None, owner.name, owner.budget),
            charge,
            lambda reader, _: json.dumps(look(reader, held)).encode(),
            held=held,
            ledger=desk.ledger,
        )
    found: dict[str, Any] = json.loads(stored)
    return found


def _look_id(table: str, snapshot: str, kind: str, key: str) -> str:
    return f"{kind} {table} {snapshot} {key}"


def types_are_paid(table: str, desk: Desk, *, epsilon: Epsilon) -> bool:
    """Return whether `learn_types` would give what is stored, free: for these rows and this price."""
    scan = scan_of(desk.catalog, table)
    with hold(scan, desk) as held:
        snapshot = label(snapshots_of(scan, held))
    return desk.ledger.charge_of(None, _look_id(table, snapshot, "types", f"{epsilon}")) is not None


def learn_types(table: str, desk: Desk, *, epsilon: Epsilon, delta: Delta) -> dict[str, Storage]:
    """Return the type of each text column of a table, charged before any row is read.

    Guarantee: (epsilon, delta) for all columns together: of each column a noisy table of two cells
        (reads as the kind, or not) for every kind, each for an equal share. The same table and price
        again gives the stored types, free.
    """
    _, found = desk.catalog.named(table)
    names = [c.name for c in found.columns if isinstance(c.domain, TextDomain) and not c.hidden]
    budget = synth_budget(epsilon, delta, region=EVERYONE)
    words = LookLabels(
        "types", f"{epsilon}", f"{epsilon} {delta}", f"types of the columns of {found.name}"
    )

    def look(reader: PaidReader, held: Held) -> dict[str, str]:
        part = budget.whole.part(Fraction(1, len(KINDS) * max(len(names), 1)))
        reads = {
            kind: _counted(table, names, domain, desk, (part, reader, held))
            for kind, domain in KINDS.items()
        }
        rows = agreed_total([each for counts in reads.values() for each in counts.values()])
        counted = {
            name: {kind: float(seen[name].values[0]) for kind, seen in reads.items()}
            for name in names
        }
        return {name: _chosen(rows, read).value for name, read in counted.items()}

    stored = paid_look(table, desk, budget.quote, words, look)
    return {name: Storage(kind) for name, kind in stored.items()}


def _counted(
    table: str,
    names: Sequence[str],
    domain: FiniteDomain,
    desk: Desk,
    means: tuple[MarginalBudget, PaidReader, Held],
) -> dict[str, Measured]:
    """Return, for each column, noisy numbers of cells that read as a domain and that do not.

    The rows are held anew, read as the domain; those that are not the charged ones are refused.
    """
    budget, charged, before = means
    catalog = _declared_as(desk.catalog, table, names, domain)
    scan = scan_of(catalog, table)
    found = {}
    with hold(scan, desk) as held:
        if held.fingerprints != before.fingerprints:
            raise EngineFailed("The file has changed since its types were paid for.")
        reader = held.paid(charged.permit)
        for name in names:
            codes = seal_codes(scan, desk.engine, [Coded(name, domain, (0,), missing=True)])
            counter = unstored_counter(reader, codes)
            marginals = PrivateMarginals(counter, codes.shape, budget, codes.unit, desk.rng)
            found[name] = marginals.measure([(0,)], share=Fraction(1))[0]
    return found


def _declared_as(
    catalog: Catalog, table: str, names: Sequence[str], domain: FiniteDomain
) -> Catalog:
    """Return the catalog as if these columns had been declared to hold values of a domain."""
    owner, found = catalog.named(table)

    def column(each: Column) -> Column:
        if each.name in names:
            return Column(each.name, domain, missing=True)
        return each

    def declared(each: Table) -> Table:
        if each is not found:
            return each
        return replace(each, columns=tuple(column(c) for c in each.columns))

    changed = replace(owner, tables=tuple(declared(each) for each in owner.tables))
    return replace(catalog, datasets={**catalog.datasets, owner.name: changed})


def _chosen(rows: float, reads: Mapping[Storage, float]) -> Storage:
    """Return the narrowest kind that most cells read as.

    >>> _chosen(100.0, {Storage.NUMBER: 97.0, Storage.INTEGER: 20.0, Storage.DATE: -3.0}).value
    'number'
    """
    if reads[Storage.DATE] >= MOSTLY * rows:
        return Storage.DATE
    if reads[Storage.NUMBER] < MOSTLY * rows:
        return Storage.TEXT
    whole = reads[Storage.INTEGER] >= WHOLE * reads[Storage.NUMBER]
    return Storage.INTEGER if whole else Storage.NUMBER


WIDEST = 2 * 10**12
"""A range as wide as this is that of a type, and nobody's declaration."""

Bounds: TypeAlias = IntegerDomain | NumberDomain


def is_unbounded(domain: Domain) -> bool:
    """Return whether a column of numbers has no range but that of its type."""
    if isinstance(domain, IntegerDomain | NumberDomain):
        return bool(domain.upper - domain.lower >= WIDEST)
    return False


def learn_bounds(
    table: str, desk: Desk, *, epsilon: Epsilon, columns: Sequence[str]
) -> dict[str, Bounds]:
    """Return where the numbers of each of these columns lie, charged before any row is read.

    Columns of which nothing stands out from the noise are left out.

    Guarantee: epsilon for all columns together: of each column one noisy histogram over cells that are
        public, for an equal share; the ends are arithmetic on noisy counts. The same table, columns and
        price again give the stored ends, free.
    """
    owner, found = desk.catalog.named(table)
    items = [
        RangeToLearn(column.name, column.domain, missing=True)
        for column in found.columns
        if column.name in columns and isinstance(column.domain, IntegerDomain | NumberDomain)
    ]
    scan = scan_of(desk.catalog, table)
    sealed = [seal_codes(scan, desk.engine, [first_look(item)]) for item in items]
    if any(codes.source.dataset.name != owner.name for codes in sealed):
        raise Unfit("a read of other people than are charged")
    budget = synth_budget(epsilon, Delta(Fraction(0)), region=EVERYONE)
    asked = f"{epsilon} {', '.join(item.name for item in items)}"
    words = LookLabels("ranges", asked, asked, f"ranges of the numbers of {found.name}")
    share = Fraction(1, max(len(items), 1))

    def look(reader: PaidReader, _held: Held) -> dict[str, list[str]]:
        seen = {}
        for item, codes in zip(items, sealed, strict=True):
            counter = unstored_counter(reader, codes)
            marginals = PrivateMarginals(counter, codes.shape, budget.whole, codes.unit, desk.rng)
            seen[item.name] = _seen(item, marginals.measure([(0,)], share=share)[0])
        return {name: ends for name, ends in seen.items() if ends}

    stored = paid_look(table, desk, budget.quote, words, look)
    return {
        item.name: _domain(item, *map(Fraction, stored[item.name]))
        for item in items
        if item.name in stored
    }


def _seen(item: RangeToLearn, measured: Measured) -> list[str]:
    """Return the ends and the step of what stands out from the noise; nothing where nothing does."""
    found = narrowed(item, measured)
    if found is None:
        return []
    domain = found.domain
    assert isinstance(domain, IntegerDomain | NumberDomain), "as it was"
    step = domain.step if isinstance(domain, NumberDomain) else 1
    return [str(domain.lower), str(domain.upper), str(step)]


def _domain(item: RangeToLearn, lower: Fraction, upper: Fraction, step: Fraction) -> Bounds:
    """Return the ends in the type of the column: numbers in steps of 1 are no whole numbers."""
    if isinstance(item.domain, IntegerDomain):
        return IntegerDomain(int(lower), int(upper))
    return NumberDomain(lower, upper, step)
