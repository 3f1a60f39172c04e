"""Functions of text that are more than a row of `plan.functions`, in SQL to plan expressions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.plan import expr as e
from discreet.plan.expr import Comparison, Expr
from discreet.plan.kinds import checked_pattern, checked_replacement
from discreet.sql.refuse import refusal
from discreet.sql.times.days import Rule, ToExpression


def _constants(node: exp.Expr, names: tuple[str, ...], value: ToExpression) -> tuple[Any, ...]:
    found = []
    for name in names:
        if node.args.get(name) is None:
            continue
        each = value(node.args[name])
        if not isinstance(each, e.Literal):
            raise refusal("clause", what=f"{type(node).__name__.upper()} with a varying argument")
        found.append(each.value)
    return tuple(found)


def _matches(node: exp.RegexpLike | exp.RegexpILike, value: ToExpression) -> Expr:
    (pattern,) = _constants(node, ("expression",), value)
    flags = _constants(node, ("flag",), value)
    if flags not in ((), ("i",), ("c",)):
        raise refusal("clause", what="REGEXP_MATCHES with options other than 'i' or 'c'")
    any_case = "i" in flags or isinstance(node, exp.RegexpILike)
    pattern = f"(?i){pattern}" if any_case else pattern
    return e.Call("matches", value(node.this), (checked_pattern(pattern),))


def _replace_pattern(node: exp.RegexpReplace, value: ToExpression) -> Expr:
    given = _constants(node, ("expression", "replacement"), value)
    if len(given) != 2:
        raise refusal("clause", what="REGEXP_REPLACE without its replacement")
    pattern, other = given
    every = _constants(node, ("modifiers",), value)
    if every and every != ("g",):
        raise refusal("clause", what="REGEXP_REPLACE with options other than 'g'")
    options = (checked_pattern(pattern), checked_replacement(pattern, other), *every)
    return e.Call("replace_pattern", value(node.this), options)


def _joined(node: exp.DPipe, value: ToExpression) -> Expr:
    return e.Concat(tuple(_text(part, value) for part in (node.this, node.expression)))


def _concat(node: exp.Concat, value: ToExpression) -> Expr:
    """CONCAT leaves NULL out, where || makes all of it NULL."""
    parts = [e.Coalesce((_text(part, value), e.Literal(""))) for part in node.expressions]
    return e.Concat(tuple(parts))


def _text(node: exp.Expr, value: ToExpression) -> Expr:
    found = value(node)
    if isinstance(found, e.Literal):
        return e.Literal("" if found.value is None else str(found.value))
    return found


def _same(*, equal: bool) -> Callable[[Any, ToExpression], Expr]:
    """IS [NOT] DISTINCT FROM never yields NULL: two unknown values are the same."""

    def build(node: exp.Binary, value: ToExpression) -> Expr:
        left, right = value(node.this), value(node.expression)
        both = e.And((e.IsNull(left), e.IsNull(right)))
        compared = e.Compare(Comparison.EQUAL, left, right)
        alike = both if e.Literal(None) in (left, right) else e.Or((both, compared))
        yes, no = e.Literal(value=equal), e.Literal(value=not equal)
        return e.Case(((alike, yes),), no)

    return build


_PI = Fraction(math.pi)

TEXTS: dict[type[exp.Expr], Rule] = {
    exp.Concat: _concat,
    exp.DPipe: _joined,
    exp.RegexpLike: _matches,
    exp.RegexpILike: _matches,
    exp.RegexpReplace: _replace_pattern,
    exp.NullSafeEQ: _same(equal=True),
    exp.NullSafeNEQ: _same(equal=False),
    exp.Pi: lambda _node, _value: e.Literal(_PI),
}
"""What may be done with texts, and with numbers on results or small domains."""
