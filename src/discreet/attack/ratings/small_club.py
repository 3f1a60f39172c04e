"""A small club: ratings with the tails of a recommender site, where most evenings look alike.

The town's ratings are those of a large rental club: thousands of films, six years, about a hundred evenings a
person. On a site such as MovieLens (100k: 943 people, 1,682 films, seven months) most people rate what
everybody rates, and nearly all of it on the evening they joined; a date says little about one rating that it
does not say about the others. Both exist, and an attack fares differently on them.
"""

from __future__ import annotations

import numpy as np

from discreet.attack.ratings.index import GRADES, Ratings
from discreet.core.arrays import Floats, Integers

FILMS = 1_682
_STEEPER = 1.3
"""Weights grow faster than counts: nobody can rate a popular film twice."""
DAYS = 215
_SHARES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
_RATINGS_A_PERSON = (20, 33, 65, 148, 310, 737)
_RATINGS_A_FILM = (0.5, 6, 27, 80, 230, 583)
"""Least, quartiles, 95% and most: about those of MovieLens 100k."""
_LATER = 0.1
"""Share of ratings that are not of the first evening (assumed)."""
_CROWDED = 2.0
"""How unevenly people join, week by week: the spread of the logarithm (assumed). With these three the figure
for two ratings and three days comes near the 38% that the attack finds on MovieLens 100k."""
_PAUSE = 20.0
"""Mean days until somebody comes back (assumed)."""
_GRADES = (0.06, 0.11, 0.27, 0.34, 0.22)
_STANDARD = np.random.default_rng(0).normal(size=20_000)
_LIMITS = np.quantile(_STANDARD, np.cumsum(_GRADES)[:-1]) * 1.2
"""From which liking on a film gets which grade."""


def small_club(people: int, seed: int) -> Ratings:
    """Return the ratings of a made-up club of so many people, each film at most once a person."""
    dice = np.random.default_rng([seed, 100_000])
    popular = _STEEPER * np.log(_quantiles(_RATINGS_A_FILM, (np.arange(FILMS) + 0.5) / FILMS))
    wanted = np.rint(_quantiles(_RATINGS_A_PERSON, dice.random(people))).astype(np.int64)
    quality = dice.normal(0.0, 0.5, FILMS) + 0.15 * (popular - popular.mean())
    rush = np.repeat(np.exp(_CROWDED * dice.normal(size=DAYS // 7 + 1)), 7)[:DAYS]
    joined = dice.choice(DAYS, people, p=rush / rush.sum())
    persons, films, grades, days = [], [], [], []
    for person, many in enumerate(wanted, start=1):
        # The largest of weight times a draw from Gumbel's law: that many films without repetition.
        chosen = np.argsort(-(popular + dice.gumbel(size=FILMS)))[:many]
        persons.append(np.full(many, person))
        films.append(chosen + 1)
        grades.append(_graded(quality[chosen] + dice.normal(0.0, 1.0, many) + dice.normal(0, 0.4)))
        days.append(_days(int(many), int(joined[person - 1]), dice))
    return Ratings(*(np.concatenate(each) for each in (persons, films, grades, days)))


def _quantiles(points: tuple[float, ...], at: Floats) -> Floats:
    """Return the values at these shares: published quantiles, evenly in logarithms between them."""
    return np.asarray(np.exp(np.interp(at, _SHARES, np.log(points))))


def _graded(liking: Floats) -> Integers:
    """Return grades with about the shares that such sites see."""
    return np.asarray(np.searchsorted(_LIMITS, liking) + 1).clip(1, GRADES).astype(np.int64)


def _days(many: int, joined: int, dice: np.random.Generator) -> Integers:
    """Return the day of each rating: most on the evening of joining, some on a few later ones."""
    visits = 1 + dice.poisson(many * _LATER / 40)
    evenings = joined + np.concatenate([[0.0], np.cumsum(dice.exponential(_PAUSE, visits))])
    later = dice.random(many) < _LATER
    picked = np.where(later, dice.integers(1, visits + 1, many), 0)
    day = np.minimum(evenings[picked].astype(np.int64), DAYS - 1)
    return np.asarray(day + 10_123)  # 1997-09-19
