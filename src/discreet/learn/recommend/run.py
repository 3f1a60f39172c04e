"""recommend(): charge, sum each person's bounded vector twice, clean, store; in that order."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.bill import Charged
from discreet.core.display import result_lines
from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.core.numbers import Delta
from discreet.core.requests.learn import RecommendFields
from discreet.core.schema import IntegerDomain
from discreet.engine.base import PaidReader
from discreet.errors import InvalidInput
from discreet.learn.measure.columns import plain_column
from discreet.learn.measure.unit_rows import SealedUnitCodes, seal_unit_codes
from discreet.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.learn.prepare import private_scan
from discreet.learn.recommend.model import (
    Recommender,
    cleaned,
    item_estimates,
    recommender_from,
    strongest,
)
from discreet.learn.recommend.sums import Payment, fetch_ratings, item_means, leaning_products
from discreet.noise.rng import Rng
from discreet.plan.ir import Scan
from discreet.release.desk import Desk
from discreet.synth.columns import Coded
from discreet.synth.model_file import packed

FOR_MEANS = Fraction(3, 10)
MOST_ITEMS = 20_000
TOP = 80
"""Items whose covariance is learned: those with the largest noisy weights."""


@dataclass(frozen=True, kw_only=True)
class RecommendRequest(CheckedLook, RecommendFields):
    """One recommender and who pays for it, checked."""

    if TYPE_CHECKING:
        delta: Delta | None

    @property
    def body(self) -> str:
        """Return what must be the same when a request id is used again."""
        delta = None if self.delta is None else str(self.delta.value)
        paid = [self.table, self.item, self.rating, str(self.epsilon.value), delta]
        return "recommend " + json.dumps(paid)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recommending(ShownInLines, Charged):
    """A recommender, its price, and how long it took."""

    model: Recommender
    request_id: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the facts that `discreet learn recommend --json` prints."""
        return {
            "model": "recommender",
            "items": len(self.model.items),
            "known_well": len(self.model.top),
            **self.bill.to_json(),
            "after": self.after.to_json(),
            "seconds": round(self.seconds, 3),
            "request_id": self.request_id,
        }

    def lines(self) -> ShownLines:
        """Return what a person reads."""
        return result_lines.recommender_lines(self.to_json())


@dataclass(frozen=True, slots=True)
class RecommenderPlan:
    """A recommender before anything is paid: its columns, the sealed read, the price, the payer."""

    item: Coded
    rating: Coded
    look: PlannedLook[SealedUnitCodes]

    @property
    def items(self) -> tuple[str, ...]:
        """Return the declared items, as the recommender names them."""
        return tuple(str(self.item.domain.value(i)) for i in range(self.item.size))

    @property
    def scale(self) -> tuple[float, float]:
        """Return the lowest and the highest rating."""
        assert isinstance(self.rating.domain, IntegerDomain), "checked before"
        return float(self.rating.domain.lower), float(self.rating.domain.upper)


@contextmanager
def planned_recommender(request: RecommendRequest, desk: Desk) -> Iterator[RecommenderPlan]:
    """Lend the plan and the price of a recommender; reads no row."""
    scan = private_scan(desk.catalog, request.table)
    item, rating = _columns(scan, request)
    with planned_look(
        scan,
        lambda: seal_unit_codes(scan, desk.engine, (item, rating)),
        request,
        desk,
        what="recommend",
        delta=request.delta,
    ) as look:
        if not look.budget.delta.value:
            raise InvalidInput("A recommender needs delta.", hint="Use --delta 1e-9.")
        yield RecommenderPlan(item, rating, look)


def recommend(request: RecommendRequest, desk: Desk) -> Recommending:
    """Return a recommender, charged before any row is read.

    Guarantee: rho-zCDP for whole people: two sums of vectors, one vector for each person, each cut to
        a public length by the kernel in whole numbers, with discrete Gaussian noise; `FOR_MEANS` of
        rho for the first, the rest for the second. All else is post-processing. (docs/notes/0044)
    """
    started = time.monotonic()
    with planned_recommender(request, desk) as plan:
        receipt, stored = plan.look.run(
            lambda reader: _learned(plan, reader, desk.rng),
            body=request.body,
            note=f"recommender of {request.item} in {plan.look.table}",
        )
    return Recommending(
        model=recommender_from(json.loads(zlib.decompress(stored))),
        bill=receipt.bill,
        request_id=request.request_id,
        seconds=time.monotonic() - started,
    )


def _columns(scan: Scan, request: RecommendRequest) -> tuple[Coded, Coded]:
    item, rating = (plain_column(scan, name) for name in (request.item, request.rating))
    if item.size > MOST_ITEMS:
        raise InvalidInput(f"There are {item.size:,} items; at most {MOST_ITEMS:,} can be learned.")
    if not isinstance(rating.domain, IntegerDomain) or not 1 < rating.size <= 256:
        raise InvalidInput("Ratings are whole numbers with 2 to 256 declared values.")
    return item, rating


def _learned(plan: RecommenderPlan, reader: PaidReader, rng: Rng) -> bytes:
    look, sealed, item, rating = plan.look, plan.look.sealed, plan.item, plan.rating
    budget = look.budget
    price = budget.quote.cost.epsilon or Fraction(0)
    ratings = fetch_ratings(reader, sealed)
    levels = np.linspace(-1.0, 1.0, rating.size)
    rho = budget.whole.amount
    first = Payment(rho * FOR_MEANS, sealed.neighbours, rng)
    weights, sums, deviation = item_means(ratings, levels, item.size, first)
    means = item_estimates(weights, sums, deviation)
    top = strongest(weights, TOP)
    second = Payment(rho * (1 - FOR_MEANS), sealed.neighbours, rng)
    products, both, noise = leaning_products(ratings, levels, means, top, second)
    low, high = plan.scale
    model = Recommender(
        items=plan.items,
        low=low,
        high=high,
        means=means,
        top=top,
        covariance=cleaned(products, both, noise),
        facts={"item": item.name, "epsilon": float(price), "unit": sealed.rows},
    )
    return packed(json.dumps(model.to_json()))
