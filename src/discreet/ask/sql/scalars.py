"""Scalar SQL to plan expressions, by an allow-list: what is not in the tables is refused.

And constants read the way the column beside them is typed: '1994-01-01' beside a date is a date.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import Fields, evaluate
from discreet.ask.plan.expr import Comparison, Expr, Operator
from discreet.ask.plan.kinds import checked_options, checked_pattern, checked_replacement, kind_of
from discreet.ask.sql.dates import (
    DAYS,
    Rule,
    ToExpression,
    constant_day,
    is_short,
    length_of,
    moved,
    now,
    parse_date,
    part_named,
    today,
)
from discreet.ask.sql.parse import CALLS, NAMED
from discreet.ask.sql.refuse import refusal, too_large
from discreet.ask.sql.timestamps import compared, listed, of_clock, of_time
from discreet.base.numbers import plain, to_fraction
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import DiscreetError


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


_SOME_DAYS = DateDomain(dt.date(1, 1, 1), dt.date(9999, 12, 31))
"""What a constant is read as beside something that was cast to a date."""


def coerce(expr: Expr, fields: Fields) -> Expr:
    """Return `expr` with text constants turned into the type of the column they are compared to."""
    rebuilt = e.rebuilt(expr, lambda part: coerce(part, fields))
    timed = of_clock(rebuilt, fields)
    if timed is not None:
        return timed
    match rebuilt:
        case e.Compare(left=left, right=right, comparison=comparison):
            at_time = of_time(rebuilt, fields)
            if at_time is not None:
                return at_time
            assert isinstance(expr, e.Compare)
            days = _is_day(expr.left) or _is_day(expr.right)
            one = _SOME_DAYS if days else _domain(left, fields)
            two = _SOME_DAYS if days else _domain(right, fields)
            if comparison not in _SAME:
                left, one = _as_number(left, one, right)
                right, two = _as_number(right, two, left)
            left, right = _constant(left, two), _constant(right, one)
            return compared(replace(rebuilt, left=left, right=right), fields, by_day=days)
        case e.In(operand=operand, values=values):
            assert isinstance(expr, e.In)
            days = _is_day(expr.operand)
            domain = _SOME_DAYS if days else _domain(operand, fields)
            found = tuple(_value(value, domain) for value in values)
            return listed(replace(rebuilt, values=found), fields, by_day=days)
        case _:
            return rebuilt


def _is_day(written: Expr) -> bool:
    """Return whether an operand was cast to a date: of a timestamp its day, and no time."""
    return isinstance(written, e.Call) and written.function == "day"


def _domain(expr: Expr, fields: Fields) -> Domain | None:
    # Only a column, or its month, lends its type: that is what people mean by a date as text.
    if isinstance(expr, e.Call) and expr.function in {"truncate_date", "move_date"}:
        return _domain(expr.operand, fields)
    return fields.get(expr.name) if isinstance(expr, e.ColumnRef) else None


_SAME = {Comparison.EQUAL, Comparison.NOT_EQUAL}


def _as_number(expr: Expr, domain: Domain | None, other: Expr) -> tuple[Expr, Domain | None]:
    """Return a category of numbers as numbers, where it is compared with one: educ < 12."""
    if not isinstance(domain, CategoryDomain) or not isinstance(other, e.Literal):
        return expr, domain
    if not isinstance(other.value, int | Fraction) or not all(map(_is_numeric_text, domain.values)):
        return expr, domain
    return e.Call("number", expr), None


def _is_numeric_text(text: str) -> bool:
    try:
        to_fraction(text)
    except DiscreetError:
        return False
    return True


def _constant(expr: Expr, domain: Domain | None) -> Expr:
    return e.Literal(_value(expr.value, domain)) if isinstance(expr, e.Literal) else expr


def _spelled(value: Any, domain: CategoryDomain) -> Any:
    """Return a number or truth value as the declared text that says the same: 1 as '1'."""
    if isinstance(value, bool):
        said = ("1", "true", "t", "yes", "y") if value else ("0", "false", "f", "no", "n")
        return next((text for text in domain.values if text.lower() in said), value)
    if isinstance(value, int | Fraction):
        known = [
            text for text in domain.values if _is_numeric_text(text) and to_fraction(text) == value
        ]
        return known[0] if known else plain(Fraction(value))
    return value


_TRUTHS = {"true": True, "t": True, "yes": True, "false": False, "f": False, "no": False}


def _truth(value: Any) -> Any:
    if isinstance(value, str):
        return _TRUTHS.get(value.lower(), value)
    number = isinstance(value, int | Fraction) and not isinstance(value, bool)
    return bool(value) if number and value in {0, 1} else value


def _value(value: Any, domain: Domain | None) -> Any:
    if isinstance(domain, CategoryDomain):
        return _spelled(value, domain)
    if isinstance(domain, TextDomain) and isinstance(value, int | Fraction):
        return plain(Fraction(value))
    if isinstance(domain, BooleanDomain):
        return _truth(value)
    if not isinstance(value, str):
        return value
    if isinstance(domain, DateDomain | TimestampDomain):
        day = parse_date(value)
        return value if day is None else day
    if isinstance(domain, IntegerDomain | NumberDomain):
        try:
            return to_fraction(value)
        except DiscreetError:
            return value
    return value
