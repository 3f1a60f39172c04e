"""`ORDER BY COUNT(*) DESC LIMIT 1` with nothing but keys shown: a choice, not a table of counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core.event import PrivacyEvent, Pure, Select
from discreet.core.numbers import Epsilon
from discreet.core.unit import Neighbours
from discreet.plan import expr as e
from discreet.plan.ir import Aggregate, Function, Statement
from discreet.plan.stability import Stability


@dataclass(frozen=True, slots=True)
class Top:
    """The group with the most rows, chosen among public groups.

    `flip`: by permute-and-flip, whose loss is never larger; otherwise by the exponential mechanism,
    which costs less where budgets are counted in rho.
    """

    epsilon: Fraction
    sensitivity: int
    monotone: bool
    flip: bool

    @property
    def event(self) -> PrivacyEvent:
        """Return what to tell the accountant."""
        return Pure(self.epsilon) if self.flip else Select(self.epsilon)


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


def top_of(stability: Stability, epsilon: Epsilon, *, pure: bool) -> Top:
    """Return the selection at `epsilon`.

    Guarantee: one unit moves each count by at most `max_rows`; under add-remove it moves all of them
        in one direction, so the factor 2 of the exponential mechanism is not needed.
    """
    monotone = stability.neighbours is Neighbours.ADD_REMOVE
    return Top(epsilon.value, stability.max_rows, monotone, flip=pure)
