"""Grading: an answer as people write it (`ln(3)/2`, several numbers, letters), checked by computation."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

from discreet.course.exercise import AnswerKind, GradedAnswer
from discreet.course.lesson import lesson_named
from discreet.errors import DiscreetError, InvalidInput, TooManyRequests

LONGEST = 2_000
_LONGEST_SUM = 200
_NAMES = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ln": math.log,
    "log": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "abs": abs,
}
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


def number_of(text: str) -> float:
    """Return the value of a number or of a little arithmetic; floats only, so that nothing grows.

    >>> round(number_of("ln(3) / 2"), 4), number_of("1,024"), number_of("3/4"), number_of("25 %")
    (0.5493, 1024.0, 0.75, 0.25)
    """
    written = text.strip().replace("^", "**").replace("\u2212", "-")
    if not written or len(written) > _LONGEST_SUM:
        raise InvalidInput("Write a number, such as 0.75, 3/4 or ln(3).")
    part = written.endswith("%")
    written = re.sub(r"(?<=\d),(?=\d{3}(\D|$))", "", written.removesuffix("%").strip())
    try:
        value = _value(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(
            "This is not a number that can be worked out.",
            hint="Numbers with a decimal point, + - * / ^, ln, exp and sqrt will do.",
        )
    return value / 100 if part else value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _BINARY[type(sign)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(inner))
    raise ValueError("not arithmetic")


def numbers_of(text: str) -> list[float]:
    """Return several numbers, set apart by commas, semicolons or spaces.

    A comma before three digits belongs to its number, except behind a decimal point.

    >>> numbers_of("2004.2, 1,006 ; 998.2"), numbers_of("2004.2,1006.0,998.2"), numbers_of("100,40,50")
    ([2004.2, 1006.0, 998.2], [2004.2, 1006.0, 998.2], [100.0, 40.0, 50.0])
    """
    apart = re.sub(r"(\.\d+),", r"\1 ", text.strip())
    parts = [part for part in re.split(r"[;\s]+|,(?!\d{3}(?!\d))", apart) if part.strip(",")]
    if not 0 < len(parts) <= 20:
        raise InvalidInput("Write the numbers one after the other, with spaces between them.")
    return [number_of(part.strip(",")) for part in parts]


def letters_of(text: str) -> frozenset[str]:
    """Return the letters that were named; `none` names none of them.

    >>> sorted(letters_of("a, C")), sorted(letters_of("none"))
    (['A', 'C'], [])
    """
    if text.strip().lower() == "none":
        return frozenset()
    found = frozenset(text.upper()) - frozenset(" ,;.\n\t")
    if not found or any(not "A" <= letter <= "Z" for letter in found):
        raise InvalidInput("Write letters, such as A C; or none.")
    return found


def sql_of(text: str) -> str:
    """Return the text of a statement."""
    if not text.strip():
        raise InvalidInput("Write a SELECT.")
    return text.strip()


READERS: dict[AnswerKind, Callable[[str], Any]] = {
    AnswerKind.NUMBER: number_of,
    AnswerKind.NUMBERS: numbers_of,
    AnswerKind.LETTERS: letters_of,
    AnswerKind.SQL: sql_of,
}


def grade(lesson: str, question: str, answer: str | float) -> GradedAnswer:
    """Return whether an answer to a lesson's question is right, and why.

    Guarantee: no data set and no ledger but those of a made-up town of the course's own are touched
        (`course.practice_town`); a statement is planned by the product and never reaches an engine as written.

    >>> grade("randomized_response", "epsilon", "ln(3)").right
    True
    """
    asked = lesson_named(lesson).question(question)
    written = str(answer)
    if len(written) > LONGEST:
        raise InvalidInput(f"An answer has at most {LONGEST:,} characters.")
    try:
        return asked.check(READERS[asked.kind](written))
    except TooManyRequests:
        raise
    except DiscreetError as error:  # a refusal of the product is part of the lesson
        return GradedAnswer(False, str(error))
