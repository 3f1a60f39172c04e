"""Kinds of expressions, and every scalar function by name with the constants that may stand beside its operand.

What kind of value an expression is follows from its shape alone; mixtures are refused. The plan knows an
expression's range from evaluating it in Python, the rows come from the engine's SQL. The two agree only where no
side has to guess: an integer as a condition or a text beside a number means one thing here and another there, and a
range that does not hold is a wrong sensitivity.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Expr, Operator
from discreet.ask.plan.functions import DATES, PLANNED, SECONDS_OF, PlannedFunction
from discreet.errors import QueryRefused
from discreet.privacy.kernel.functions import LONGEST_TEXT, SEALED, ScalarFunction
from discreet.privacy.kernel.patterns import Pattern, PatternRefused, check_replacement, pattern_of

SCALARS: dict[str, ScalarFunction] = {**SEALED, **PLANNED, **DATES}
"""Every function of one value that an analyst may use, each total."""

ON_TEXT = frozenset(
    name for name, row in SCALARS.items() if row.takes == "category" and row.sql is not None
)
"""What may be done with free text; everything else needs a declared list of values."""


def planned(function: str) -> PlannedFunction | None:
    """Return the row of a function that reaches engines, if at all, as something else."""
    row = SCALARS[function]
    return row if isinstance(row, PlannedFunction) else None


def checked_pattern(pattern: Any) -> str:
    """Return a regular expression that never fails and takes linear time, or refuse it."""
    _pattern(pattern)
    return str(pattern)


def checked_replacement(pattern: Any, other: Any) -> str:
    """Return what a pattern's matches are replaced by, or refuse it."""
    found = _pattern(pattern)
    if not isinstance(other, str):
        raise _wrong_pattern("a replacement that is no text")
    try:
        check_replacement(other, found.groups)
    except PatternRefused as odd:
        raise _wrong_pattern(str(odd)) from None
    return other


def _pattern(pattern: Any) -> Pattern:
    if not isinstance(pattern, str):
        raise _wrong_pattern("a pattern that is no text")
    try:
        found = pattern_of(pattern)
        pc.match_substring_regex(pa.array([""]), pattern)
    except (PatternRefused, pa.ArrowInvalid) as odd:
        raise _wrong_pattern(
            str(odd) if isinstance(odd, PatternRefused) else "one that RE2 refuses"
        ) from None
    return found


def _wrong_pattern(why: str) -> QueryRefused:
    return QueryRefused(
        f"This regular expression is declined: {why}.",
        hint="Letters, classes, anchors, plain groups, alternatives and repetitions up to 100 "
        "times are safe on every row.",
        construct="pattern",
    )


def checked_options(function: str, options: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the constants beside the first argument of a function, or refuse them.

    Guarantee: as many as it takes, texts where texts belong, and whole numbers that are no longer than
    any text.
    """
    row = SCALARS[function]
    try:
        inspect.signature(row.compute).bind(None, *options)
    except TypeError:
        raise _wrong_number(function) from None
    wanted = row.constants
    least, most = wanted.places
    if not most:
        if wanted.texts and not all(isinstance(option, str) for option in options):
            raise _wrong_options(function, "texts")
        if not all(option is not None for option in options):
            raise _wrong_options(function, "values that are not NULL")
        return options
    texts = options[:1] if wanted.texts else ()
    places = [_whole(option) for option in options[len(texts) :]]
    fits = least <= len(places) <= most and all(isinstance(text, str) for text in texts)
    if not fits or any(place is None or abs(place) > LONGEST_TEXT for place in places):
        raise _wrong_options(function, f"whole numbers up to {LONGEST_TEXT:,}")
    if wanted.from_one and not places[0]:
        raise _wrong_options(function, "places from 1 on")
    return (*texts, *places)


def _whole(option: Any) -> int | None:
    number = isinstance(option, int | Fraction) and not isinstance(option, bool)
    return int(option) if number and Fraction(option).denominator == 1 else None


def _wrong_options(function: str, wanted: str) -> QueryRefused:
    return QueryRefused(
        f"{function.upper()} takes {wanted} as constants here.",
        hint="What could fail on some row is never run.",
        construct="text",
    )


def _wrong_number(function: str) -> QueryRefused:
    return QueryRefused(
        f"{function.upper()} is not called with so many constants.",
        hint=f"Write {SCALARS[function].written[0]}." if SCALARS[function].written else "",
        construct="text",
    )


Kinds: TypeAlias = Mapping[str, str]
"""The kind of each column: number, category, boolean, date, moment, identifier, text."""

NULL = "null"


def kind_of(expr: Expr, kinds: Kinds) -> str:
    """Return the kind of `expr`, or refuse it; `null` is the kind of a bare NULL."""
    return _RULES[type(expr)](expr, kinds)


def check_condition(expr: Expr, kinds: Kinds) -> None:
    """Refuse a condition that is not true, false or NULL."""
    _must(expr, kinds, "boolean", "A condition")


def _must(expr: Expr, kinds: Kinds, wanted: str, what: str) -> None:
    _expect(kind_of(expr, kinds), wanted, what)


def _expect(found: str, wanted: str, what: str) -> None:
    if found == "text" and wanted == "category":
        return  # a text like any other, only that nobody listed its values
    if found not in {wanted, NULL}:
        raise QueryRefused(
            f"{what} must be {_one(wanted)} here, not {_one(found)}.",
            hint="Compare a column with a constant of its own type.",
            construct="type",
        )


def _same(parts: list[Expr], kinds: Kinds, what: str) -> str:
    found = {kind_of(part, kinds) for part in parts} - {NULL}
    if found == {"text", "category"}:
        return "text"
    if len(found) > 1:
        raise QueryRefused(
            f"{what} mixes {' and '.join(map(_one, sorted(found)))}.",
            hint="Use values of one type.",
            construct="type",
        )
    return found.pop() if found else NULL


def _one(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def kind_of_value(value: Any) -> str:
    """Return the kind of a constant."""
    match value:
        case None:
            return NULL
        case bool():
            return "boolean"
        case int() | Fraction() | float():
            return "number"
        case str():
            return "category"
        case dt.datetime():
            return "moment"
        case dt.date():
            return "date"
        case _:
            raise AssertionError(type(value))


def _arithmetic(node: e.Arithmetic, kinds: Kinds) -> str:
    both = kind_of(node.left, kinds), kind_of(node.right, kinds)
    if both == ("date", "date") and node.operator is Operator.SUBTRACT:
        return "number"
    for found in both:
        _expect(found, "number", f"What stands beside {node.operator.value}")
    return "number"


def _negate(node: e.Negate, kinds: Kinds) -> str:
    _must(node.operand, kinds, "number", "What stands behind a minus")
    return "number"


def _compare(node: e.Compare, kinds: Kinds) -> str:
    if _same([node.left, node.right], kinds, "A comparison") == "identifier":
        raise QueryRefused(
            "Identifiers cannot be compared.",
            hint="Count them, or join on them.",
            construct="comparison",
        )
    return "boolean"


def _logical(node: e.And | e.Or, kinds: Kinds) -> str:
    for operand in node.operands:
        check_condition(operand, kinds)
    return "boolean"


def _not(node: e.Not, kinds: Kinds) -> str:
    check_condition(node.operand, kinds)
    return "boolean"


def _is_null(node: e.IsNull, kinds: Kinds) -> str:
    kind_of(node.operand, kinds)
    return "boolean"


def _in(node: e.In, kinds: Kinds) -> str:
    _same([node.operand, *map(e.Literal, node.values)], kinds, "IN")
    return "boolean"


def _like(node: e.Like, kinds: Kinds) -> str:
    _must(node.operand, kinds, "category", "What stands before LIKE")
    return "boolean"


def _case(node: e.Case, kinds: Kinds) -> str:
    for condition, _ in node.branches:
        check_condition(condition, kinds)
    return _same([*(value for _, value in node.branches), node.otherwise], kinds, "CASE")


def _extreme(node: e.Extreme, kinds: Kinds) -> str:
    return _same(list(node.operands), kinds, "LEAST or GREATEST")


def _coalesce(node: e.Coalesce, kinds: Kinds) -> str:
    return _same(list(node.operands), kinds, "COALESCE")


def _concat(node: e.Concat, kinds: Kinds) -> str:
    found = {kind_of(operand, kinds) for operand in node.operands}
    for each in sorted(found):
        _expect(each, "category", "What is put together")
    return "text" if "text" in found else NULL if found == {NULL} else "category"


def _date_part(node: e.DatePart, kinds: Kinds) -> str:
    if kind_of(node.operand, kinds) == "moment":
        return "number"
    if node.part.value in SECONDS_OF:
        raise _no_time()
    _must(node.operand, kinds, "date", "What a date part is taken of")
    return "number"


def _no_time() -> QueryRefused:
    return QueryRefused(
        "Only a column that is declared as a timestamp has a time of day.",
        hint="Take the hour of the column itself.",
        construct="time of day",
    )


_PLAIN = frozenset({"number", "category", "boolean", NULL})
_CASTABLE = {"integer": _PLAIN, "number": _PLAIN, "text": _PLAIN | {"date"}}


def _call(node: e.Call, kinds: Kinds) -> str:
    # Asked once at each level: twice would take 2^levels.
    operand, row = kind_of(node.operand, kinds), SCALARS[node.function]
    if node.function in _CASTABLE:
        if operand not in _CASTABLE[node.function]:
            raise QueryRefused(
                f"What is cast to a {row.gives} must be a number, text or truth value.",
                hint="Take parts of a date with EXTRACT; identifiers and free text are never read.",
                construct="type",
            )
        return row.gives
    of_moment = row.of_moment if isinstance(row, PlannedFunction) else ""
    if operand == "moment" and of_moment:
        return of_moment
    if node.function == "truncate_date" and operand == "moment":
        return "moment" if node.options[:1] and node.options[0] in SECONDS_OF else "date"
    if node.function == "truncate_date" and node.options[:1] and node.options[0] in SECONDS_OF:
        raise _no_time()
    _expect(operand, row.takes, f"What {node.function.upper()} takes")
    free = row.gives == "category" and operand == "text"
    return "text" if free else row.gives


_RULES: dict[type, Callable[[Any, Kinds], str]] = {
    e.ColumnRef: lambda node, kinds: kinds[node.name],
    e.Literal: lambda node, _kinds: kind_of_value(node.value),
    e.Arithmetic: _arithmetic,
    e.Negate: _negate,
    e.Compare: _compare,
    e.And: _logical,
    e.Or: _logical,
    e.Not: _not,
    e.IsNull: _is_null,
    e.In: _in,
    e.Like: _like,
    e.Case: _case,
    e.Extreme: _extreme,
    e.Coalesce: _coalesce,
    e.Concat: _concat,
    e.DatePart: _date_part,
    e.Call: _call,
}
