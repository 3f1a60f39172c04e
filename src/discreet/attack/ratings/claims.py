"""How well each record fits what is known, whom the adversary names, and how often that is wrong.

Records are scored by likelihood, or by the weights of the 2008 paper; also when the person is not there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.attack.ratings.background_knowledge import (
    KnowledgeSampler,
    KnownRatings,
    RatingKnowledge,
)
from discreet.attack.ratings.index import Index
from discreet.core.arrays import Floats, Integers

ECCENTRICITY = 1.5
"""The threshold of the 2008 paper."""
SLIP = 0.02
"""Chance that even a right rating is remembered as another grade or from another week."""
GRADE_WIDTH = 1.5
DAY_WIDTH = 30.0


@dataclass(frozen=True, slots=True)
class Match:
    """The best record and how sure the adversary is of it (a log odds, or an eccentricity)."""

    record: int
    surety: float


def likelihoods(index: Index, seen: KnownRatings, known: RatingKnowledge) -> Floats:
    """Return for each record log P(what is known | it is theirs) / P(what is known | it is not).

    Not theirs: a film is drawn by its popularity, a grade from that film's, a day from all days.
    Theirs: one of the record's ratings, its grade, its day up to the error; and with the chance that a
    rating is wrong, as if not theirs. Rare films weigh more by themselves: the ratio is 1 / (length of
    the record x share of the film). If the model is right the ratio has mean 1 over foreign records.
    """
    wrong = min(max(known.wrong / known.ratings, SLIP), 0.9)
    rows, which = index.rows_of(seen.film)
    record = index.record[rows]
    share = (index.support / max(index.support.sum(), 1))[seen.film]
    ratio = 1.0 / (index.length[record] * share[which])
    same = index.grade[rows] == seen.grade[which]
    ratio *= np.where(same, 1 - SLIP, SLIP / 4) / index.grade_shares[seen.film, seen.grade][which]
    if known.days is not None:
        close = np.abs(index.day[rows] - seen.day[which]) <= known.days
        window = index.share_within(seen.day, known.days)
        ratio *= np.where(close, (1 - SLIP) / window[which], SLIP)
    gains = np.log1p((1 - wrong) / wrong * ratio)
    total = np.bincount(record, weights=gains, minlength=len(index.people)).astype(np.float64)
    return total + len(seen.film) * float(np.log(wrong))


def most_likely(scores: Floats) -> Match:
    """Return the best record and its log odds against all others, absence among them.

    Absence weighs as much as all the records together would if nothing spoke for or against them.
    """
    best = int(np.argmax(scores))
    top = float(scores[best])
    weights = np.exp(scores - top)
    others = float(weights.sum()) - 1.0 + len(scores) * float(np.exp(-top))
    return Match(best, -float(np.log(max(others, 1e-300))))


def weighted(index: Index, seen: KnownRatings, known: RatingKnowledge) -> Floats:
    """Return the scores of Narayanan and Shmatikov (2008): similarity over the log of the support."""
    rows, which = index.rows_of(seen.film)
    support = np.maximum(index.support[seen.film], 2)
    similar = np.exp(-np.abs(index.grade[rows] - seen.grade[which]) / GRADE_WIDTH)
    if known.days is not None:
        similar = similar + np.exp(-np.abs(index.day[rows] - seen.day[which]) / DAY_WIDTH)
    gains = similar / np.log(support)[which]
    scores = np.bincount(index.record[rows], weights=gains, minlength=len(index.people))
    return scores.astype(np.float64)


def most_eccentric(scores: Floats) -> Match:
    """Return the best record and how many standard deviations it lies above the second."""
    second, first = np.partition(scores, -2)[-2:]
    spread = float(scores.std())
    return Match(int(np.argmax(scores)), float(first - second) / spread if spread else 0.0)


@dataclass(frozen=True, slots=True)
class ScoringMethod:
    """A way to score records and to say how sure the best one is."""

    name: str
    score: Callable[[Index, KnownRatings, RatingKnowledge], Floats]
    best: Callable[[Floats], Match]


LIKELIHOOD = ScoringMethod("likelihood ratio, calibrated", likelihoods, most_likely)
CLASSIC = ScoringMethod("weights and eccentricity 1.5", weighted, most_eccentric)


@dataclass(frozen=True, slots=True)
class Claims:
    """How many targets of each kind there were, and what was claimed of them."""

    present: int
    right: int
    mistaken: int
    absent: int
    false: int
    milliseconds: float
    """A target, on one core."""


@dataclass(frozen=True, slots=True, eq=False)
class RatingsScene:
    """A release, people in it and people who are not, and a witness who knows a little of each."""

    index: Index
    witness: KnowledgeSampler
    present: Integers
    absent: Integers


def calibrated(scene: RatingsScene, known: RatingKnowledge, *, trials: int, rate: float) -> float:
    """Return how sure one must be so that at most a share `rate` of absent people are "found".

    The adversary plays it alone: takes a person of the release, sets that record aside, and looks for
    the person among the others. The threshold is the order statistic that an exchangeable further
    absent person exceeds with probability at most `rate` (split conformal).
    """
    index, witness, sureties = scene.index, scene.witness, []
    for record in witness.dice.integers(0, len(index.people), trials):
        seen = witness.glimpse(int(index.people[record]), known)
        if seen is not None:
            scores = np.delete(LIKELIHOOD.score(index, seen, known), record)
            sureties.append(LIKELIHOOD.best(scores).surety)
    place = math.ceil((1 - rate) * (len(sureties) + 1))
    if place > len(sureties):
        return math.inf
    return float(np.sort(sureties)[place - 1])


def claims(
    method: ScoringMethod, threshold: float, scene: RatingsScene, known: RatingKnowledge
) -> Claims:
    """Return what the method claims of people inside the release and of people outside it."""
    started = time.perf_counter()
    inside = [found for p in scene.present if (found := _found(method, scene, known, p))]
    outside = [found for p in scene.absent if (found := _found(method, scene, known, p))]
    spent = time.perf_counter() - started
    named = [(person, match) for person, match in inside if match.surety > threshold]
    right = sum(int(scene.index.people[match.record]) == person for person, match in named)
    return Claims(
        present=len(inside),
        right=right,
        mistaken=len(named) - right,
        absent=len(outside),
        false=sum(match.surety > threshold for _, match in outside),
        milliseconds=1000 * spent / max(1, len(inside) + len(outside)),
    )


def _found(
    method: ScoringMethod, scene: RatingsScene, known: RatingKnowledge, person: int
) -> tuple[int, Match] | None:
    seen = scene.witness.glimpse(int(person), known)
    if seen is None:
        return None
    return int(person), method.best(method.score(scene.index, seen, known))
