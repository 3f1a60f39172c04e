"""What an aggregate over one person's own rows can be, from the declared domains and the bound on rows."""

from __future__ import annotations

from fractions import Fraction

from discreet.core.schema import Domain, IntegerDomain
from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator
from discreet.plan.lattices import number_domain
from discreet.plan.tabulate import Fields
from discreet.plan.values import FINER, infer, numeric

MEAN = e.Arithmetic(Operator.DIVIDE, e.ColumnRef("sum"), e.ColumnRef("count"))
"""A person's mean over the two columns that `mean_parts` describes."""


def sum_domain(operand: Expr, fields: Fields, most: int) -> Domain:
    """Return what the sum of up to `most` rows can be; the generated SQL clamps to it."""
    low, high, step = numeric(operand, fields)
    return number_domain(min(low, Fraction(0)) * most, max(high, Fraction(0)) * most, step)


def mean_parts(operand: Expr, fields: Fields, most: int) -> dict[str, Domain]:
    """Return what the sum and the count behind a mean of up to `most` rows can be."""
    return {"sum": sum_domain(operand, fields, most), "count": IntegerDomain(0, most)}


def mean_domain(operand: Expr, fields: Fields, most: int) -> Domain:
    """Return what the mean of up to `most` rows can be: no less and no more than each of them."""
    infer(MEAN, mean_parts(operand, fields, most))  # or refuse what could leave 64 bits
    low, high, step = numeric(operand, fields)
    return number_domain(low, high, step / FINER)
