"""Which columns a question reads: no others are written into its SQL."""

from __future__ import annotations

from discreet.plan import expr as e
from discreet.plan.ir import Filter, Join, PerUnit, Project, Relation, Scan, Statement
from discreet.plan.plan import Question


def used_columns(statement: Statement, question: Question) -> frozenset[str]:
    """Return every column that anything in the statement reads."""
    found: set[str] = set()
    for key in statement.keys:
        found |= e.columns_of(key.value)
    for _, measure in question.measured.measures:
        if measure.operand is not None:
            found |= e.columns_of(measure.operand)
    for _, choice in question.measured.choices:
        found |= e.columns_of(choice.operand)
    used_below(statement.source, found)
    return frozenset(found)


def used_below(relation: Relation, found: set[str]) -> None:
    """Add every column that a relation reads of those below it."""
    match relation:
        case Scan():
            return
        case Filter(source=source, condition=condition):
            found |= e.columns_of(condition)
            used_below(source, found)
        case Project(source=source, values=values):
            for value in values:
                found |= e.columns_of(value)
            used_below(source, found)
        case Join(left=left, right=right, pairs=pairs):
            found |= {name for pair in pairs for name in pair}
            used_below(left, found)
            used_below(right, found)
        case PerUnit(source=source, aggregates=aggregates, keys=keys):
            for _, aggregate in aggregates:
                if aggregate.operand is not None:
                    found |= e.columns_of(aggregate.operand)
            for _, key in keys:
                found |= e.columns_of(key)
            used_below(source, found)
