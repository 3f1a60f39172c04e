"""What an adversary knows of somebody: a few ratings, some of them wrong, with rough dates or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from discreet.attack.ratings.index import GRADES, Ratings
from discreet.core.arrays import Integers


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
