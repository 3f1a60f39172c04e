"""Domains as lattices: a range and the step of which every value is a whole multiple."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    FiniteDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import QueryRefused

LARGEST = 2**62
"""Every row value, counted in steps, stays below this, so 64-bit arithmetic cannot overflow."""

FINE = 10**6
"""Roots, logarithms and the like are rounded to a multiple of one part of this."""


def number_domain(lower: Fraction, upper: Fraction, step: Fraction) -> IntegerDomain | NumberDomain:
    """Return the lattice domain; whole numbers in steps of one are integers."""
    check_fits(lower, upper, step)
    if step == 1:
        return IntegerDomain(int(lower), int(upper))
    return NumberDomain(lower, upper, step)


def check_fits(lower: Fraction, upper: Fraction, step: Fraction) -> None:
    """Refuse a range that overflows when it is counted in `step`.

    An overflow would fail on some rows and not on others, which tells that such rows are there.
    """
    if max(abs(lower), abs(upper)) / step >= LARGEST:
        raise QueryRefused(
            "This expression can become too large to be summed exactly.",
            hint="Narrow the declared bounds, or use a coarser step.",
            construct="overflow",
        )


def lattice(domain: Domain) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return (lower, upper, step) of a numeric domain, None for others."""
    match domain:
        case IntegerDomain(lower=lower, upper=upper):
            return Fraction(lower), Fraction(upper), Fraction(1)
        case NumberDomain(lower=lower, upper=upper, step=step):
            return lower, upper, step
        case _:
            return None


def points(domain: FiniteDomain) -> Iterator[Any]:
    """Yield every value of a finite domain in order; NULL is not among them."""
    for position in range(domain.size):
        yield domain.value(position)


def is_finite(domain: Domain) -> bool:
    """Return whether the domain has a declared list or range of values."""
    return not isinstance(domain, IdentifierDomain | TextDomain)


def rounded(value: float) -> int | Fraction | None:
    """Return an inexact value on the lattice of a millionth, None where it is too large for that."""
    if abs(value) * FINE >= LARGEST:
        return None
    exact = Fraction(round(value * FINE), FINE)
    return int(exact) if exact.denominator == 1 else exact


EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # moments are in UTC, without a zone


def seconds_since(moment: dt.datetime) -> Fraction:
    """Return a moment as seconds since 1970."""
    return Fraction((moment - EPOCH) // dt.timedelta(microseconds=1), 10**6)


def domain_of_values(values: list[Any]) -> Domain:
    """Return the least domain that holds all of these values; NULLs do not count."""
    present = [value for value in values if value is not None]
    if not present:
        return BooleanDomain()
    first = present[0]
    if isinstance(first, bool):
        return BooleanDomain()
    if isinstance(first, str):
        return CategoryDomain(tuple(dict.fromkeys(str(value) for value in present)))
    if isinstance(first, dt.datetime):
        return TimestampDomain(min(present), max(present))
    if isinstance(first, dt.date):
        return DateDomain(min(present), max(present))
    if any(isinstance(value, float) for value in present):
        raise not_exact()
    exact = [Fraction(value) for value in present]
    step = Fraction(0)
    for value in exact:
        step = common_step(step, value)
    return number_domain(min(exact), max(exact), step or Fraction(1))


def not_exact() -> QueryRefused:
    """Return the refusal of values that lie on no lattice."""
    return QueryRefused(
        "This inexact function cannot be used inside an aggregate over so many values.",
        hint="Apply it to the result, for example SIN(SUM(x)), where it is free.",
        construct="inexact function",
    )


def common_step(first: Fraction, second: Fraction) -> Fraction:
    """Return the greatest step of which both are whole multiples (the gcd of two fractions)."""
    bottom = first.denominator * second.denominator
    top = math.gcd(
        first.numerator * second.denominator,
        second.numerator * first.denominator,
    )
    return Fraction(top, bottom)


def kind(domain: Domain) -> str:
    """Return the everyday word for a domain's type."""
    return _KINDS[type(domain)]


def kinds_of(fields: Mapping[str, Domain]) -> dict[str, str]:
    """Return the everyday word for the type of each column."""
    return {name: kind(domain) for name, domain in fields.items()}


_KINDS: dict[type, str] = {
    IntegerDomain: "number",
    NumberDomain: "number",
    CategoryDomain: "category",
    BooleanDomain: "boolean",
    DateDomain: "date",
    TimestampDomain: "moment",
    IdentifierDomain: "identifier",
    TextDomain: "text",
}
