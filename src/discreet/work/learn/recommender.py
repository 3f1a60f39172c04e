"""Recommender: noisy item means and a noisy covariance, one bounded vector for each person.

Charge, sum each person's bounded vector twice, clean, store; in that order. From the model anybody's ratings
are completed.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.ask.plan.ir import Scan
from discreet.ask.release.desk import Desk
from discreet.base import display
from discreet.base.arrays import Floats, Integers
from discreet.base.bill import Charged
from discreet.base.display import ShownInLines, ShownLines
from discreet.base.numbers import Delta
from discreet.base.requests.paid import RecommendFields
from discreet.base.schema import IntegerDomain
from discreet.base.unit import Neighbours
from discreet.data.engines.base import PaidReader
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded
from discreet.privacy.kernel.mechanism import Norm, VectorSum
from discreet.privacy.noise.laws import law_costing
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.features import plain_column
from discreet.work.learn.one_look import CheckedLook, PlannedLook, planned_look
from discreet.work.learn.private_rows import SealedUnitCodes, fetch_unit_codes, seal_unit_codes
from discreet.work.learn.training_plan import private_scan
from discreet.work.synth.model_file import packed

FINE = 4096
"""Steps of the lattice to one."""

BATCH_CELLS = 4_000_000
PULL = 5.0
"""Ratings that a person's own level is believed to have had before: none of them says anything."""

MEANS_LENGTH = Fraction(9, 4)
PRODUCTS_LENGTH = Fraction(3, 2)
"""Lengths that vectors are cut to: about what one with usual ratings has."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonRatings:
    """Exact ratings, sorted by person; `starts` is where each person's begin. Never shown."""

    item: Integers
    level: Integers
    starts: Integers

    def __repr__(self) -> str:
        return "Ratings(hidden)"

    def people(self, batch: int) -> Iterator[list[slice]]:
        """Yield the places of the ratings of `batch` people at a time."""
        ends = np.append(self.starts[1:], len(self.item))
        each = [slice(int(a), int(b)) for a, b in zip(self.starts, ends, strict=True)]
        for start in range(0, len(each), batch):
            yield each[start : start + batch]


def fetch_ratings(reader: PaidReader, sealed: SealedUnitCodes) -> PersonRatings:
    """Return all ratings. After paying, and for sums of bounded vectors alone."""
    codes, unit = fetch_unit_codes(reader, sealed)
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else unit
    item, level = (codes[:, i].astype(np.int64) for i in range(2))
    return PersonRatings(item, level, starts.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Payment:
    """A part of the rho that was charged, and for whom."""

    rho: Fraction
    neighbours: Neighbours
    rng: Rng


def _noisy(summed: VectorSum, total: Integers, payment: Payment) -> tuple[Floats, float]:
    law = law_costing(payment.rho, summed.moved**2, concentrated=True)
    noisy = summed.noisy(total, law, payment.rng) / FINE
    return np.asarray(noisy), float(np.sqrt(law.variance)) / FINE


def _vector_sum(size: int, length: Fraction, neighbours: Neighbours) -> VectorSum:
    return VectorSum(Norm.L2, int(length * FINE), size, neighbours)


def item_means(
    ratings: PersonRatings, levels: Floats, items: int, payment: Payment
) -> tuple[Floats, Floats, float]:
    """Return noisy weights of items, weighted sums of their ratings, and the noise.

    `levels` are the ratings that codes stand for, scaled to -1 to 1. A person with k ratings gives
    each the weight 1 / sqrt(k).
    """
    summed = _vector_sum(2 * items, MEANS_LENGTH, payment.neighbours)
    total = np.zeros(2 * items, dtype=np.int64)
    for people in ratings.people(max(1, BATCH_CELLS // (2 * items))):
        vectors = np.zeros((len(people), 2 * items))
        for row, place in enumerate(people):
            item = ratings.item[place]
            weight = FINE / np.sqrt(len(item))
            vectors[row, item] = weight
            vectors[row, items + item] = weight * levels[ratings.level[place]]
        total += summed.add(vectors)
    found, deviation = _noisy(summed, total, payment)
    return found[:items], found[items:], deviation


def leaning_products(
    ratings: PersonRatings, levels: Floats, means: Floats, top: Integers, payment: Payment
) -> tuple[Floats, Floats, float]:
    """Return noisy sums of products of leanings and of who has rated both, for pairs of `top` items.

    The third number is the noise of a product.
    A leaning is a rating minus the item's noisy mean and the person's own level.
    """
    size = len(top)
    upper = np.triu_indices(size)
    cells = len(upper[0])
    # Both halves of the matrix are one cell here, so that cell counts twice in its length.
    twice = np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    place_of = np.full(len(means), -1, dtype=np.int64)
    place_of[top] = np.arange(size)
    summed = _vector_sum(2 * cells, PRODUCTS_LENGTH, payment.neighbours)
    total = np.zeros(2 * cells, dtype=np.int64)
    for people in ratings.people(max(1, BATCH_CELLS // (2 * cells))):
        vectors = np.zeros((len(people), 2 * cells))
        for row, where in enumerate(people):
            item = ratings.item[where]
            gaps = levels[ratings.level[where]] - means[item]
            gaps = gaps - gaps.sum() / (len(gaps) + PULL)
            known = place_of[item] >= 0
            if not known.any():
                continue
            lean, seen = np.zeros(size), np.zeros(size)
            lean[place_of[item[known]]] = gaps[known] / SPREAD
            seen[place_of[item[known]]] = 1.0
            weight = FINE / known.sum()
            vectors[row, :cells] = weight * twice * lean[upper[0]] * lean[upper[1]]
            vectors[row, cells:] = weight * twice * seen[upper[0]] * seen[upper[1]]
        total += summed.add(vectors)
    found, deviation = _noisy(summed, total, payment)
    products, both = np.zeros((size, size)), np.zeros((size, size))
    products[upper] = found[:cells] / twice * SPREAD**2
    both[upper] = found[cells:] / twice
    products += np.triu(products, 1).T
    both += np.triu(both, 1).T
    return products, both, deviation / float(np.sqrt(2)) * SPREAD**2


SPREAD = 0.5
"""About the standard deviation of a leaning on the scale of -1 to 1: products are about one then."""


LEFT_OVER = 0.16
"""Variance of a rating around everything that is known, on the scale of -1 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Recommender:
    """Predicts ratings. `low` and `high` are the ends of the scale; ratings inside are -1 to 1."""

    items: tuple[str, ...]
    low: float
    high: float
    means: Floats
    top: Integers
    covariance: Floats
    facts: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, item: Integers, rating: Floats, wanted: Integers) -> Floats:
        """Return predicted ratings of `wanted` items for somebody who rated `item` like `rating`."""
        level, gaps = self._level(item, rating)
        found = self.means[wanted] + level
        place = np.full(len(self.means), -1, dtype=np.int64)
        place[self.top] = np.arange(len(self.top))
        known, asked = place[item] >= 0, place[wanted] >= 0
        if known.any() and asked.any():
            mine, theirs = place[item[known]], place[wanted[asked]]
            inside = self.covariance[np.ix_(mine, mine)] + LEFT_OVER * np.eye(len(mine))
            found[asked] += self.covariance[np.ix_(theirs, mine)] @ np.linalg.solve(
                inside, gaps[known]
            )
        return self._rating(found)

    def baseline(self, item: Integers, rating: Floats, wanted: Integers) -> Floats:
        """Return the item's mean plus the person's own level: what covariance must beat."""
        return self._rating(self.means[wanted] + self._level(item, rating)[0])

    def _level(self, item: Integers, rating: Floats) -> tuple[float, Floats]:
        scaled = (2 * rating - self.low - self.high) / (self.high - self.low)
        gaps = scaled - self.means[item]
        level = float(gaps.sum() / (len(gaps) + PULL))
        return level, gaps - level

    def _rating(self, scaled: Floats) -> Floats:
        return np.asarray(self.low + (np.clip(scaled, -1, 1) + 1) / 2 * (self.high - self.low))

    def recommend(self, given: Mapping[str, float], count: int = 10) -> list[tuple[str, float]]:
        """Return the unseen items of the best-known ones that this viewer would rate highest."""
        check_viewer(given, self.items, self.low, self.high)
        place = {name: i for i, name in enumerate(self.items)}
        item = np.array([place[name] for name in given], dtype=np.int64)
        rating = np.array(list(given.values()), dtype=np.float64)
        wanted = np.setdiff1d(self.top, item)
        found = self.predict(item, rating, wanted)
        best = np.argsort(-found, kind="stable")[:count]
        return [(self.items[wanted[i]], round(float(found[i]), 2)) for i in best]

    def to_json(self) -> dict[str, Any]:
        """Return the recommender as plain numbers and text."""
        return {
            "items": list(self.items),
            "low": self.low,
            "high": self.high,
            "means": self.means.round(6).tolist(),
            "top": self.top.tolist(),
            "covariance": self.covariance.round(6).tolist(),
            "facts": dict(self.facts),
        }


def check_viewer(given: Mapping[str, float], items: Iterable[str], low: float, high: float) -> None:
    """Refuse ratings of what is no item, or beyond the scale; asked before anything is paid, too."""
    known = set(items)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InvalidInput(f"There is no item '{unknown[0][:60]}'.")
    if not all(low <= value <= high for value in given.values()):
        raise InvalidInput(f"Ratings lie between {low:g} and {high:g}.")


def recommender_from(data: Mapping[str, Any]) -> Recommender:
    """Return the recommender that `to_json` wrote; every number in it is checked."""
    items = tuple(str(item) for item in data["items"])
    means, covariance = (np.array(data[n], dtype=np.float64) for n in ("means", "covariance"))
    top = np.array(data["top"], dtype=np.int64)
    sound = means.shape == (len(items),) and covariance.shape == (len(top), len(top))
    inside = bool(((top >= 0) & (top < len(items))).all())
    finite = bool(np.isfinite(means).all() and np.isfinite(covariance).all())
    low, high = float(data["low"]), float(data["high"])
    if not sound or not inside or not finite or not low < high:
        raise InvalidInput("its numbers do not fit together")
    return Recommender(items, low, high, means, top, covariance, dict(data["facts"]))


def cleaned(products: Floats, both: Floats, deviation: float) -> Floats:
    """Return a covariance from noisy products and noisy weights of pairs.

    Products have the same noise everywhere, so directions that noise alone could make are known: those
    up to 2 deviation sqrt(size). Only what is beyond is kept, without the part that noise adds to it.
    Weights of pairs are smoothed by their best rank-one table; dividing by it keeps the rest sound.
    """
    values, vectors = np.linalg.eigh(both)
    lead = np.maximum(np.abs(vectors[:, -1]) * np.sqrt(max(values[-1], 1.0)), 1.0)
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    edge = 2 * deviation * np.sqrt(len(products))
    kept = np.where(values > edge, np.sqrt(np.maximum(values**2 - edge**2, 0.0)), 0.0)
    found = (vectors * kept) @ vectors.T
    return np.asarray(found / np.outer(lead, lead))


def item_estimates(weights: Floats, sums: Floats, deviation: float) -> Floats:
    """Return item means: noisy sums over noisy weights, pulled to the overall mean by the noise."""
    size = np.maximum(weights, 0.0)
    overall = float(sums.sum() / max(weights.sum(), 1.0))
    pull = 4 * deviation + 1.0
    return np.asarray((sums + pull * overall) / (size + pull))


def strongest(weights: Floats, most: int) -> Integers:
    """Return the items with the largest noisy weights."""
    return np.sort(np.argsort(-weights, kind="stable")[:most]).astype(np.int64)


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
        return display.recommender_lines(self.to_json())


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
