"""Functions over large domains, written as arithmetic that every engine computes exactly."""

from __future__ import annotations

from discreet.plan import expr as e
from discreet.plan.expr import Expr
from discreet.plan.functions.registry import planned
from discreet.plan.lattices import lattice
from discreet.plan.tabulate import Fields, tabulated
from discreet.plan.values import infer


def lowered(expr: Expr, fields: Fields) -> Expr:
    """Return `expr` with ROUND, CAST AS INTEGER and small powers of large domains spelled out.

    Whatever can be tabulated stays as it is.
    """
    rebuilt = e.rebuilt(expr, lambda part: lowered(part, fields))
    row = planned(rebuilt.function) if isinstance(rebuilt, e.Call) else None
    if row is None or row.lowered is None or tabulated(rebuilt, fields) is not None:
        return rebuilt
    assert isinstance(rebuilt, e.Call), "only calls have rows"
    found = lattice(infer(rebuilt.operand, fields))
    return rebuilt if found is None else row.lowered(rebuilt, found)
