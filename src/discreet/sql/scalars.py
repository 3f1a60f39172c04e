"""Scalar SQL to plan expressions, by an allow-list: what is not in the tables is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.core.numbers import to_fraction
from discreet.plan import expr as e
from discreet.plan.evaluate import evaluate
from discreet.plan.expr import Comparison, Expr, Operator
from discreet.plan.kinds import checked_options, kind_of
from discreet.sql.refuse import refusal, too_large
from discreet.sql.signatures import CALLS, NAMED
from discreet.sql.texts import TEXTS
from discreet.sql.times.days import (
    DAYS,
    ToExpression,
    constant_day,
    is_short,
    length_of,
    moved,
    now,
    part_named,
    today,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """How names and aggregates are understood where an expression stands."""

    column: Callable[[exp.Column], Expr]
    aggregate: Callable[[exp.Expr], Expr | None]


def to_expr(node: exp.Expr, scope: Scope) -> Expr:
    """Return the plan expression for a SQL expression, or refuse it with a sentence."""
    if not isinstance(node, exp.Expr):
        raise refusal("clause", what="A function without its argument")
    found = scope.aggregate(node)
    if found is not None:
        return found
    rule = _RULES.get(type(node))
    if rule is None:
        raise _refuse(node)
    return _folded(rule(node, scope))


def _refuse(node: exp.Expr) -> Exception:
    if isinstance(node, exp.Subquery | exp.Select | exp.Exists):
        return refusal("subquery")
    if isinstance(node, exp.Window):
        return refusal("window")
    if isinstance(node, exp.Star):
        return refusal("star")
    return refusal("function", what=function_name(node))


def function_name(node: exp.Expr) -> str:
    """Return the name of a declined function as people write it."""
    if isinstance(node, exp.IgnoreNulls):
        node = node.this  # the parser wraps ANY_VALUE(x)
    name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
    if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous):
        # Not node.sql(): writing a strange call can fail inside the parser's own generator.
        written = type(node).sql_names()[0]
        name = written if written.replace("_", "").isalnum() else name
    return str(name)[:40].upper()


def _folded(expr: Expr) -> Expr:
    """Return a constant where nothing but constants went in."""
    if isinstance(expr, e.Literal | e.ColumnRef):
        return expr
    if e.size(expr) > e.MOST_NODES:
        raise too_large()
    if e.columns_of(expr):
        return expr
    value = evaluate(expr, {})
    if value is None:
        kind_of(expr, {})  # NULL because nothing else is right, or because its parts do not mix
    if isinstance(value, int | Fraction) and _bits(value) > MOST_BITS:
        raise refusal("clause", what="A constant of thousands of digits")
    return e.Literal(to_fraction(value)) if isinstance(value, float) else e.Literal(value)


MOST_BITS = 8192
"""Of a number that is made of constants alone."""


def _bits(value: int | Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _column(node: exp.Column, scope: Scope) -> Expr:
    return scope.column(node)


def _literal(node: exp.Literal, _scope: Scope) -> Expr:
    if node.is_string:
        return e.Literal(str(node.this))
    value = to_fraction(str(node.this), name="a number")
    return e.Literal(int(value) if value.denominator == 1 else value)


def _operands(node: exp.Expr, scope: Scope) -> tuple[Expr, Expr]:
    return to_expr(node.this, scope), to_expr(node.expression, scope)


def _arithmetic(operator: Operator) -> Callable[[Any, Scope], Expr]:
    def build(node: exp.Binary, scope: Scope) -> Expr:
        if isinstance(node.expression, exp.Interval):
            asked_now = _is_now(node.this) and is_short(node.expression)
            start = now() if asked_now else to_expr(node.this, scope)
            return moved(start, node.expression, operator)
        left, right = _operands(node, scope)
        return e.Arithmetic(operator, left, right)

    return build


def _is_now(node: exp.Expr) -> bool:
    anonymous = isinstance(node, exp.Anonymous) and str(node.name).lower() in _NOW
    return isinstance(node, exp.CurrentTimestamp) or anonymous


_NOW = ("now", "getdate")


def _compare(comparison: Comparison) -> Callable[[Any, Scope], Expr]:
    def build(node: exp.Binary, scope: Scope) -> Expr:
        if isinstance(node.expression, exp.Any) and comparison is Comparison.EQUAL:
            listed = node.expression.this.unnest()
            if isinstance(listed, exp.Array | exp.Tuple):
                return _one_of(node.this, listed.expressions, scope)
        if isinstance(node.expression, exp.Interval):  # how long between two moments
            apart = e.Call("ticks", to_expr(node.this, scope), (1,))
            return e.Compare(comparison, apart, e.Literal(length_of(node.expression)))
        left, right = _operands(node, scope)
        return e.Compare(comparison, left, right)

    return build


def _logical(kind: type[e.And | e.Or]) -> Callable[[Any, Scope], Expr]:
    def build(node: exp.Connector, scope: Scope) -> Expr:
        return kind(tuple(to_expr(part, scope) for part in node.flatten()))

    return build


def _between(node: exp.Between, scope: Scope) -> Expr:
    value = to_expr(node.this, scope)
    low, high = to_expr(node.args["low"], scope), to_expr(node.args["high"], scope)
    return e.And(
        (
            e.Compare(Comparison.GREATER_EQUAL, value, low),
            e.Compare(Comparison.LESS_EQUAL, value, high),
        )
    )


def _in(node: exp.In, scope: Scope) -> Expr:
    if node.args.get("query") is not None:
        raise refusal("subquery")
    return _one_of(node.this, node.expressions, scope)


def _one_of(operand: exp.Expr, listed: list[exp.Expr], scope: Scope) -> Expr:
    options = [to_expr(option, scope) for option in listed]
    if not all(isinstance(option, e.Literal) for option in options):
        raise refusal("clause", what="IN with anything but constants")
    return e.In(
        to_expr(operand, scope), tuple(o.value for o in options if isinstance(o, e.Literal))
    )


def _is(node: exp.Is, scope: Scope) -> Expr:
    operand = to_expr(node.this, scope)
    if isinstance(node.expression, exp.Null):
        return _negated(e.IsNull(operand), node)
    if isinstance(node.expression, exp.Boolean):
        # IS TRUE never yields NULL: what is unknown is not true.
        wanted = operand if node.expression.this else e.Not(operand)
        return _negated(e.Case(((wanted, e.TRUE),), e.Literal(value=False)), node)
    raise refusal("clause", what="IS with anything but NULL, TRUE or FALSE")


def _negated(found: Expr, node: exp.Expr) -> Expr:
    # NOT before LIKE or behind IS is an argument of the node, not a node of its own.
    return e.Not(found) if node.args.get("negate") else found


def _like(node: exp.Like | exp.ILike, scope: Scope) -> Expr:
    pattern = to_expr(node.expression, scope)
    if not isinstance(pattern, e.Literal) or not isinstance(pattern.value, str):
        raise refusal("clause", what="LIKE with anything but a constant pattern")
    found = e.Like(to_expr(node.this, scope), pattern.value, isinstance(node, exp.ILike))
    return _negated(found, node)


def _case(node: exp.Case, scope: Scope) -> Expr:
    subject = to_expr(node.this, scope) if node.this is not None else None
    branches = []
    for branch in node.args["ifs"]:
        condition = to_expr(branch.this, scope)
        if subject is not None:
            condition = e.Compare(Comparison.EQUAL, subject, condition)
        branches.append((condition, to_expr(branch.args["true"], scope)))
    default = node.args.get("default")
    return e.Case(tuple(branches), e.Literal(None) if default is None else to_expr(default, scope))


def _if(node: exp.If, scope: Scope) -> Expr:
    otherwise = node.args.get("false")
    return e.Case(
        ((to_expr(node.this, scope), to_expr(node.args["true"], scope)),),
        e.Literal(None) if otherwise is None else to_expr(otherwise, scope),
    )


def _null_if(node: exp.Nullif, scope: Scope) -> Expr:
    left, right = _operands(node, scope)
    return e.Case(((e.Compare(Comparison.EQUAL, left, right), e.Literal(None)),), left)


def _extreme(node: exp.Least | exp.Greatest, scope: Scope) -> Expr:
    parts = tuple(to_expr(part, scope) for part in (node.this, *node.expressions))
    return e.Extreme(isinstance(node, exp.Greatest), parts)


def _coalesce(node: exp.Coalesce, scope: Scope) -> Expr:
    return e.Coalesce(tuple(to_expr(part, scope) for part in (node.this, *node.expressions)))


def _called(node: exp.Expr, scope: Scope) -> Expr:
    """Return a call of a function that is a row and nothing more."""
    found = CALLS[type(node)]
    written = [node.args.get(name) for name in found.constants]
    given = [part for part in written if part is not None]
    return _call(found.function, found.spelled, node.args.get(found.operand), given, scope)


def _call(function: str, spelled: str, operand: Any, given: list[exp.Expr], scope: Scope) -> Expr:
    values = []
    for part in given:
        constant = to_expr(part, scope)
        if not isinstance(constant, e.Literal):
            raise refusal("clause", what=f"{spelled} with a varying argument")
        values.append(constant.value)
    return e.Call(function, to_expr(operand, scope), checked_options(function, tuple(values)))


def _log(node: exp.Log, scope: Scope) -> Expr:
    """LOG(x) has the base 10; LOG10(x) is parsed as LOG(10, x), LOG2(x) as LOG(2, x)."""
    if node.expression is None:
        return e.Call("log10", to_expr(node.this, scope))
    names = {e.Literal(10): "log10", e.Literal(2): "log2"}
    name = names.get(to_expr(node.this, scope))  # type: ignore[arg-type]  # only literals are found
    if name is None:
        raise refusal("clause", what="LOG with a base other than 2 or 10")
    return e.Call(name, to_expr(node.expression, scope))


def _cast(node: exp.Cast, scope: Scope) -> Expr:
    operand = to_expr(node.this, scope)
    target = node.to
    if target.expressions and not _bare(target):
        return _rounded(operand, target)
    if target.is_type("date", "timestamp", "timestampntz") and isinstance(operand, e.Literal):
        return constant_day(operand.value)
    if target.is_type(*exp.DataType.INTEGER_TYPES):
        return e.Call("integer", operand)
    if target.is_type(*exp.DataType.NUMERIC_TYPES):
        return e.Call("number", operand)
    if target.is_type(*exp.DataType.TEXT_TYPES):
        return e.Call("text", operand)
    if target.is_type("date"):
        return e.Call("day", operand)
    if target.is_type("timestamp", "timestampntz"):
        return operand
    if target.is_type("time"):
        return e.Call("time_of_day", operand)
    raise refusal("function", what=f"CAST to {target.sql()}")


def _rounded(operand: Expr, target: exp.DataType) -> Expr:
    """CAST(x AS DECIMAL(5, 2)) has two digits; DuckDB would fail on what needs more than five."""
    digits = [str(part.name) for part in target.expressions]
    if not target.is_type("decimal") or not all(d.isdigit() and int(d) <= 38 for d in digits):
        raise refusal("clause", what="CAST to a type with a given length")
    places = int(digits[1]) if len(digits) > 1 else 0
    return e.Call("round", e.Call("number", operand), (places,))


def _bare(target: exp.DataType) -> bool:
    # The parser writes DECIMAL without digits as DECIMAL(18, 3); it is read as any exact number.
    written = [part.name for part in target.expressions]
    return target.is_type("decimal") and written == ["18", "3"]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | Fraction) and not isinstance(value, bool)


def _width_bucket(node: exp.WidthBucket, scope: Scope) -> Expr:
    value = to_expr(node.this, scope)
    written = [node.args.get(name) for name in ("min_value", "max_value", "num_buckets")]
    ends = [to_expr(end, scope) for end in written if end is not None]
    if len(ends) != 3 or not all(
        isinstance(end, e.Literal) and _is_number(end.value) for end in ends
    ):
        raise refusal("clause", what="WIDTH_BUCKET with bounds that are not constant numbers")
    low, high, count = (Fraction(end.value) for end in ends if isinstance(end, e.Literal))  # type: ignore[arg-type]  # numbers by grammar
    if high <= low or count < 1 or count.denominator != 1:
        raise refusal("clause", what="WIDTH_BUCKET with empty bounds")
    offset = e.Arithmetic(Operator.SUBTRACT, value, e.Literal(low))
    bucket = e.Arithmetic(Operator.FLOOR_DIVIDE, offset, e.Literal((high - low) / count))
    inside = e.Arithmetic(Operator.ADD, bucket, e.Literal(1))
    return e.clamped(inside, e.Literal(0), e.Literal(int(count) + 1))


def _anonymous(node: exp.Anonymous, scope: Scope) -> Expr:
    name, arguments = str(node.name).lower(), node.expressions
    if name in {"clamp", "clip"} and len(arguments) == 3:
        value, low, high = (to_expr(argument, scope) for argument in arguments)
        return e.clamped(value, low, high)
    if name == "date_part" and len(arguments) == 2:
        return part_named(str(arguments[0].name), to_expr(arguments[1], scope))
    if name in NAMED and len(arguments) == NAMED[name][1]:
        return _call(NAMED[name][0], name.upper(), arguments[0], arguments[1:], scope)
    if name in {"now", "today", "getdate"} and not arguments:
        return today()
    raise refusal("function", what=name[:40].upper())


def _with_operands(rule: Callable[[Any, ToExpression], Expr]) -> Callable[[Any, Scope], Expr]:
    return lambda node, scope: rule(node, lambda part: to_expr(part, scope))


_RULES: dict[type[exp.Expr], Callable[[Any, Scope], Expr]] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Boolean: lambda node, _scope: e.Literal(bool(node.this)),
    exp.Null: lambda _node, _scope: e.Literal(None),
    exp.Paren: lambda node, scope: to_expr(node.this, scope),
    exp.Alias: lambda node, scope: to_expr(node.this, scope),
    exp.Neg: lambda node, scope: e.Negate(to_expr(node.this, scope)),
    exp.Not: lambda node, scope: e.Not(to_expr(node.this, scope)),
    exp.And: _logical(e.And),
    exp.Or: _logical(e.Or),
    exp.Add: _arithmetic(Operator.ADD),
    exp.Sub: _arithmetic(Operator.SUBTRACT),
    exp.Mul: _arithmetic(Operator.MULTIPLY),
    exp.Div: _arithmetic(Operator.DIVIDE),
    exp.IntDiv: _arithmetic(Operator.FLOOR_DIVIDE),
    exp.Mod: _arithmetic(Operator.MODULO),
    exp.EQ: _compare(Comparison.EQUAL),
    exp.NEQ: _compare(Comparison.NOT_EQUAL),
    exp.LT: _compare(Comparison.LESS),
    exp.LTE: _compare(Comparison.LESS_EQUAL),
    exp.GT: _compare(Comparison.GREATER),
    exp.GTE: _compare(Comparison.GREATER_EQUAL),
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Case: _case,
    exp.If: _if,
    exp.Nullif: _null_if,
    exp.Least: _extreme,
    exp.Greatest: _extreme,
    exp.Coalesce: _coalesce,
    exp.Log: _log,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.WidthBucket: _width_bucket,
    exp.Anonymous: _anonymous,
    **{kind: _with_operands(rule) for kind, rule in (DAYS | TEXTS).items()},
}
_RULES = dict.fromkeys(CALLS, _called) | _RULES
"""The allow-list. A SQL node that is not a key here never reaches a plan."""
