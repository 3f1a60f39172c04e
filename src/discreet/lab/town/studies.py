"""Film ratings, genotypes of a study, and weekly doses of a blood thinner with the genes that decide them.

The shape (the square root of the dose is linear) is that of the published warfarin formula; the
coefficients are the town's own and stand in parameters.py.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Floats, Integers
from discreet.lab.town import parameters as p
from discreet.lab.town.columns import Stream, TownLaw, category, chunks, days, stream

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


PEOPLE_A_CHUNK = 500
"""People made at a time; like CHUNK, a part of the recipe."""


def allele_frequencies(seed: int, loci: int) -> Floats:
    """Return the frequency of the minor allele at each locus in the whole population."""
    rng = stream(seed, Stream.GENOTYPES, 0)
    return p.ALLELE_LOWEST + (p.ALLELE_HIGHEST - p.ALLELE_LOWEST) * rng.random(loci)


def write_genotypes(seed: int, people: int, loci: int, path: Path) -> Path:
    """Return `path` after writing a people x loci matrix of 0, 1 and 2 as 8-bit integers (.npy).

    Loci are independent and in Hardy-Weinberg equilibrium: two alleles, each minor with the
    frequency that `allele_frequencies` gives.
    """
    frequencies = allele_frequencies(seed, loci).astype(np.float32)
    unfinished = path.with_name(path.name + ".part")
    matrix = np.lib.format.open_memmap(unfinished, mode="w+", dtype=np.int8, shape=(people, loci))
    for chunk, (start, count) in enumerate(chunks(people, PEOPLE_A_CHUNK), start=1):
        rng = stream(seed, Stream.GENOTYPES, chunk)
        carried = rng.random((2, count, loci), dtype=np.float32) < frequencies
        matrix[start : start + count] = carried.sum(axis=0, dtype=np.int8)
    matrix.flush()
    del matrix
    return unfinished.replace(path)


RACES = tuple(p.RACE_SHARES)
CYP2C9 = tuple("/".join(pair) for pair in combinations_with_replacement(p.CYP2C9_ALLELES, 2))


def _cyp2c9_law() -> TownLaw:
    """Return shares of the six genotypes by race (Hardy-Weinberg)."""
    pairs = list(combinations_with_replacement(range(3), 2))
    rows = []
    for race in RACES:
        share = p.CYP2C9_FREQUENCIES[race]
        rows.append([share[i] * share[j] * (1 if i == j else 2) for i, j in pairs])
    return TownLaw.of(rows)


RACE = TownLaw.of(list(p.RACE_SHARES.values()))
_A = [p.VKORC1_A_FREQUENCIES[race] for race in RACES]
VKORC1 = TownLaw.of([((1 - a) ** 2, 2 * a * (1 - a), a**2) for a in _A])
"""Shares of G/G, A/G and A/A by race (Hardy-Weinberg)."""
CYP2C9_LAW = _cyp2c9_law()


def dosing_batch(seed: int, patients: int) -> pa.RecordBatch:
    """Return one row for each patient; they are nobody of the town's `people`."""
    rng = stream(seed, Stream.DOSING, 0)
    race = RACE.draw(rng, np.zeros(patients, dtype=np.int64))
    sex = (rng.random(patients) < p.DOSING_MALE_SHARE).astype(np.int64)
    age, height, weight = _bodies(rng, sex)
    vkorc1 = VKORC1.draw(rng, race)
    cyp2c9 = CYP2C9_LAW.draw(rng, race)
    amiodarone = rng.random(patients) < p.AMIODARONE_SHARE
    inducer = rng.random(patients) < p.INDUCER_SHARE
    root = dose_root(age=age, height=height, weight=weight, race=race, vkorc1=vkorc1, cyp2c9=cyp2c9)
    root += p.DOSE_AMIODARONE * amiodarone + p.DOSE_INDUCER * inducer
    root += p.DOSE_SPREAD * rng.standard_normal(patients)
    dose = np.clip(np.rint(np.maximum(root, 0) ** 2 * 2) / 2, p.DOSE_LOWER, p.DOSE_UPPER)
    return pa.RecordBatch.from_pydict(
        {
            "patient_id": pa.array(np.arange(1, patients + 1)),
            "age": pa.array(age.astype(np.int32)),
            "sex": category(sex, ("Female", "Male")),
            "race": category(race, RACES),
            "height": pa.array(height.astype(np.int32)),
            "weight": pa.array(weight),
            "vkorc1": category(vkorc1, p.VKORC1),
            "cyp2c9": category(cyp2c9, CYP2C9),
            "amiodarone": pa.array(amiodarone),
            "inducer": pa.array(inducer),
            "dose": pa.array(dose),
        }
    )


def _bodies(rng: np.random.Generator, sex: Integers) -> tuple[Integers, Floats, Floats]:
    """Return age in years, height in centimetres and weight in kilograms."""
    age = np.rint(p.DOSING_AGE_MEAN + p.DOSING_AGE_SPREAD * rng.standard_normal(len(sex)))
    age = np.clip(age, p.DOSING_AGE_LOWER, p.DOSING_AGE_UPPER)
    height = np.array(p.DOSING_HEIGHT)[sex] + p.DOSING_HEIGHT_SPREAD * rng.standard_normal(len(sex))
    height = np.clip(np.rint(height), p.DOSING_HEIGHT_LOWER, p.DOSING_HEIGHT_UPPER)
    bulk = np.exp(p.DOSING_BODY_MASS_LOG_SPREAD * rng.standard_normal(len(sex)))
    weight = np.rint(p.DOSING_BODY_MASS_MEDIAN * (height / 100) ** 2 * bulk * 10) / 10
    weight = np.clip(weight, p.DOSING_WEIGHT_LOWER, p.DOSING_WEIGHT_UPPER)
    return age.astype(np.int64), height, weight


def dose_root(
    *,
    age: Integers,
    height: Floats,
    weight: Floats,
    race: Integers,
    vkorc1: Integers,
    cyp2c9: Integers,
) -> Floats:
    """Return the mean square root of the weekly dose of people without interacting drugs."""
    root: Floats = (
        p.DOSE_INTERCEPT
        + p.DOSE_AGE_DECADE * age / 10
        + p.DOSE_HEIGHT_CM * height
        + p.DOSE_WEIGHT_KG * weight
        + np.array([p.DOSE_RACE[name] for name in RACES])[race]
        + np.array([p.DOSE_VKORC1[name] for name in p.VKORC1])[vkorc1]
        + np.array([p.DOSE_CYP2C9[name] for name in CYP2C9])[cyp2c9]
    )
    return root
