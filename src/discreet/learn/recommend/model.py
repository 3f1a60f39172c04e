"""A recommender: item means and a low-rank covariance, from which anybody's ratings are completed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Integers
from discreet.errors import InvalidInput
from discreet.learn.recommend.sums import PULL

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
