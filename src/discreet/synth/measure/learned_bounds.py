"""Between which numbers the columns of a bare file lie, learned with budget.

A bare file says of a number what it is read as, and that is a range of 10^12 and more. Noise that goes
with the width of a range would drown everything, so the ends are looked for first.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import EVERYONE
from discreet.core.schema import Domain, IntegerDomain, NumberDomain
from discreet.engine.base import Held, PaidReader
from discreet.kernel.trees.nodes import Unfit
from discreet.release.desk import Desk
from discreet.synth.budget import synth_budget
from discreet.synth.encoding.column_treatment import RangeToLearn, scan_of
from discreet.synth.measure.learned_ranges import first_look, narrowed
from discreet.synth.measure.learned_types import LookLabels, paid_look
from discreet.synth.measure.private_marginals import Measured, PrivateMarginals
from discreet.synth.measure.sealing import seal_codes
from discreet.synth.measure.sql_counter import unstored_counter

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
