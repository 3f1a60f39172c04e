"""The finest public pieces of a column: its declared values, or the runs between the edges used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.schema import (
    CategoryDomain,
    Column,
    DateDomain,
    Domain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
)
from discreet.errors import InvalidInput
from discreet.plan import expr as e
from discreet.plan.expr import Comparison, Expr

MOST_LISTED = 20_000
"""Numbers and days with more values than this must be cut before they can be grouped by."""

MOST_CATEGORIES = 10_000_000
"""No list of categories is longer."""

_PIECEWISE = (e.Compare, e.And, e.Or, e.Not, e.IsNull, e.In, e.Case, e.Literal, e.ColumnRef)


@dataclass(frozen=True, slots=True, eq=False)
class FamilyAtoms:
    """The pieces of one column; `values` holds one value of each, the last one None for NULL.

    `starts` are the first positions of runs, None where every value is a piece of its own.
    """

    column: Column
    starts: tuple[int, ...] | None
    values: tuple[Any, ...]

    @property
    def size(self) -> int:
        """Return how many pieces there are."""
        return len(self.values)

    @property
    def missing(self) -> bool:
        """Return whether the catalog says that values may be missing: then they are a group."""
        return self.column.missing

    def expression(self, column: Expr) -> Expr:
        """Return what the engine groups by: the column itself, or the number of its run."""
        if self.starts is None:
            return column
        bounds = [_value(self.column.domain, start) for start in self.starts[1:]]
        branches: list[tuple[Expr, Expr]] = [(e.IsNull(column), e.Literal(None))]
        branches += [
            (e.Compare(Comparison.LESS, column, e.Literal(bound)), e.Literal(number))
            for number, bound in enumerate(bounds)
        ]
        return e.Case(tuple(branches), e.Literal(len(bounds)))

    @property
    def read_domain(self) -> Domain:
        """Return the domain of what the engine groups by."""
        if self.starts is None:
            return self.column.domain
        return IntegerDomain(0, len(self.starts) - 1)


def atoms_of(column: Column, used: Iterable[Expr]) -> FamilyAtoms:
    """Return the pieces of a column that tell apart whatever `used` expressions tell apart."""
    column = column.by_day()
    domain = column.domain
    if isinstance(domain, IdentifierDomain | TextDomain):
        raise InvalidInput(
            f"Column '{column.name}' has no declared list of values, so its groups are not public.",
            hint="Declare its values in discreet.toml, or leave it out of the release.",
        )
    listed = MOST_CATEGORIES if isinstance(domain, CategoryDomain) else MOST_LISTED
    if domain.size <= listed:
        return FamilyAtoms(column, None, (*(_value(domain, i) for i in range(domain.size)), None))
    starts = _starts(column, domain, tuple(used))
    return FamilyAtoms(column, starts, (*(_value(domain, start) for start in starts), None))


def _starts(column: Column, domain: FiniteDomain, used: tuple[Expr, ...]) -> tuple[int, ...]:
    """Return the first positions of the runs on which every expression is constant."""
    starts = {0}
    for expression in used:
        nodes = list(e.walk(expression))
        bare = isinstance(expression, e.ColumnRef)
        if bare or not all(isinstance(node, _PIECEWISE) for node in nodes):
            raise InvalidInput(
                f"Column '{column.name}' has {domain.size:,} values: cut it into classes first.",
                hint=f'For example [cuts] class = {{ column = "{column.name}", edges = [...] }}.',
            )
        for node in nodes:
            written: tuple[Any, ...] = (node.value,) if isinstance(node, e.Literal) else ()
            written = node.values if isinstance(node, e.In) else written
            for value in written:
                starts |= _around(value, domain)
    return tuple(sorted(start for start in starts if 0 <= start < domain.size))


def _around(value: Any, domain: FiniteDomain) -> set[int]:
    """Return the positions at which a comparison with `value` can change."""
    match domain:
        case IntegerDomain() | NumberDomain() if isinstance(value, int | Fraction):
            step = domain.step if isinstance(domain, NumberDomain) else Fraction(1)
            place = (Fraction(value) - domain.lower) / step
            first = -(-place.numerator // place.denominator)
            return {first, first + 1}
        case DateDomain() if hasattr(value, "toordinal"):
            place = value.toordinal() - domain.lower.toordinal()
            return {place, place + 1}
        case _:
            return set()


def _value(domain: Domain, position: int) -> Any:
    return domain.value(position)  # type: ignore[union-attr]  # only finite domains come here
