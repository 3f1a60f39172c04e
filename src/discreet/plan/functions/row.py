"""The record of a scalar function as the planner extends it: how it is put in terms of what is there already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.kernel.functions import ScalarFunction
from discreet.plan.expr import Call, Expr
from discreet.plan.functions.shapes import CurveShape

ValueLattice: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""The ends and the step of numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFunction(ScalarFunction):
    """A function that reaches engines, if at all, as something else.

    Over more values than a table holds: `rewritten` is the same as other expressions, put in its place
    wherever a range or SQL is asked for; `lowered` replaces the call in the plan; `curve` draws it in
    straight lines, of the exponent where it has one. `of_moment`: what it gives for a moment, where it
    takes dates.
    """

    rewritten: Callable[[Expr], Expr] | None = None
    lowered: Callable[[Call, ValueLattice], Expr] | None = None
    curve: CurveShape | Callable[[Fraction], CurveShape] | None = None
    of_moment: str = ""
