"""What a report of synthetic data is about: a fitted model and all that was paid for around it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.schema import (
    BooleanDomain,
    CategoryDomain,
    FiniteDomain,
    IntegerDomain,
    NumberDomain,
)
from discreet.synth.encoding.columns import Coded, Encoding, day_domain
from discreet.synth.encoding.shape import Codes
from discreet.synth.measure.private_marginals import Counter, Measured
from discreet.synth.models.model import Model
from discreet.synth.report.quality import ComparisonView
from discreet.synth.report.quality_scope import ComparisonScope

Refit: TypeAlias = Callable[[Counter], Model]
"""The same method with the same budget, run on other rows: for rehearsals on synthetic data."""


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One synthetic table. Everything in it is public, paid for, or made from what was.

    `price` is the charge in words. `codes` are the synthetic rows. `measured` are the noisy tables
    that the method saw. Without `refit` a report has no rehearsal.
    """

    table: str
    method: str
    price: str
    encoding: Encoding
    model: Model
    codes: Codes
    measured: tuple[Measured, ...] = ()
    notices: tuple[str, ...] = ()
    refit: Refit | None = None

    @property
    def rows(self) -> int:
        """Return how many real rows there are about: the model's estimate, at least 1."""
        return max(1, round(self.model.total))

    def lens(self, target: str | None = None) -> ComparisonView:
        """Return how reports look at this table; `target` is the column that a model predicts."""
        columns, shape = self.encoding.coded, self.encoding.shape
        return ComparisonView(
            shape,
            ComparisonScope.of(shape, self.rows),
            tuple(labels_of(column) for column in columns),
            tuple(centres_of(column) for column in columns),
            None if target is None else self.encoding.index(target),
        )


def labels_of(column: Coded) -> tuple[str, ...]:
    """Return the words for each code of a column.

    >>> labels_of(Coded("age", IntegerDomain(0, 2), missing=True))
    ('0', '1', '2', 'missing')
    """
    domain = day_domain(column.domain)
    found = []
    for code in range(column.values):
        low, high = column.span(code)
        first = _word(domain, low)
        found.append(first if high - low == 1 else f"{first} to {_word(domain, high - 1)}")
    return (*found, "missing") if column.missing else tuple(found)


def centres_of(column: Coded) -> Floats | None:
    """Return the number in the middle of each code (NaN: missing); None for categories."""
    domain = day_domain(column.domain)
    if isinstance(domain, CategoryDomain | BooleanDomain):
        return None
    middles = []
    for code in range(column.values):
        low, high = column.span(code)
        middles.append((_number(domain, low) + _number(domain, high - 1)) / 2)
    return np.array([*middles, np.nan] if column.missing else middles)


def _number(domain: FiniteDomain, position: int) -> float:
    value = domain.value(position)
    return float(value.toordinal() if isinstance(value, dt.date) else value)


def _word(domain: FiniteDomain, position: int) -> str:
    match domain:
        case NumberDomain():
            return f"{float(domain.value(position)):,.10g}"
        case IntegerDomain():
            return f"{domain.value(position):,}"
        case BooleanDomain():
            return str(domain.value(position)).lower()
        case _:
            return str(domain.value(position))
