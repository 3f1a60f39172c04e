"""The voter roll: what an attacker buys for a few coins and joins to data without names."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.examples import parameters as p
from discreet.examples.columns import category, days
from discreet.examples.draw import Stream, stream
from discreet.examples.names import MEN, STREETS, SURNAMES, WOMEN
from discreet.examples.people import SEXES, PeopleChunk


def voter_batch(
    seed: int, chunk: int, people: PeopleChunk, zips: tuple[str, ...]
) -> pa.RecordBatch:
    """Return the registered adults among these people, in random order.

    The last column, `person_id`, is the answer key; it goes to a file of its own.
    """
    rng = stream(seed, Stream.VOTERS, chunk)
    adult = people.age >= p.VOTER_AGE
    who = np.flatnonzero(adult & (rng.random(len(adult)) < p.VOTER_SHARE))
    rng.shuffle(who)
    count = len(who)
    sex = people.sex[who]
    first = np.where(
        sex == 0, rng.integers(0, len(WOMEN), count), len(WOMEN) + rng.integers(0, len(MEN), count)
    )
    moved = rng.random(count) < p.VOTER_OLD_ZIP_SHARE
    zip_code = np.where(moved, rng.integers(0, len(zips), count), people.zip_code[who])
    house = pa.array(rng.integers(1, 200, count)).cast(pa.string())
    return pa.RecordBatch.from_pydict(
        {
            "name": _joined(
                pa.array((*WOMEN, *MEN)).take(pa.array(first)), _pick(rng, SURNAMES, count)
            ),
            "birth_date": days(people.birth_day[who]),
            "sex": category(sex, SEXES),
            "zip": category(zip_code, zips),
            "address": _joined(house, _pick(rng, STREETS, count)),
            "person_id": pa.array(people.person_id[who]),
        }
    )


def _pick(rng: np.random.Generator, words: tuple[str, ...], count: int) -> pa.Array:
    return pa.array(words).take(pa.array(rng.integers(0, len(words), count)))


def _joined(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(left, right, " ")
