"""Recognises the private choice of the largest group: `ORDER BY COUNT(*) DESC LIMIT 1` with only keys shown."""

from __future__ import annotations

from dataclasses import replace

from discreet.plan import expr as e
from discreet.plan.ir import Aggregate, Function, Statement


def is_top(statement: Statement) -> bool:
    """Return whether a statement only asks which group is the largest."""
    if len(statement.aggregates) != 1 or len(statement.order) != 1 or not statement.keys:
        return False
    ((name, aggregate),) = statement.aggregates
    shown = [value for _, value in statement.outputs]
    return (
        aggregate == Aggregate(Function.COUNT)
        and statement.order[0].value == e.ColumnRef(name)
        and statement.order[0].descending
        and (statement.limit, statement.offset) == (1, 0)
        and statement.having == e.TRUE
        and all(name not in e.columns_of(value) for value in shown)
    )


def without_order(statement: Statement) -> Statement:
    """Return the statement whose groups are the candidates."""
    return replace(statement, order=(), limit=None)
