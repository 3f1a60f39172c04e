"""Whom the adversary names, when, and how often that is wrong: also when the person is not there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.attack.ratings.index import Index
from discreet.attack.ratings.known import Glimpse, RatingKnowledge, Witness
from discreet.attack.ratings.scores import Match, likelihoods, most_eccentric, most_likely, weighted
from discreet.core.arrays import Floats, Integers

ECCENTRICITY = 1.5
"""The threshold of the 2008 paper."""


@dataclass(frozen=True, slots=True)
class ScoringMethod:
    """A way to score records and to say how sure the best one is."""

    name: str
    score: Callable[[Index, Glimpse, RatingKnowledge], Floats]
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
    witness: Witness
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
