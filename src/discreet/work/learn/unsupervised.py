"""What is learned without a target: means and covariances (scaling, PCA), and k-means clusters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.ask.release.desk import Desk
from discreet.base.arrays import Floats, Integers
from discreet.base.bill import Charged
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import Delta, Epsilon
from discreet.base.requests import fields
from discreet.base.schema import Column, IntegerDomain, NumberDomain
from discreet.data.engines.base import PaidReader
from discreet.errors import InvalidInput, UnknownName
from discreet.measure.columns import MOST_CODES, Bins, Coded, Outline, outline_of
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.measure.sealing import SealedCodes, seal_codes
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.features import fine_cells
from discreet.work.learn.gram_matrix import (
    MOST_COLUMNS,
    ProductsRequest,
    Variable,
    measured_products,
    scaled_codes,
    variables_of,
)
from discreet.work.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.work.learn.private_rows import fetch
from discreet.work.learn.training_plan import find_private, private_scan


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Noisy means and covariances of columns in their own units; `noise` is a variance's deviation."""

    columns: tuple[str, ...]
    rows: float
    means: Floats
    covariance: Floats
    noise: Floats


def moments(table: str, columns: Sequence[str], epsilon: Epsilon, desk: Desk) -> Moments:
    """Return means and covariances of columns (all unless named), charged before any row is read.

    Guarantee: that of `measured_products`; the rest is post-processing. A gap lies in the middle of
        the declared range, where it says least.
    """
    _, found_table = find_private(desk.catalog, table)
    variables = _variables(found_table.columns, columns, found_table.name)
    asked = ProductsRequest.of(table, variables=tuple(variables), known_last=False, epsilon=epsilon)
    found = measured_products(asked, desk)
    half = np.array([float(v.upper - v.lower) / 2 for v in variables])
    middle = np.array([float(v.lower + v.upper) / 2 for v in variables])
    offset = found.sums[0, 1:] / found.rows
    covariance = found.sums[1:, 1:] / found.rows - np.outer(offset, offset)
    return Moments(
        columns=tuple(v.column for v in variables),
        rows=found.rows,
        means=middle + offset * half,
        covariance=covariance * np.outer(half, half),
        noise=found.deviation / found.rows * half**2,
    )


def _variables(columns: Sequence[Column], wanted: Sequence[str], table: str) -> list[Variable]:
    usable = {
        column.name.lower(): column
        for column in columns
        if column.reviewed
        and not column.hidden
        and isinstance(column.domain, IntegerDomain | NumberDomain)
    }
    unknown = [name for name in wanted if name.lower() not in usable]
    if unknown:
        raise UnknownName(f"Column '{unknown[0][:60]}' of table '{table}' is no declared number.")
    chosen = [usable[name.lower()] for name in wanted] or list(usable.values())
    found = [each for column in chosen for each in variables_of(column)]
    if not found or len(found) > MOST_COLUMNS:
        raise InvalidInput(
            f"There are {len(found)} columns of numbers; between 1 and {MOST_COLUMNS} are taken.",
            hint="Nothing was charged.",
        )
    return found


def main_directions(found: Moments, count: int) -> tuple[Floats, Floats]:
    """Return the strongest directions, one a row, and the variance along each.

    Columns are compared in their own units; what is negative by noise alone counts as nothing.
    """
    values, vectors = np.linalg.eigh(found.covariance)
    order = np.argsort(-values, kind="stable")[:count]
    directions = vectors[:, order].T
    # The same sign every time: the largest part of each direction points up.
    sign = np.sign(directions[np.arange(len(order)), np.abs(directions).argmax(axis=1)])
    return directions * np.where(sign == 0, 1, sign)[:, None], np.maximum(values[order], 0.0)


STEP = 256
"""A point's coordinates lie between -STEP and STEP, in whole numbers."""

ROUNDS = 6
MOST_CLUSTERS = 64
MARK = b"clusters "
"""What stored centres begin with: they are no answer to a query."""


@dataclass(frozen=True, kw_only=True)
class ClusterRequest(CheckedLook):
    """Which columns of a table, how many clusters, and for how much; checked."""

    columns: tuple[str, ...]
    clusters: int
    delta: Delta | None = fields.delta(default=None)  # noqa: RUF009  # a field

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        delta = None if self.delta is None else str(self.delta.value)
        fields = [self.table, list(self.columns), self.clusters, str(self.epsilon.value), delta]
        return "cluster " + json.dumps(fields)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Clustered(ShownInLines, Charged):
    """Centres in the units of their columns, about how many rows are near each, and the price."""

    columns: tuple[str, ...]
    centres: Floats
    sizes: Floats

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        shown = f"{len(self.centres):,} centres of {', '.join(self.columns)}"
        return [("clusters", shown), ("uses", "nothing" if self.free else f"epsilon {self.cost}")]


def cluster(request: ClusterRequest, desk: Desk) -> Clustered:
    """Return the centres of clusters, charged before any row is read.

    Guarantee: each of `ROUNDS` rounds gets an equal share of the charge, and its sums noise for
        what a unit can do to them (`ClusterSums`); where the centres move is post-processing.
    """
    if not 1 <= request.clusters <= MOST_CLUSTERS:
        raise InvalidInput(f"The number of clusters lies between 1 and {MOST_CLUSTERS}.")
    scan = private_scan(desk.catalog, request.table)
    name = f"{desk.catalog.dataset_of(scan.table).name}.{scan.table.name}"
    outline = outline_of(desk.catalog, name, bins=Bins.EQUAL, has_delta=False)
    columns = _numbers(outline, request.columns)
    with planned_look(
        scan,
        lambda: seal_codes(scan, desk.engine, columns),
        request,
        desk,
        what="cluster",
        delta=request.delta,
    ) as look:
        receipt, stored = look.run(
            lambda reader: _rounds(request.clusters, columns, look, reader, desk.rng),
            body=request.body,
            note=f"{request.clusters} clusters of {look.table}",
        )
    found: dict[str, Any] = json.loads(stored.removeprefix(MARK))
    return Clustered(
        columns=tuple(column.name for column in columns),
        centres=np.array(found["centres"], dtype=np.float64),
        sizes=np.array(found["sizes"], dtype=np.float64),
        bill=receipt.bill,
    )


def _numbers(outline: Outline, wanted: tuple[str, ...]) -> list[Coded]:
    known = {
        item.name.lower(): item
        for item in outline.items
        if isinstance(item, Coded) and isinstance(item.domain, IntegerDomain | NumberDomain)
    }
    unknown = [name for name in wanted if name.lower() not in known]
    if unknown or not known:
        shown = unknown[0][:60] if unknown else ""
        raise UnknownName(
            f"Column '{shown}' of table '{outline.table.name}' is no declared number."
        )
    chosen = [known[name.lower()] for name in wanted] or list(known.values())
    return [_coded(item) for item in chosen]


def _coded(item: Coded) -> Coded:
    whole = Coded(item.name, item.domain, missing=True)
    if whole.positions < MOST_CODES // 8:
        return whole
    return Coded(item.name, item.domain, fine_cells(whole), missing=True)


def _ends(column: Coded) -> tuple[float, float]:
    assert isinstance(column.domain, IntegerDomain | NumberDomain), "checked before the charge"
    return float(column.domain.lower), float(column.domain.upper)


def _rounds(
    clusters: int,
    columns: list[Coded],
    look: PlannedLook[SealedCodes],
    reader: PaidReader,
    rng: Rng,
) -> bytes:
    found, budget = fetch(reader, look.sealed), look.budget.whole
    places = [scaled_codes(column, STEP).astype(np.int64) for column in columns]
    points = np.stack([place[found[:, i]] for i, place in enumerate(places)], axis=1)
    centres = first_centres(clusters, len(columns))
    sums = ClusterSums(points, budget.part(Fraction(1, ROUNDS)), look.sealed.unit, rng)
    sizes = np.zeros(clusters)
    for _ in range(ROUNDS):
        centres, sizes = sums.moved(centres)
    ends = [_ends(column) for column in columns]
    low, high = (np.array(part) for part in zip(*ends, strict=True))
    shown = low + (centres / STEP + 1) / 2 * (high - low)
    return MARK + json.dumps({"centres": shown.tolist(), "sizes": sizes.tolist()}).encode()


class ClusterSums:
    """Points of private rows, and one look at them a round.

    Guarantee: a row is nearest to one centre (ties to the first, in whole numbers) and adds STEP and
        its coordinates to that one: at most STEP (1 + columns) in L1 and STEP^2 (1 + columns) in
        squared L2. A unit has `unit.rows` rows; replacing one doubles what it can do, since
        coordinates have signs. Each round is worth `each` of what was charged.
    """

    def __init__(
        self, points: Integers, each: MarginalBudget, unit: CountSensitivity, rng: Rng
    ) -> None:
        self._points = points
        self._rng = rng
        moves, width = unit.l1, 1 + points.shape[1]
        self.law = each.law(l1=moves * STEP * width, l2_squared=moves**2 * STEP**2 * width)

    def __repr__(self) -> str:
        return "ClusterSums(hidden)"

    def exact(self, centres: Integers) -> Integers:
        """Return for each centre the exact count, in steps, and sums. Never shown."""
        gaps = [((self._points - centre) ** 2).sum(axis=1) for centre in centres]
        nearest = np.argmin(np.stack(gaps, axis=1), axis=1)
        columns = np.concatenate([np.full((len(nearest), 1), STEP), self._points], axis=1)
        found = np.zeros((len(centres), columns.shape[1]), dtype=np.int64)
        np.add.at(found, nearest, columns)
        return found

    def moved(self, centres: Integers) -> tuple[Integers, Floats]:
        """Return where noisy means put the centres, and about how many rows each has."""
        exact = self.exact(centres)
        noisy = exact + self.law.draw(exact.shape, self._rng)
        sizes = noisy[:, 0] / STEP
        doubt = 3 * float(np.sqrt(self.law.variance)) / STEP
        means = noisy[:, 1:] / np.maximum(sizes, 1.0)[:, None]
        # A centre that has too few rows to be seen stays where it is.
        seen = (sizes > doubt)[:, None]
        found = np.where(seen, np.clip(np.rint(means), -STEP, STEP), centres)
        return found.astype(np.int64), np.asarray(np.maximum(sizes, 0.0))


def first_centres(clusters: int, columns: int) -> Integers:
    """Return public places to start from: Halton's sequence, which leaves no corner empty."""
    bases = [p for p in range(2, 2000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    points = [[_halton(i + 1, bases[j]) for j in range(columns)] for i in range(clusters)]
    return np.rint((2 * np.array(points) - 1) * STEP * 0.7).astype(np.int64)


def _halton(index: int, base: int) -> float:
    """Return the digits of `index` behind the point, in reverse.

    >>> [_halton(i, 2) for i in (1, 2, 3)]
    [0.5, 0.25, 0.75]
    """
    found, part = 0.0, 1.0
    while index:
        part /= base
        index, digit = divmod(index, base)
        found += part * digit
    return found
