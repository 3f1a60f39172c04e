"""Scalar functions that no engine is asked by name, one row each: tabulated, rewritten or drawn.

Over a column with few declared values a function is tabulated, whatever the engine; on results it is
computed here. A row with nothing but a value in Python can do both, and is refused over more values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from discreet.core.numbers import plain, to_fraction
from discreet.kernel.functions import Constants, ScalarFunction, Whole
from discreet.plan.functions import rewrites, shapes
from discreet.plan.functions.row import PlannedFunction

MOST_DIGITS = 400
MOST_BITS = 256
"""ROUND to more digits and exact powers of longer numbers would only fill the memory."""


def _round(value: Any, digits: Any = 0) -> Any:
    # Half away from zero, as SQL does; Python's round() goes to even. In whole numbers: fractions
    # would take most of the time in which a large column is tabulated.
    places = int(digits)
    if abs(places) > MOST_DIGITS:
        raise ValueError(digits)
    above, below = value.as_integer_ratio()
    scale = 10 ** abs(places)
    above, below = (above * scale, below) if places > 0 else (above, below * scale)
    rounded = (2 * abs(above) + below) // (2 * below) * (1 if above >= 0 else -1)
    if places <= 0:
        return rounded * scale
    result = Fraction(rounded, scale)
    return int(result) if result.denominator == 1 else result


def _number(value: Any) -> Any:
    # A truth value is 0 or 1 from here on: Python would go on calling it a truth value.
    return (
        to_fraction(value)
        if isinstance(value, str)
        else int(value)
        if isinstance(value, bool)
        else value
    )


def _text(value: Any) -> str:
    if isinstance(value, Fraction):
        return plain(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _power(value: Any, exponent: Any) -> Any:
    exact = Fraction(exponent)
    if exact.denominator == 1 and abs(exact) <= 64 and not isinstance(value, float):
        base = Fraction(value)
        if max(base.numerator.bit_length(), base.denominator.bit_length()) <= MOST_BITS:
            return base ** int(exact)
    return float(value) ** float(exponent)


def _of_float(
    written: str, compute: Callable[[float], float], curve: shapes.CurveShape | None = None
) -> PlannedFunction:
    """Return a function of real numbers; its last digits are the machine's."""
    return PlannedFunction(
        written=(written,),
        takes="number",
        gives="number",
        compute=lambda value: compute(float(value)),
        steps=True,
        curve=curve,
    )


def _of_part(written: str, gives: str, compute: Callable[[str, str], Any]) -> PlannedFunction:
    """Return a function of a text and a constant one."""
    return PlannedFunction(
        written=(written,),
        takes="category",
        gives=gives,
        compute=lambda value, part: compute(str(value), str(part)),
        constants=Constants(texts=True),
        steps=True,
    )


PLANNED: dict[str, ScalarFunction] = {
    "ceil": PlannedFunction(
        written=("CEIL(x)",),
        takes="number",
        gives="number",
        compute=math.ceil,
        whole=Whole.ALWAYS,
        steps=True,
        rewritten=rewrites.ceil,
    ),
    "floor": PlannedFunction(
        written=("FLOOR(x)",),
        takes="number",
        gives="number",
        compute=math.floor,
        whole=Whole.ALWAYS,
        steps=True,
        rewritten=rewrites.floor,
    ),
    "round": PlannedFunction(
        written=("ROUND(x, 2)",),
        takes="number",
        gives="number",
        compute=_round,
        constants=Constants(places=(0, 1)),
        whole=Whole.AS_OPERAND,
        steps=True,
        lowered=rewrites.rounded,
    ),
    "sqrt": PlannedFunction(
        written=("SQRT(x)",),
        takes="number",
        gives="number",
        compute=lambda value: math.sqrt(float(value)) if value >= 0 else None,
        steps=True,
        curve=shapes.power(Fraction(1, 2)),
    ),
    "exp": _of_float("EXP(x)", math.exp, shapes.exponential()),
    "ln": _of_float("LN(x)", math.log, shapes.logarithm(math.log)),
    "log10": _of_float("LOG(x)", math.log10, shapes.logarithm(math.log10)),
    "log2": _of_float("LOG2(x)", math.log2, shapes.logarithm(math.log2)),
    "power": PlannedFunction(
        written=("POWER(x, 0.5)",),
        takes="number",
        gives="number",
        compute=_power,
        steps=True,
        lowered=rewrites.product,
        curve=shapes.power,
    ),
    "sign": PlannedFunction(
        written=("SIGN(x)",),
        takes="number",
        gives="number",
        compute=lambda value: (value > 0) - (value < 0),
        whole=Whole.ALWAYS,
        steps=True,
        lowered=rewrites.sign,
    ),
    "cos": _of_float("COS(x)", math.cos),
    "sin": _of_float("SIN(x)", math.sin),
    "tan": _of_float("TAN(x)", math.tan),
    "atan": _of_float("ATAN(x)", math.atan),
    "radians": _of_float("RADIANS(x)", math.radians),
    "degrees": _of_float("DEGREES(x)", math.degrees),
    "right": PlannedFunction(
        written=("RIGHT(s, 2)",),
        takes="category",
        gives="category",
        compute=lambda value, count: str(value)[-int(count) :] if int(count) else "",
        constants=Constants(places=(1, 1)),
        steps=True,
    ),
    "position": _of_part("POSITION('a' IN s)", "number", lambda value, part: value.find(part) + 1),
    "contains": _of_part("CONTAINS(s, 'a')", "boolean", lambda value, part: part in value),
    "ends_with": _of_part("ENDS_WITH(s, 'a')", "boolean", str.endswith),
    "reverse": PlannedFunction(
        written=("REVERSE(s)",),
        takes="category",
        gives="category",
        compute=lambda value: str(value)[::-1],
        steps=True,
    ),
    # What CAST makes: of numbers, texts and truth values alike.
    "integer": PlannedFunction(
        takes="",
        gives="number",
        compute=lambda value: int(value) if isinstance(value, str) else int(_round(value)),
        whole=Whole.ALWAYS,
        lowered=rewrites.rounded,
    ),
    "number": PlannedFunction(takes="", gives="number", compute=_number),
    "text": PlannedFunction(takes="", gives="category", compute=_text),
}
"""By the name that a call has in a plan."""
