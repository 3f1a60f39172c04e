"""Released ratings, sorted by film: everything about a few films is found without reading the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Bits, Floats, Integers

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
