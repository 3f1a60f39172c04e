"""Film ratings: sparse, long-tailed and dated, so that a few of them point to one person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Floats, Integers
from discreet.examples import parameters as p
from discreet.examples.columns import days
from discreet.examples.draw import Stream, chunks, stream

USERS_A_CHUNK = 5_000
"""Users made at a time; like CHUNK, a part of the recipe."""
_FIRST_DAY = (p.RATING_FIRST_DAY - dt.date(1970, 1, 1)).days
_SPAN = (p.RATING_LAST_DAY - p.RATING_FIRST_DAY).days + 1


@dataclass(frozen=True, slots=True)
class Films:
    """What is public about the films; entry i belongs to film_id i + 1."""

    popularity: Floats
    quality: Floats
    tastes: Floats


def make_films(seed: int) -> Films:
    """Return popularity (shares), quality (mean rating) and tastes of every film."""
    rng = stream(seed, Stream.FILMS, 0)
    rank = rng.permutation(p.FILMS) + 1
    weights = 1.0 / (p.FILM_POPULARITY_OFFSET + rank) ** p.FILM_POPULARITY_POWER
    return Films(
        popularity=weights / weights.sum(),
        quality=p.RATING_MEAN + p.RATING_FILM_SPREAD * rng.standard_normal(p.FILMS),
        tastes=rng.standard_normal((p.FILMS, p.RATING_TASTES)),
    )


def user_count(ratings: int) -> int:
    """Return how many people give this many ratings."""
    return max(1, round(ratings / p.RATINGS_A_USER))


def rating_batches(seed: int, ratings: int) -> Iterator[pa.RecordBatch]:
    """Yield exactly `ratings` rows: nobody rates a film twice."""
    users = user_count(ratings)
    films = make_films(seed)
    for chunk, (start, count) in enumerate(chunks(users, USERS_A_CHUNK)):
        share = ratings * (start + count) // users - ratings * start // users
        yield _batch(stream(seed, Stream.RATINGS, chunk), films, start, count, share)


def _batch(
    rng: np.random.Generator, films: Films, start: int, users: int, ratings: int
) -> pa.RecordBatch:
    activity = np.exp(p.RATINGS_LOG_SPREAD * rng.standard_normal(users))
    pairs = _pairs(rng, activity / activity.sum(), films.popularity, ratings)
    user, film = pairs // p.FILMS, pairs % p.FILMS
    liking = p.RATING_USER_SPREAD * rng.standard_normal(users)
    leaning = p.RATING_TASTE_SPREAD * rng.standard_normal((users, p.RATING_TASTES))
    score = films.quality[film] + liking[user] + p.RATING_NOISE * rng.standard_normal(ratings)
    for taste in range(p.RATING_TASTES):
        score += leaning[user, taste] * films.tastes[film, taste]
    return pa.RecordBatch.from_pydict(
        {
            "user_id": pa.array(user + start + 1),
            "film_id": pa.array((film + 1).astype(np.int32)),
            "rating": pa.array(np.clip(np.rint(score), 1, 5).astype(np.int32)),
            "date": days(_rating_days(rng, user, users)),
        }
    )


def _pairs(rng: np.random.Generator, activity: Floats, popularity: Floats, wanted: int) -> Integers:
    """Return `wanted` different pairs user * FILMS + film, sorted; drawn until there are enough."""
    by_activity, by_popularity = np.cumsum(activity), np.cumsum(popularity)
    pairs = np.empty(0, dtype=np.int64)
    while len(pairs) < wanted:
        missing = (wanted - len(pairs)) * 5 // 4 + 1_000
        # The draws are sorted so that the search walks through memory in order: several times faster.
        user = np.searchsorted(by_activity, np.sort(rng.random(missing)) * by_activity[-1])
        film = rng.permutation(
            np.searchsorted(by_popularity, np.sort(rng.random(missing)) * by_popularity[-1])
        )
        pairs = np.union1d(pairs, user * p.FILMS + film)
    surplus = rng.choice(len(pairs), len(pairs) - wanted, replace=False, shuffle=False)
    return np.delete(pairs, surplus)


def _rating_days(rng: np.random.Generator, user: Integers, users: int) -> Integers:
    """Return days since 1970: people join at some time and then rate in evenings of about a dozen."""
    given = np.bincount(user, minlength=users)
    sessions = 1 + given // p.RATINGS_A_SESSION
    first_session = np.cumsum(sessions) - sessions
    joined = (rng.random(users) * (_SPAN - 60)).astype(np.int64)
    owner = np.repeat(np.arange(users), sessions)
    left = _SPAN - joined[owner]
    session_day = joined[owner] + (rng.random(len(owner)) * left).astype(np.int64)
    pick = first_session[user] + (rng.random(len(user)) * sessions[user]).astype(np.int64)
    day: Integers = _FIRST_DAY + session_day[pick]
    return day
