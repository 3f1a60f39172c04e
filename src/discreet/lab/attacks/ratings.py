"""Released ratings, what an adversary knows of somebody's, whom that names, and how often it is wrong.

Records are scored by likelihood, or by the weights of the 2008 paper; also when the person is not there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Bits, Floats, Integers

GRADES = 5


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings as columns of equal length: person, film, grade (1 to 5) and day since 1970."""

    person: Integers
    film: Integers
    grade: Integers
    day: Integers

    @classmethod
    def of(cls, table: pa.Table) -> Ratings:
        """Return the columns user_id, film_id, rating and date of a table."""
        names = ("user_id", "film_id", "rating")
        person, film, grade = (table[name].to_numpy().astype(np.int64) for name in names)
        day = table["date"].cast(pa.int32()).to_numpy().astype(np.int64)
        return cls(person, film, grade, day)

    def only(self, keep: Bits) -> Ratings:
        """Return some of the rows."""
        return Ratings(self.person[keep], self.film[keep], self.grade[keep], self.day[keep])

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Ratings sorted by film (rows `starts[f]` to `starts[f + 1]` are film f's), and public totals.

    Records are numbered from 0; `people` gives each record's person, which the adversary never sees
    and only the scorer uses.
    """

    people: Integers
    starts: Integers
    record: Integers
    grade: Integers
    day: Integers
    support: Integers
    length: Floats
    grade_shares: Floats
    days: Integers

    @classmethod
    def of(cls, ratings: Ratings, *, films: int) -> Index:
        """Return the index over film numbers below `films`."""
        people, record = np.unique(ratings.person, return_inverse=True)
        order = np.argsort(ratings.film, kind="stable")
        film = ratings.film[order]
        support = np.bincount(film, minlength=films)
        overall = np.bincount(ratings.grade, minlength=GRADES + 1) / max(len(ratings), 1)
        cells = np.bincount(
            film * (GRADES + 1) + ratings.grade[order], minlength=films * (GRADES + 1)
        ).reshape(films, GRADES + 1)
        # Five made-up ratings of the common kind: a film rated twice says little about its third grade.
        shares = (cells + 5 * overall) / (support + 5)[:, None]
        return cls(
            people=people,
            starts=np.concatenate([[0], np.cumsum(support)]),
            record=record[order],
            grade=ratings.grade[order],
            day=ratings.day[order],
            support=support,
            length=np.bincount(record, minlength=len(people)).astype(np.float64),
            grade_shares=shares,
            days=np.sort(ratings.day),
        )

    def rows_of(self, films: Integers) -> tuple[Integers, Integers]:
        """Return the rows of several films, and for each row which of the films it belongs to."""
        lengths = self.starts[films + 1] - self.starts[films]
        which = np.repeat(np.arange(len(films)), lengths)
        ends = np.cumsum(lengths)
        rows = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
            self.starts[films] - (ends - lengths), lengths
        )
        return rows, which

    def share_within(self, day: Integers, reach: int) -> Floats:
        """Return which share of all ratings was given within `reach` days of each day."""
        first = np.searchsorted(self.days, day - reach, side="left")
        last = np.searchsorted(self.days, day + reach, side="right")
        shares = (last - first + 1.0) / (len(self.days) + 1.0)
        return shares.astype(np.float64)


@dataclass(frozen=True, slots=True)
class RatingKnowledge:
    """How much is known: ratings, how many of them are wrong, how far dates may be off.

    `days` is None where no dates are known. `obscure` of the ratings are of films outside the `top`.
    """

    ratings: int
    wrong: int
    days: int | None
    obscure: int = 0
    top: int = 500

    @property
    def words(self) -> str:
        """Return the knowledge in words."""
        dates = "no dates" if self.days is None else f"dates to {self.days} days"
        rare = f", {self.obscure} outside the top {self.top}" if self.obscure else ""
        return f"{self.ratings} ratings, {self.wrong} of them wrong{rare}, {dates}"


PUBLISHED: Mapping[str, RatingKnowledge] = MappingProxyType(
    {
        "8 ratings, 2 wrong, 14 days": RatingKnowledge(8, 2, 14),
        "2 ratings, 3 days": RatingKnowledge(2, 0, 3),
        "8 ratings, 6 obscure, no dates": RatingKnowledge(8, 2, None, obscure=6),
    }
)
"""The three settings of Narayanan and Shmatikov (2008), here against made-up data."""


@dataclass(frozen=True, slots=True, eq=False)
class KnownRatings:
    """What is known of one person: film, grade and day of a few ratings."""

    film: Integers
    grade: Integers
    day: Integers


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeSampler:
    """Draws glimpses of people from their true ratings."""

    ratings: Ratings
    starts: Integers
    order: Integers
    rank: Integers
    dice: np.random.Generator

    @classmethod
    def of(cls, ratings: Ratings, *, rank: Integers, dice: np.random.Generator) -> KnowledgeSampler:
        """Return a witness; `rank` is each film's place by popularity, 0 for the best known."""
        order = np.argsort(ratings.person, kind="stable")
        starts = np.searchsorted(ratings.person[order], np.arange(ratings.person.max() + 2))
        return cls(ratings, starts, order, rank, dice)

    def glimpse(self, person: int, known: RatingKnowledge) -> KnownRatings | None:
        """Return what is known of a person; None where the person has too few ratings for it."""
        rows = self.order[self.starts[person] : self.starts[person + 1]]
        rare = self.rank[self.ratings.film[rows]] >= known.top
        true = known.ratings - known.wrong
        # Which ratings are wrong is chance, so the wrong ones take their part of the rare ones.
        obscure = min(true, round(known.obscure * true / known.ratings)) if known.obscure else 0
        if rare.sum() < obscure or len(rows) < true:
            return None
        if known.obscure:
            picked = np.concatenate(
                [
                    self.dice.choice(rows[rare], obscure, replace=False),
                    self._some(rows[~rare], true - obscure, rows),
                ]
            )
        else:
            picked = self.dice.choice(rows, true, replace=False)
        return self._blurred(picked[:true], known, known.obscure - obscure)

    def _some(self, rows: Integers, count: int, otherwise: Integers) -> Integers:
        source = rows if len(rows) >= count else otherwise
        chosen: Integers = self.dice.choice(source, count, replace=False)
        return chosen

    def _blurred(
        self, picked: Integers, known: RatingKnowledge, obscure_wrong: int
    ) -> KnownRatings:
        wrong = self._wrong(known.wrong, obscure_wrong, known.top)
        film = np.concatenate([self.ratings.film[picked], self.ratings.film[wrong]])
        grade = np.concatenate(
            [self.ratings.grade[picked], self.dice.integers(1, GRADES + 1, len(wrong))]
        )
        day = np.concatenate([self.ratings.day[picked], self.ratings.day[wrong]])
        if known.days:
            day = day + self.dice.integers(-known.days, known.days + 1, len(day))
        return KnownRatings(film, grade, day)

    def _wrong(self, count: int, obscure: int, top: int) -> Integers:
        """Return rows of somebody else: a wrong rating has a film and a day of its own."""
        if not obscure:
            return self.dice.integers(0, len(self.ratings), count)
        rows: Integers = self.dice.integers(0, len(self.ratings), 50 * count)
        rare = self.rank[self.ratings.film[rows]] >= top
        return np.concatenate([rows[rare][:obscure], rows[~rare][: count - obscure]])[:count]


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
