"""Which values an expression can take, from the declared domains alone: exact interval arithmetic.

A number is always a whole multiple of a known step, so the engine computes with integers and nothing
rounds. An expression over one column with a small domain is simply tabulated; a function over a large domain is
written as arithmetic. What an aggregate over one person's own rows can be follows from the bound on rows.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from discreet.ask.plan import expr as e
from discreet.ask.plan.evaluate import (
    CURVES,
    PLAIN_TABLE,
    TABULATE,
    Curve,
    ExprKey,
    Fields,
    computes,
    curve,
    least_domain,
    part_of,
    small_column,
    tabulated,
)
from discreet.ask.plan.expr import (
    EPOCH,
    Expr,
    Operator,
    Part,
    check_fits,
    common_step,
    domain_of_values,
    kind,
    kinds_of,
    lattice,
    not_exact,
    number_domain,
)
from discreet.ask.plan.kinds import ON_TEXT, SCALARS, kind_of, planned
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    Domain,
    IntegerDomain,
    TextDomain,
    TimestampDomain,
)
from discreet.errors import QueryRefused


def infer(expr: Expr, fields: Fields) -> Domain:
    """Return the domain of `expr`, or refuse it with a sentence."""
    if isinstance(expr, e.ColumnRef):
        return fields[expr.name]
    written = ExprKey(expr)
    known = tuple((name, fields[name]) for name in sorted(e.columns_of(expr)))
    name = small_column(expr, fields)
    if name is None:
        return _by_rule(written, known)
    if fields[name].size > PLAIN_TABLE and computes(expr):  # type: ignore[union-attr]  # small: finite
        # What the rule refuses, the table may still hold.
        with suppress(QueryRefused):
            return _by_rule(written, known)
    return least_domain(written, name, fields[name])


@lru_cache(maxsize=512)
def _by_rule(written: ExprKey, known: tuple[tuple[str, Domain], ...]) -> Domain:
    # Rules ask for their operands more than once, at every level: kept, or it takes 2^levels.
    return infer_by_rule(written.expr, dict(known))


def infer_by_rule(expr: Expr, fields: Fields) -> Domain:
    """Return the domain of `expr` from those of its operands, without tabulating `expr` itself."""
    return _RULES[type(expr)](expr, fields)


def numeric(expr: Expr, fields: Fields) -> tuple[Fraction, Fraction, Fraction]:
    """Return (lower, upper, step) of a numeric expression, or refuse it."""
    found = lattice(infer(expr, fields))
    if found is None and kind_of(expr, kinds_of(fields)) == "number":
        raise nothing_to_measure()
    if found is None:
        raise QueryRefused(
            "This needs a number, but a column here is not one.",
            hint="Use COUNT for categories, or compare them with a value.",
            construct="type",
        )
    return found


def nothing_to_measure() -> QueryRefused:
    """Return the refusal of what has no value in any row."""
    return QueryRefused(
        "This is NULL whatever the rows hold, by what is declared: there is nothing to measure.",
        hint="Do its conditions contradict each other, or the declared range?",
        construct="type",
    )


def _literal(node: e.Literal, _fields: Fields) -> Domain:
    return domain_of_values([node.value])


def _arithmetic(node: e.Arithmetic, fields: Fields) -> Domain:
    days = _date_difference(node, fields)
    if days is not None:
        return days
    low1, high1, step1 = numeric(node.left, fields)
    if node.operator is Operator.DIVIDE and not isinstance(node.right, e.Literal):
        return _quotient(node, (low1, high1, step1), fields)
    if node.operator in {Operator.DIVIDE, Operator.FLOOR_DIVIDE, Operator.MODULO}:
        return _division(node, (low1, high1, step1))
    low2, high2, step2 = numeric(node.right, fields)
    if node.operator is not Operator.MULTIPLY:
        # Both sides are counted in the common step before they cancel.
        check_fits(low1, high1, common_step(step1, step2))
        check_fits(low2, high2, common_step(step1, step2))
    match node.operator:
        case Operator.ADD:
            return number_domain(low1 + low2, high1 + high2, common_step(step1, step2))
        case Operator.SUBTRACT:
            return number_domain(low1 - high2, high1 - low2, common_step(step1, step2))
        case _:
            corners = [a * b for a in (low1, high1) for b in (low2, high2)]
            return number_domain(min(corners), max(corners), step1 * step2)


def _date_difference(node: e.Arithmetic, fields: Fields) -> Domain | None:
    left, right = infer(node.left, fields), infer(node.right, fields)
    if isinstance(left, DateDomain) and isinstance(right, DateDomain):
        if node.operator is not Operator.SUBTRACT:
            raise _unsupported("adding two dates")
        return IntegerDomain((left.lower - right.upper).days, (left.upper - right.lower).days)
    if isinstance(left, DateDomain) or isinstance(right, DateDomain):
        raise _unsupported("moving a date column by a number of days")
    return None


FINER = 1_000
"""A quotient of two columns is counted in a step so much finer than theirs, and rounded down to it."""


def _quotient(
    node: e.Arithmetic, bounds: tuple[Fraction, Fraction, Fraction], fields: Fields
) -> Domain:
    """Return the range of a number over one that is never negative; over 0 it is NULL."""
    low, high, step = bounds
    least, most, by = numeric(node.right, fields)
    if least < 0 or not most:
        raise QueryRefused(
            "Inside an aggregate, a column can be divided by a number that is never negative.",
            hint="Divide the results instead, for example SUM(a) / SUM(b).",
            construct="division",
        )
    least = max(least, by)
    fine = step / (by * FINER)
    check_fits(low, high, step / FINER)
    ends = [end / each for end in (low, high) for each in (least, most)]
    return number_domain(
        math.floor(min(ends) / fine) * fine, math.ceil(max(ends) / fine) * fine, fine
    )


def _division(node: e.Arithmetic, bounds: tuple[Fraction, Fraction, Fraction]) -> Domain:
    low, high, step = bounds
    divisor = node.right.value if isinstance(node.right, e.Literal) else None
    if not isinstance(divisor, int | Fraction) or isinstance(divisor, bool) or not divisor:
        raise QueryRefused(
            "Inside an aggregate, division is only possible by a constant that is not zero.",
            hint="Divide the results instead, for example SUM(a) / SUM(b).",
            construct="division",
        )
    by = Fraction(divisor)
    if node.operator is Operator.DIVIDE:
        ends = sorted((low / by, high / by))
        return number_domain(ends[0], ends[1], step / abs(by))
    if by < 0:
        raise _unsupported("integer division by a negative number")
    _fits_division(bounds, by)
    if node.operator is Operator.FLOOR_DIVIDE:
        return IntegerDomain(math.floor(low / by), math.floor(high / by))
    fine = common_step(step, by)
    check_fits(low, high, fine)
    return number_domain(Fraction(0), by - fine, fine)


def _fits_division(bounds: tuple[Fraction, Fraction, Fraction], by: Fraction) -> None:
    # The SQL multiplies by the denominator first: floor(n * step / by) = n * q // p, p/q = by/step.
    low, high, step = bounds
    check_fits(low, high, step / (by / step).denominator)
    check_fits(by, by, step / (by / step).denominator)


def _negate(node: e.Negate, fields: Fields) -> Domain:
    low, high, step = numeric(node.operand, fields)
    return number_domain(-high, -low, step)


def _boolean(node: Expr, fields: Fields) -> Domain:
    check(node, fields)
    return BooleanDomain()


def check(expr: Expr, fields: Fields) -> None:
    """Refuse a condition whose parts cannot be compared exactly."""
    if isinstance(expr, e.Compare):
        left, right = infer(expr.left, fields), infer(expr.right, fields)
        texts = {kind(left), kind(right)} <= {"category", "text"}
        if (kind(left) != kind(right) and not texts) or kind(left) == "identifier":
            raise QueryRefused(
                f"A {kind(left)} cannot be compared with a {kind(right)} here.",
                hint="Compare a column with a constant of its own type.",
                construct="comparison",
            )
        if lattice(left) is not None:
            # Both sides are counted in one step, in which neither may overflow.
            _union([expr.left, expr.right], fields)
        return
    if isinstance(expr, e.And | e.Or | e.Not | e.IsNull | e.In | e.Like):
        for child in e.children(expr):
            infer(child, fields)
        return
    infer(expr, fields)


def _union(parts: list[Expr], fields: Fields) -> Domain:
    domains = [
        infer(part, fields)
        for part in parts
        if not (isinstance(part, e.Literal) and part.value is None)
    ]
    if not domains:
        return BooleanDomain()
    bounds = [found for domain in domains if (found := lattice(domain)) is not None]
    if len(bounds) == len(domains):
        low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
        return number_domain(low, high, _step_of_all(bounds))
    if {kind(domain) for domain in domains} == {"category", "text"}:
        return TextDomain()
    if len({kind(domain) for domain in domains}) > 1:
        raise _unsupported("a CASE whose branches have different types")
    if any(isinstance(domain, TimestampDomain) for domain in domains):
        raise _unsupported("one of several moments")
    if all(isinstance(domain, CategoryDomain) for domain in domains):
        texts = [value for domain in domains for value in domain.values]  # type: ignore[union-attr]  # all categories
        return CategoryDomain(tuple(dict.fromkeys(texts)))
    if all(isinstance(domain, DateDomain) for domain in domains):
        return DateDomain(
            min(domain.lower for domain in domains if isinstance(domain, DateDomain)),
            max(domain.upper for domain in domains if isinstance(domain, DateDomain)),
        )
    return domains[0]


def _step_of_all(bounds: list[tuple[Fraction, Fraction, Fraction]]) -> Fraction:
    step = Fraction(0)
    for low, _, each in bounds:
        step = common_step(common_step(step, each), low)
    return step


def _case(node: e.Case, fields: Fields) -> Domain:
    for condition, _ in node.branches:
        check(condition, fields)
    return _union([*(value for _, value in node.branches), node.otherwise], fields)


def _extreme(node: e.Extreme, fields: Fields) -> Domain:
    bounds = [numeric(operand, fields) for operand in node.operands]
    best = max if node.greatest else min
    step = _step_of_all(bounds)
    for low, high, _ in bounds:
        check_fits(low, high, step)
    return number_domain(best(b[0] for b in bounds), best(b[1] for b in bounds), step)


def _coalesce(node: e.Coalesce, fields: Fields) -> Domain:
    return _union(list(node.operands), fields)


def _date_part(node: e.DatePart, fields: Fields) -> Domain:
    domain = infer(node.operand, fields)
    if not isinstance(domain, DateDomain):
        raise _unsupported("a date part of something that is not a date")
    if node.part is Part.YEAR:
        return IntegerDomain(domain.lower.year, domain.upper.year)
    greatest = {
        Part.QUARTER: 4,
        Part.MONTH: 12,
        Part.DAY: 31,
        Part.WEEKDAY: 6,
        Part.WEEK: 53,
        Part.DAY_OF_YEAR: 366,
    }[node.part]
    if domain.size <= TABULATE:
        seen = {part_of(node.part, domain.value(i)) for i in range(domain.size)}
        return IntegerDomain(min(seen), max(seen))
    return IntegerDomain(0 if node.part is Part.WEEKDAY else 1, greatest)


def _concat(node: e.Concat, fields: Fields) -> Domain:
    """Return every way to put declared texts together, or free text where they are too many."""
    domains = [infer(operand, fields) for operand in node.operands]
    known = [domain.values for domain in domains if isinstance(domain, CategoryDomain)]
    if len(known) < len(domains) or math.prod(map(len, known)) > TABULATE:
        return TextDomain()
    return CategoryDomain(tuple(dict.fromkeys(map("".join, product(*known)))))


def _of_text(node: e.Call) -> Domain:
    row = SCALARS[node.function]
    if node.function not in ON_TEXT:
        raise _unsupported(f"{node.function.upper()} of free text")
    if row.between is not None:
        return IntegerDomain(*row.between)
    return BooleanDomain() if row.gives == "boolean" else TextDomain()


def _call(node: e.Call, fields: Fields) -> Domain:
    if isinstance(infer(node.operand, fields), TextDomain):
        return _of_text(node)
    if node.function == "moment":
        ends = numeric(node.operand, fields)
        first, last = (EPOCH + dt.timedelta(seconds=int(end)) for end in ends[:2])
        return TimestampDomain(first, last, int(ends[2]))
    if node.function == "number":
        return number_domain(*numeric(node.operand, fields))
    row, added = SCALARS[node.function], planned(node.function)
    if added is not None and added.rewritten is not None:
        return infer_by_rule(added.rewritten(node.operand), fields)
    if node.function in CURVES:
        drawn = curve_of(node, fields)
        if drawn is None:
            return BooleanDomain()  # NULL whatever the row says
        return number_domain(drawn.lower * drawn.step, drawn.upper * drawn.step, drawn.step)
    if row.takes == "number" and row.sql is not None:
        low, high, step = numeric(node.operand, fields)
        if row.reach is not None:
            return number_domain(*row.reach(low, high), step)
        if row.between is not None and step == 1:
            return IntegerDomain(*row.between)
    name = {"truncate_date": "DATE_TRUNC"}.get(node.function, node.function.upper())
    raise _unsupported(f"{name} on a column with so many values")


def curve_of(node: e.Call, fields: Fields) -> Curve | None:
    """Return a root, a logarithm and the like as straight pieces over the range of its operand."""
    low, high, step = numeric(node.operand, fields)
    exponent = None
    if node.function == "power":
        given = node.options[0]
        plain = isinstance(given, int | Fraction) and not isinstance(given, bool)
        if not plain or given in {0, 1} or abs(given) > MOST_POWER:  # type: ignore[operator,arg-type]  # plain numbers
            raise not_exact()
        exponent = Fraction(given)  # type: ignore[arg-type]  # a plain number
    return curve(node.function, exponent, low=low, high=high, step=step)


MOST_POWER = 16


def _unsupported(what: str) -> QueryRefused:
    return QueryRefused(
        f"Discreet cannot bound {what}.",
        hint="Simplify the expression, or declare a column that holds it.",
        construct=what,
    )


_RULES: dict[type, Callable[[Any, Fields], Domain]] = {
    e.Literal: _literal,
    e.Arithmetic: _arithmetic,
    e.Negate: _negate,
    e.Compare: _boolean,
    e.And: _boolean,
    e.Or: _boolean,
    e.Not: _boolean,
    e.IsNull: _boolean,
    e.In: _boolean,
    e.Like: _boolean,
    e.Case: _case,
    e.Extreme: _extreme,
    e.Coalesce: _coalesce,
    e.Concat: _concat,
    e.DatePart: _date_part,
    e.Call: _call,
}


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
