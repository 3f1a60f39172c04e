"""Expressions over one small column, worked out value by value."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from discreet.core.schema import DateDomain, Domain, FiniteDomain
from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator
from discreet.plan.functions.evaluate import evaluate
from discreet.plan.functions.registry import SCALARS
from discreet.plan.lattices import domain_of_values, is_finite, points, rounded

TABULATE = 10_000
"""An expression over one column with at most this many values is evaluated value by value."""

MOST_DAYS = 50_000
"""The same for dates: 137 years, since a run of days with one value is written as one range."""

MOST_WORK = 400_000
"""No more than so many nodes are evaluated for one table: planning takes a bounded time."""

PLAIN_TABLE = 1_000
"""What plain SQL computes is tabulated for so many values only: its rules are close, and quick."""

PLAIN_CALLS = frozenset(
    name
    for name, row in SCALARS.items()
    if row.takes == "number" and (row.sql or getattr(row, "rewritten", None))
)
"""Functions of numbers that plain SQL computes exactly."""

Fields: TypeAlias = Mapping[str, Domain]


def tabulated(expr: Expr, fields: Fields) -> list[Any] | None:
    """Return the value of `expr` for NULL and then for each value of its one small column.

    None where it reads several columns, none, or one that is too large to list.
    """
    name = small_column(expr, fields)
    if name is None:
        return None
    return list(_tables(ExprKey(expr), name, fields[name]))


def small_column(expr: Expr, fields: Fields) -> str | None:
    """Return the one column that `expr` reads, if it is small enough to list its values."""
    names = e.columns_of(expr)
    if len(names) != 1:
        return None
    (name,) = names
    domain = fields[name]
    most = MOST_DAYS if isinstance(domain, DateDomain) else TABULATE
    if not is_finite(domain) or domain.size > most:  # type: ignore[union-attr]  # finite: has size
        return None
    if domain.size * e.size(expr) > MOST_WORK:  # type: ignore[union-attr]  # finite: has size
        return None
    return name


class ExprKey:
    """An expression that equals only one written the same: Python holds 1 and True for equal."""

    __slots__ = ("expr", "text")

    def __init__(self, expr: Expr) -> None:
        self.expr = expr
        # Short, since many are kept: a long expression is written out in a megabyte.
        self.text = hashlib.sha256(repr(expr).encode("utf-8", "surrogatepass")).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExprKey) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=256)
def _tables(written: ExprKey, name: str, domain: FiniteDomain) -> tuple[Any, ...]:
    # Planning and rendering ask for the same few tables a hundred times.
    found = (evaluate(written.expr, {name: value}) for value in (None, *points(domain)))
    return tuple(rounded(value) if isinstance(value, float) else value for value in found)


@lru_cache(maxsize=1024)
def least_domain(written: ExprKey, name: str, domain: FiniteDomain) -> Domain:
    """Return the least domain that holds all values of an expression over one small column."""
    return domain_of_values(list(_tables(written, name, domain)))


def computes(expr: Expr) -> bool:
    """Return whether plain SQL beats a lookup table: everything but functions of text and dates."""
    return not any(_looked_up(node) for node in e.walk(expr))


def _looked_up(node: Expr) -> bool:
    match node:
        case e.Call(function=function, options=options):
            return function not in PLAIN_CALLS or bool(options)
        case e.Arithmetic(operator=Operator.FLOOR_DIVIDE | Operator.MODULO, right=right):
            return not isinstance(right, e.Literal)
        case _:
            return isinstance(node, e.Like)
