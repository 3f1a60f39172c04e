"""Scalar expressions: what a row, or a noisy result, is turned into. Closed, typed, total.

The same tree is evaluated in Python over a public domain, rendered as SQL for an engine, and, above
the aggregates, evaluated on noisy values. Every node is total: it yields NULL where SQL might raise.

Its values lie on lattices: domains as a range and the step of which every value is a whole multiple.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.base.schema import (
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

Scalar: TypeAlias = int | Fraction | str | bool | dt.date | None
"""A value in the plan: numbers are exact."""


class Operator(Enum):
    """Binary operators on numbers."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    FLOOR_DIVIDE = "//"
    MODULO = "%"


class Comparison(Enum):
    """Comparisons; NULL on either side gives NULL."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="


MIRRORED = {
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.NOT_EQUAL: Comparison.NOT_EQUAL,
    Comparison.LESS: Comparison.GREATER,
    Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.GREATER: Comparison.LESS,
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
}
"""What a comparison is with its sides exchanged."""


class Part(Enum):
    """Parts of a date, and of a moment."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    DAY = "day"
    WEEKDAY = "dow"
    WEEK = "week"
    DAY_OF_YEAR = "doy"
    HOUR = "hour"
    MINUTE = "minute"
    SECOND = "second"


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the relation below, by its position in that relation's output."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant that the analyst wrote.

    TRUE is another one than 1, though Python calls the two equal, and so is all that is made of them.
    """

    value: Scalar

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bool, Scalar]:
        return isinstance(self.value, bool), self.value


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left operator right` on numbers; division by zero is NULL."""

    operator: Operator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Negate:
    """Minus `operand`."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Compare:
    """`left comparison right`."""

    comparison: Comparison
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class And:
    """All of `operands`, in three-valued logic."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of `operands`, in three-valued logic."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Not `operand`; NULL stays NULL."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether `operand` is NULL (which includes everything outside its declared domain)."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class In:
    """Whether `operand` is one of the constants."""

    operand: Expr
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Like:
    """SQL LIKE on text, `%` and `_` only."""

    operand: Expr
    pattern: str
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """The value beside the first true condition, else `otherwise`."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Extreme:
    """The least or greatest of `operands`, NULL if any of them is NULL."""

    greatest: bool
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A total function of one argument by name: abs, floor, ceil, sqrt, exp, ln, lower, upper, ..."""

    function: str
    operand: Expr
    options: tuple[Scalar, ...] = ()


@dataclass(frozen=True, slots=True)
class DatePart:
    """A part of a date, as an integer."""

    part: Part
    operand: Expr


@dataclass(frozen=True, slots=True)
class Coalesce:
    """The first operand that is not NULL."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Concat:
    """Texts one behind the other, NULL if any of them is NULL."""

    operands: tuple[Expr, ...]


Expr: TypeAlias = (
    ColumnRef
    | Literal
    | Arithmetic
    | Negate
    | Compare
    | And
    | Or
    | Not
    | IsNull
    | In
    | Like
    | Case
    | Extreme
    | Call
    | DatePart
    | Coalesce
    | Concat
)

TRUE = Literal(value=True)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the direct operands of `expr`."""
    match expr:
        case ColumnRef() | Literal():
            return ()
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right):
            return (left, right)
        case And(operands=operands) | Or(operands=operands) | Coalesce(operands=operands):
            return operands
        case Extreme(operands=operands) | Concat(operands=operands):
            return operands
        case Case(branches=branches, otherwise=otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case _:
            return (expr.operand,)


def columns_of(expr: Expr) -> frozenset[str]:
    """Return the names of all columns that `expr` reads."""
    return frozenset(node.name for node in walk(expr) if isinstance(node, ColumnRef))


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything below it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


MOST_NODES = 20_000
"""No expression has more nodes than this when it is written out as a tree."""


def size(expr: Expr, weights: Mapping[str, int] | None = None) -> int:
    """Return the number of nodes of `expr` written out as a tree; `weights` are those of columns.

    What the generated SQL writes twice counts twice: the operands of LEAST, GREATEST and MOD.
    Counting stops beyond `MOST_NODES`, since shared nodes can stand for more than can be counted.
    """
    found, waiting, known = 0, [(expr, 1)], weights or {}
    while waiting and found <= MOST_NODES:
        node, times = waiting.pop()
        if isinstance(node, ColumnRef):
            found += times * known.get(node.name, 1)
            continue
        found += times * (1 + len(node.values) if isinstance(node, In) else 1)
        twice = isinstance(node, Extreme) or (
            isinstance(node, Arithmetic) and node.operator is Operator.MODULO
        )
        waiting += [(child, 2 * times if twice else times) for child in children(node)]
    return found


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Return the parts that must all hold for `expr` to hold."""
    if isinstance(expr, And):
        return tuple(part for operand in expr.operands for part in conjuncts(operand))
    return (expr,)


def all_of(parts: tuple[Expr, ...]) -> Expr:
    """Return one expression that holds when all of `parts` hold."""
    kept = tuple(part for part in parts if part != TRUE)
    return TRUE if not kept else kept[0] if len(kept) == 1 else And(kept)


def clamped(expr: Expr, low: Expr, high: Expr) -> Expr:
    """Return `expr` held between two others."""
    capped = Extreme(greatest=False, operands=(expr, high))
    return Extreme(greatest=True, operands=(capped, low))


def substitute(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """Return `expr` with each named column replaced by the expression given for it."""
    if isinstance(expr, ColumnRef):
        return values.get(expr.name, expr)
    return rebuilt(expr, lambda part: substitute(part, values))


def rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return `expr` with each of its direct parts changed."""

    def part(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(part, value))
        return change(value) if isinstance(value, Expr) else value

    changed = {field.name: part(getattr(expr, field.name)) for field in fields(expr)}
    return replace(expr, **changed)


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
