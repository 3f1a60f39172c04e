"""Columns that follow from others by arithmetic: `total = price * quantity`, `left = came + stay`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sqlglot
from sqlglot import exp

from discreet.core.arrays import Floats
from discreet.core.schema import DateDomain, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.synth.encoding.columns import Coded, Encoding
from discreet.synth.encoding.decode import NULL, Places, day_number

_OPERATORS: dict[type[exp.Expression], Callable[[Floats, Floats], Floats]] = {
    exp.Add: np.add,
    exp.Sub: np.subtract,
    exp.Mul: np.multiply,
    exp.Div: np.divide,
}


@dataclass(frozen=True, slots=True)
class Derivation:
    """A numeric column that every row computes from others; `then` is its place among the coded."""

    text: str
    then: int
    value: exp.Expression


def read_derivation(text: str, encoding: Encoding) -> Derivation | None:
    """Return `COLUMN = arithmetic`, or None where the text is some other rule.

    The left side is a number or a day, the right side has +, -, * or /: days count as whole numbers.
    """
    try:
        found = sqlglot.parse_one(text, read="duckdb")
    except (sqlglot.errors.SqlglotError, TypeError):  # the parser trips over "-> age"
        return None
    if not isinstance(found, exp.EQ) or not isinstance(found.this, exp.Column):
        return None
    if not isinstance(found.expression.unnest(), tuple(_OPERATORS)):
        return None
    then = encoding.index(found.this.name)
    if not isinstance(encoding.coded[then].domain, IntegerDomain | NumberDomain | DateDomain):
        raise InvalidInput(f"In '{text[:80]}' the left side must be a number or a day.")
    value = found.expression
    _check(value, encoding, text)
    return Derivation(text, then, value)


def _check(value: exp.Expression, encoding: Encoding, text: str) -> None:
    for node in value.walk():
        if isinstance(node, exp.Column):
            column = encoding.coded[encoding.index(node.name)]
            if not isinstance(column.domain, IntegerDomain | NumberDomain | DateDomain):
                raise InvalidInput(f"In '{text[:80]}' only numbers and days can be computed with.")
        elif not isinstance(node, (*_OPERATORS, exp.Literal, exp.Paren, exp.Neg, exp.Identifier)):
            raise InvalidInput(
                f"The rule '{text[:80]}' computes with more than + - * / and columns.",
                hint="Write for example: total = price * quantity.",
            )


def derive(places: Places, encoding: Encoding, derivations: tuple[Derivation, ...]) -> Places:
    """Return the rows with derived columns computed, rounded to their steps, inside their domains.

    A gap on the right is a gap on the left where the column may have one; elsewhere, and where the
    arithmetic has no value (a division by 0), the row keeps what was drawn.
    """
    for rule in derivations:
        column = encoding.coded[rule.then]
        with np.errstate(all="ignore"):
            found = _evaluated(rule.value, places, encoding)
        lower, step = _lattice(column)
        known = np.isfinite(found)
        steps = np.rint((np.where(known, found, 0.0) - lower) / step)
        place = np.clip(steps, 0, column.positions - 1).astype(np.int64)
        gap = NULL if column.missing else places[:, rule.then]
        places[:, rule.then] = np.where(known, place, gap)
    return places


def _evaluated(node: exp.Expression, places: Places, encoding: Encoding) -> Floats:
    match node:
        case exp.Paren():
            return _evaluated(node.this, places, encoding)
        case exp.Neg():
            return -_evaluated(node.this, places, encoding)
        case exp.Literal():
            return np.full(len(places), float(node.name))
        case exp.Column():
            index = encoding.index(node.name)
            lower, step = _lattice(encoding.coded[index])
            mine = places[:, index]
            return np.where(mine == NULL, np.nan, lower + step * mine)
        case _:
            left = _evaluated(node.this, places, encoding)
            right = _evaluated(node.expression, places, encoding)
            return _OPERATORS[type(node)](left, right)


def _lattice(column: Coded) -> tuple[float, float]:
    """Return the value at a column's first position, and the step between positions."""
    match column.domain:
        case NumberDomain(lower=lower, step=step):
            return float(lower), float(step)
        case DateDomain(lower=first):
            return float(day_number(first)), 1.0
        case domain:
            assert isinstance(domain, IntegerDomain), "checked when the rule was read"
            return float(domain.lower), 1.0
