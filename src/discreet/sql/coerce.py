"""Read constants the way the column beside them is typed: '1994-01-01' beside a date is a date."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import Any

from discreet.core.numbers import to_fraction
from discreet.core.schema import DateDomain, Domain, IntegerDomain, NumberDomain
from discreet.errors import DiscreetError
from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.values import Fields
from discreet.sql.days import parse_date


def coerce(expr: Expr, fields: Fields) -> Expr:
    """Return `expr` with text constants turned into the type of the column they are compared to."""
    changed = {
        field.name: _part(getattr(expr, field.name), fields) for field in dataclass_fields(expr)
    }
    rebuilt: Expr = replace(expr, **changed)
    match rebuilt:
        case e.Compare(left=left, right=right):
            return replace(
                rebuilt,
                left=_constant(left, _domain(right, fields)),
                right=_constant(right, _domain(left, fields)),
            )
        case e.In(operand=operand, values=values):
            domain = _domain(operand, fields)
            return replace(rebuilt, values=tuple(_value(value, domain) for value in values))
        case _:
            return rebuilt


def _part(part: Any, fields: Fields) -> Any:
    if isinstance(part, tuple):
        return tuple(_part(each, fields) for each in part)
    return coerce(part, fields) if isinstance(part, Expr) else part


def _domain(expr: Expr, fields: Fields) -> Domain | None:
    # Only a bare column lends its type: that is what people mean by writing a date as text.
    return fields.get(expr.name) if isinstance(expr, e.ColumnRef) else None


def _constant(expr: Expr, domain: Domain | None) -> Expr:
    return e.Literal(_value(expr.value, domain)) if isinstance(expr, e.Literal) else expr


def _value(value: Any, domain: Domain | None) -> Any:
    if not isinstance(value, str):
        return value
    if isinstance(domain, DateDomain):
        day = parse_date(value)
        return value if day is None else day
    if isinstance(domain, IntegerDomain | NumberDomain):
        try:
            return to_fraction(value)
        except DiscreetError:
            return value
    return value
