"""k-means: a few rounds of noisy counts and sums of the rows nearest to each public centre."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.catalog.catalog import Catalog
from discreet.core.answer import Spent
from discreet.core.cost import FREE
from discreet.core.numbers import Delta, Epsilon
from discreet.core.schema import IntegerDomain, NumberDomain
from discreet.engine.base import Engine, Held
from discreet.errors import InvalidInput, UnknownName
from discreet.kernel.trees.nodes import Unfit
from discreet.learn.measure.columns import fine_cells
from discreet.learn.measure.rows import Integers, Reals, fetch
from discreet.learn.prepare import find_private
from discreet.learn.unsupervised.cluster_sums import STEP, ClusterSums, first_centres
from discreet.ledger.entry import Payer, Receipt
from discreet.ledger.ledger import Ledger
from discreet.noise.rng import Rng
from discreet.release.assembled import spent_of
from discreet.release.outcome import once
from discreet.release.snapshots import hold, label, snapshots_of
from discreet.synth.budget import DELTA_PART, SynthBudget, check_hope, funds_of
from discreet.synth.encoding.columns import MOST_CODES, Coded
from discreet.synth.encoding.outline import Bins, Outline, outline_of, scan_of
from discreet.synth.measure.private_marginals import MarginalBudget
from discreet.synth.measure.sealing import SealedCodes, seal_codes

ROUNDS = 6
MOST_CLUSTERS = 64
MARK = b"clusters "
"""What stored centres begin with: they are no answer to a query."""


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """Which columns of a table, how many clusters, and for how much."""

    table: str
    columns: tuple[str, ...]
    clusters: int
    epsilon: Epsilon
    delta: Delta | None
    analyst: str | None = None
    request_id: str = ""

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        delta = None if self.delta is None else str(self.delta.value)
        paid = [self.table, list(self.columns), self.clusters, str(self.epsilon.value), delta]
        return "cluster " + json.dumps(paid)


@dataclass(frozen=True, slots=True, eq=False)
class Clustered:
    """Centres in the units of their columns, about how many rows are near each, and the price."""

    columns: tuple[str, ...]
    centres: Reals
    sizes: Reals
    cost: Spent
    free: bool


def cluster(
    request: ClusterRequest, *, catalog: Catalog, ledger: Ledger, engine: Engine, rng: Rng
) -> Clustered:
    """Return the centres of clusters, charged before any row is read.

    Guarantee: each of `ROUNDS` rounds gets an equal share of the charge, and its sums noise for
        what a unit can do to them (`ClusterSums`); where the centres move is post-processing.
    """
    if not 1 <= request.clusters <= MOST_CLUSTERS:
        raise InvalidInput(f"The number of clusters lies between 1 and {MOST_CLUSTERS}.")
    dataset, table = find_private(catalog, request.table)
    name = f"{dataset.name}.{table.name}"
    scan = scan_of(catalog, name)
    with hold(scan, engine, ledger, catalog) as held:
        outline = outline_of(catalog, name, bins=Bins.EQUAL, types={}, has_delta=False)
        columns = _numbers(outline, request.columns)
        codes = seal_codes(scan, engine, columns)
        if codes.source.dataset != dataset.name:
            raise Unfit("a read of other people than are charged")
        delta = request.delta or Delta(catalog.budget_of(dataset).delta.value * DELTA_PART)
        funds = funds_of(
            request.epsilon, delta, region=codes.source.region, learn_share=Fraction(0), words=0
        )
        check_hope(funds, codes.unit, request.epsilon)
        receipt = ledger.charge(
            Payer(request.analyst, dataset.name, dataset.budget),
            funds.quote,
            request_id=request.request_id or uuid.uuid4().hex,
            body=request.body,
            note=f"{request.clusters} clusters of {table.name}",
            snapshot=f"cluster {label(snapshots_of(scan, held, ledger))}",
        )
        what = (request, columns, codes)
        stored = once(ledger, receipt, lambda: _rounds(what, funds, (held, receipt), rng))
    found: dict[str, Any] = json.loads(stored.removeprefix(MARK))
    return Clustered(
        columns=tuple(column.name for column in columns),
        centres=np.array(found["centres"], dtype=np.float64),
        sizes=np.array(found["sizes"], dtype=np.float64),
        cost=spent_of(FREE if receipt.repeated else receipt.cost),
        free=receipt.repeated,
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


def _places(column: Coded) -> Integers:
    """Return where each code lies between -STEP and STEP; a gap lies in the middle."""
    spans = [column.span(code) for code in range(column.values)]
    middles = np.array([(first + last) / 2 for first, last in spans])
    scaled = 2 * middles / max(column.positions - 1, 1) - 1
    return np.append(np.clip(np.rint(scaled * STEP), -STEP, STEP), 0).astype(np.int64)


def _ends(column: Coded) -> tuple[float, float]:
    assert isinstance(column.domain, IntegerDomain | NumberDomain), "checked before the charge"
    return float(column.domain.lower), float(column.domain.upper)


def _rounds(
    what: tuple[ClusterRequest, list[Coded], SealedCodes],
    funds: SynthBudget,
    rows: tuple[Held, Receipt],
    rng: Rng,
) -> bytes:
    (request, columns, codes), (held, receipt) = what, rows
    found = fetch(held, codes, permit=receipt)
    points = np.stack([_places(c)[found[:, i]] for i, c in enumerate(columns)], axis=1)
    centres = first_centres(request.clusters, len(columns))
    each = MarginalBudget(funds.purse.amount / ROUNDS, funds.purse.concentrated)
    sums = ClusterSums(points, each, codes.unit, rng)
    sizes = np.zeros(request.clusters)
    for _ in range(ROUNDS):
        centres, sizes = sums.moved(centres)
    ends = [_ends(column) for column in columns]
    low, high = (np.array(part) for part in zip(*ends, strict=True))
    shown = low + (centres / STEP + 1) / 2 * (high - low)
    return MARK + json.dumps({"centres": shown.tolist(), "sizes": sizes.tolist()}).encode()
