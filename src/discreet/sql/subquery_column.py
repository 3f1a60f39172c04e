"""What a column of a subquery can hold."""

from __future__ import annotations

from contextlib import suppress

from discreet.core.schema import BooleanDomain, Domain
from discreet.errors import QueryRefused
from discreet.plan.expr import Expr
from discreet.plan.kinds import NULL, kind_of
from discreet.plan.lattices import kinds_of
from discreet.plan.tables import Fields
from discreet.plan.values import infer, infer_by_rule


def infer_column(expr: Expr, fields: Fields) -> Domain:
    """Return the domain of a column: as `infer`, but of the kind that is written.

    What is never anything but NULL, such as NULLIF(x, x), has no values to tell a kind from.
    """
    found, written = infer(expr, fields), kind_of(expr, kinds_of(fields))
    if isinstance(found, BooleanDomain) and written not in {"boolean", NULL}:
        with suppress(QueryRefused):
            return infer_by_rule(expr, fields)
    return found
