"""Noisy Gram matrix: sums of products of scaled columns, from one paid look.

For regression, scaling and principal components. A variable is a number between -1 and 1 that a column's codes
pick.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.ask.release.desk import Desk
from discreet.base.arrays import Floats, Integers
from discreet.base.numbers import Delta
from discreet.base.requests import fields
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    Column,
    IntegerDomain,
    NumberDomain,
    Table,
)
from discreet.data.engines.base import PaidReader
from discreet.errors import InvalidInput, UnknownName
from discreet.measure.columns import Coded
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.measure.sealing import SealedCodes, seal_codes
from discreet.measure.shape import Codes
from discreet.privacy.ledger.entry import Receipt
from discreet.privacy.noise.laws import NoiseLaw
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.work.learn.private_rows import fetch
from discreet.work.learn.training_plan import private_scan

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


MARK = b"products "
"""What stored sums begin with: they are no answer to a query."""

BATCH = 1 << 17
"""Rows multiplied at a time: 2^17 products of at most 2^20 are far below 2^53."""


@dataclass(frozen=True, kw_only=True)
class ProductsRequest(CheckedLook):
    """Which variables of a table, whether the last one must be known, and for how much; checked."""

    variables: tuple[Variable, ...]
    known_last: bool
    delta: Delta | None = fields.delta(default=None)  # noqa: RUF009  # a field

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        delta = None if self.delta is None else str(self.delta.value)
        named = [[each.column, str(each.value)] for each in self.variables]
        return "products " + json.dumps(
            [self.table, named, self.known_last, str(self.epsilon.value), delta]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Products:
    """Noisy sums of products of (1, v1, v2, ...), variables scaled to -1 to 1, and their noise."""

    sums: Floats
    deviation: float
    receipt: Receipt

    @property
    def rows(self) -> float:
        """Return about how many rows there are."""
        return max(float(self.sums[0, 0]), 1.0)


def measured_products(request: ProductsRequest, desk: Desk) -> Products:
    """Return the sums of all products, charged before any row is read.

    Guarantee: a row adds the products of m = 1 + len(variables) whole numbers of size at most STEP:
        m (m + 1) / 2 different sums, each moved by at most STEP^2. So a row moves them by
        STEP^2 m (m + 1) / 2 in L1 and STEP^4 m (m + 1) / 2 in squared L2; a unit has as many rows
        as the kernel read off the SQL, and replacing one does twice as much, since products have
        signs. The noise is for exactly this, once. (docs/notes/0053)
    """
    scan = private_scan(desk.catalog, request.table)
    columns = _columns(scan.table, request)
    with planned_look(
        scan,
        lambda: seal_codes(scan, desk.engine, columns),
        request,
        desk,
        what="products",
        delta=request.delta,
    ) as look:
        receipt, stored = look.run(
            lambda reader: _noisy(request, columns, look, reader, desk.rng),
            body=request.body,
            note=f"sums of products of {len(request.variables)} variables in {look.table}",
        )
    sums, deviation = json.loads(stored.removeprefix(MARK))
    return Products(np.array(sums, dtype=np.float64) / STEP**2, deviation / STEP**2, receipt)


def _columns(table: Table, request: ProductsRequest) -> list[Coded]:
    """Return each column once, the target's last and without a code for gaps."""
    known = {column.name: column for column in table.columns}
    names = list(dict.fromkeys(each.column for each in request.variables))
    missing = [name for name in names if name not in known]
    if missing:
        raise UnknownName(f"Column '{missing[0][:60]}' of table '{table.name}' is not declared.")
    last = request.variables[-1].column if request.known_last else None
    return [coded_column(known[name], gaps=name != last) for name in names]


def _noisy(
    request: ProductsRequest,
    columns: list[Coded],
    look: PlannedLook[SealedCodes],
    reader: PaidReader,
    rng: Rng,
) -> bytes:
    codes = fetch(reader, look.sealed)
    exact = exact_products(codes, columns, request.variables)
    law = products_law(len(exact), look.budget.whole, look.sealed.unit)
    upper = np.triu_indices(len(exact))
    found = exact.copy()
    found[upper] += law.draw(len(upper[0]), rng)
    found.T[upper] = found[upper]
    return MARK + json.dumps([found.tolist(), float(np.sqrt(law.variance))]).encode()


def exact_products(
    codes: Codes, columns: Sequence[Coded], variables: Sequence[Variable]
) -> Integers:
    """Return the exact sums of products, in steps of 1 / STEP^2. Never shown."""
    place = {column.name: i for i, column in enumerate(columns)}
    tables = [(place[v.column], numbers_of(v, columns[place[v.column]])) for v in variables]
    total = np.zeros((len(variables) + 1, len(variables) + 1), dtype=np.int64)
    for start in range(0, len(codes), BATCH):
        part = codes[start : start + BATCH]
        whole = np.full((len(part), len(variables) + 1), float(STEP))
        for i, (column, table) in enumerate(tables):
            whole[:, i + 1] = table[part[:, column]]
        total += np.rint(whole.T @ whole).astype(np.int64)
    return total


def products_law(size: int, budget: MarginalBudget, unit: CountSensitivity) -> NoiseLaw:
    """Return the noise of each sum: for what a unit can do to all of them together."""
    moves, sums = unit.l1, size * (size + 1) // 2
    return budget.law(l1=moves * STEP**2 * sums, l2_squared=moves**2 * STEP**4 * sums)
