"""The columns of an answer, known before anything is paid: names, types, and which are noisy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from discreet.core.answers.output import OutputColumn, OutputType
from discreet.core.schema import Domain, IntegerDomain
from discreet.kernel.functions import Whole
from discreet.plan import expr as e
from discreet.plan.expr import Expr, Operator, kind
from discreet.plan.kinds import SCALARS, kind_of
from discreet.plan.plan import Question, ask
from discreet.release.desk import Desk
from discreet.release.snapshots import hold, snapshots_of
from discreet.sql.bind import bind
from discreet.sql.parse import ParsedQuestion


def shape_of(sql: str | ParsedQuestion, desk: Desk) -> tuple[OutputColumn, ...]:
    """Return the columns of the answer to `sql`. Depends on public facts only; spends nothing."""
    statement = bind(sql, desk.catalog)
    with hold(statement.source, desk) as held:
        question = ask(statement, desk.catalog, snapshots_of(statement.source, held))
    kinds, whole = _facts(question)
    random = {name for name, _ in question.measured.measures}
    random |= {name for name, _ in question.measured.choices}
    return tuple(
        OutputColumn(name, _type(value, kinds, whole), bool(e.columns_of(value) & random))
        for name, value in question.outputs
    )


def _facts(question: Question) -> tuple[dict[str, str], dict[str, bool]]:
    """Return the kind of each key, measure and choice, and whether it is a whole number."""
    kinds: dict[str, str] = {}
    whole: dict[str, bool] = {}
    for key in question.statement.keys:
        kinds[key.name] = kind(key.domain)
        whole[key.name] = isinstance(key.domain, IntegerDomain)
    for name, _ in question.measured.measures:
        kinds[name], whole[name] = "number", True
    for name, choice in question.measured.choices:
        kinds[name] = kind(choice.domain)
        whole[name] = isinstance(choice.domain, IntegerDomain)
    return kinds, whole


_TYPES = {
    "boolean": OutputType.BOOLEAN,
    "date": OutputType.DATE,
    "moment": OutputType.TIMESTAMP,
    "number": OutputType.NUMBER,
}


def _type(expr: Expr, kinds: Mapping[str, str], whole: Mapping[str, bool]) -> OutputType:
    found = _TYPES.get(kind_of(expr, kinds), OutputType.TEXT)
    if found is OutputType.NUMBER and is_whole(expr, whole):
        return OutputType.INTEGER
    return found


def type_of(domain: Domain) -> OutputType:
    """Return the type in which the values of a domain are told."""
    if isinstance(domain, IntegerDomain):
        return OutputType.INTEGER
    return _TYPES.get(kind(domain), OutputType.TEXT)


def is_whole(expr: Expr, whole: Mapping[str, bool]) -> bool:
    """Return whether a number is always a whole one; False where that is not certain."""
    rule = _WHOLE.get(type(expr))
    return rule is not None and rule(expr, whole)


def _literal(node: e.Literal, _whole: Mapping[str, bool]) -> bool:
    return node.value is None or (
        isinstance(node.value, int | Fraction) and Fraction(node.value).denominator == 1
    )


def _arithmetic(node: e.Arithmetic, whole: Mapping[str, bool]) -> bool:
    if node.operator is Operator.DIVIDE:
        return False
    return is_whole(node.left, whole) and is_whole(node.right, whole)


def _case(node: e.Case, whole: Mapping[str, bool]) -> bool:
    values = (*(value for _, value in node.branches), node.otherwise)
    return all(is_whole(value, whole) for value in values)


def _all(node: e.Extreme | e.Coalesce, whole: Mapping[str, bool]) -> bool:
    return all(is_whole(operand, whole) for operand in node.operands)


def _call(node: e.Call, whole: Mapping[str, bool]) -> bool:
    known = SCALARS[node.function].whole
    if known is Whole.ALWAYS or (node.function == "round" and not node.options):
        return True
    return known is Whole.AS_OPERAND and is_whole(node.operand, whole)


_WHOLE: dict[type, Callable[[Any, Mapping[str, bool]], bool]] = {
    e.ColumnRef: lambda node, whole: whole.get(node.name, False),
    e.Literal: _literal,
    e.Arithmetic: _arithmetic,
    e.Negate: lambda node, whole: is_whole(node.operand, whole),
    e.Case: _case,
    e.Extreme: _all,
    e.Coalesce: _all,
    e.DatePart: lambda _node, _whole: True,
    e.Call: _call,
}
