"""Variables of a regression: numbers between -1 and 1 that a column's codes pick."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.schema import BooleanDomain, CategoryDomain, Column, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.synth.columns import Coded

STEP = 1 << 10
"""Steps to one: numbers are rounded to a 2,048th of their declared range."""

MOST_VALUES = 24
"""Categories with more values are left out: each value is a column of its own."""

MOST_COLUMNS = 40
"""Columns after that; their products are 820 sums."""

MOST_CELLS = 1 << 12
"""Cells of a number that the engine tells apart."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One number of a row between -1 and 1: a scaled column, or whether it has one value.

    `value` is None for a number. `lower` and `upper` are the declared ends of it.
    """

    column: str
    value: Any
    lower: Fraction
    upper: Fraction


def variables_of(column: Column) -> list[Variable]:
    """Return the variables of a column; none where it cannot be used."""
    match column.domain:
        case IntegerDomain(lower=lower, upper=upper) if upper > lower:
            return [Variable(column.name, None, Fraction(lower), Fraction(upper))]
        case NumberDomain(lower=low, upper=high) if high > low:
            return [Variable(column.name, None, low, high)]
        case CategoryDomain(values=values) if len(values) <= MOST_VALUES:
            # The last value is what is left when all the others are not.
            each = values[:-1] if len(values) > 1 else ()
            return [Variable(column.name, v, Fraction(-1), Fraction(1)) for v in each]
        case BooleanDomain():
            return [Variable(column.name, True, Fraction(-1), Fraction(1))]
        case _:
            return []


def check_width(variables: list[Variable]) -> None:
    """Refuse more variables than are measured at once."""
    if len(variables) > MOST_COLUMNS + 1:
        raise InvalidInput(
            f"These features are {len(variables) - 1} columns of numbers, more than {MOST_COLUMNS}.",
            hint="Name fewer with --features. Nothing was charged.",
        )


def coded_column(column: Column, *, gaps: bool) -> Coded:
    """Return a column as codes, with one for gaps if wanted; wide ranges in equal cells."""
    domain = column.domain
    assert isinstance(domain, IntegerDomain | NumberDomain | CategoryDomain | BooleanDomain)
    whole = Coded(column.name, domain, missing=gaps)
    if isinstance(domain, BooleanDomain | CategoryDomain) or whole.positions <= MOST_CELLS:
        return whole
    width = -(-whole.positions // MOST_CELLS)
    return Coded(column.name, domain, tuple(range(0, whole.positions, width)), missing=gaps)


def numbers_of(variable: Variable, column: Coded) -> Floats:
    """Return the whole number, between -STEP and STEP, of each code; a gap of a number is zero."""
    if variable.value is not None:
        same = [column.domain.value(i) == variable.value for i in range(column.values)]
        found = np.where(same, STEP, -STEP)
        return np.append(found, -STEP).astype(np.float64)
    return scaled_codes(column, STEP)


def scaled_codes(column: Coded, step: int) -> Floats:
    """Return where each code of a number lies in its range, from -step to step; a gap lies in the middle."""
    middles = np.array([sum(column.span(code)) / 2 for code in range(column.values)])
    scaled = np.rint((2 * middles / max(column.positions - 1, 1) - 1) * step)
    return np.append(np.clip(scaled, -step, step), 0.0)
