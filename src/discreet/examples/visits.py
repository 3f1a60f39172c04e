"""Hospital visits: about three a person, with a heavy tail; diagnoses by age, sex and smoking."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Floats, Integers
from discreet.examples import parameters as p
from discreet.examples.columns import category, days
from discreet.examples.draw import Stream, TownLaw, at_age, bands, stream
from discreet.examples.people import PeopleChunk

DIAGNOSES = tuple(p.DIAGNOSES)
_AGE_BAND = bands(p.VISIT_MEANS_FROM_AGE)
_MEAN = at_age(p.VISIT_MEANS_FROM_AGE)
_EPOCH = dt.date(1970, 1, 1)
FIRST_DAY = (p.VISIT_FIRST_DAY - _EPOCH).days
LAST_DAY = (p.VISIT_LAST_DAY - _EPOCH).days


def diagnosis_shares() -> Floats:
    """Return shares indexed by age band, sex, smoker and diagnosis.

    Others' shares come from the weights. A smoker's listed diagnoses are likelier by exactly the
    relative risk; the remaining ones shrink by a common factor.
    """
    table = np.empty((len(p.VISIT_MEANS_FROM_AGE), 2, 2, len(DIAGNOSES)))
    risks = np.array([p.SMOKING_RELATIVE_RISKS.get(name, 1.0) for name in DIAGNOSES])
    listed = risks > 1
    for band, sex in np.ndindex(table.shape[:2]):
        weights = np.array([row[0][band] * row[1 + sex] for row in p.DIAGNOSES.values()])
        others = weights / weights.sum()
        smokers = others * risks
        smokers[~listed] *= (1 - smokers[listed].sum()) / others[~listed].sum()
        table[band, sex] = others, smokers
    return table


def _ward_law() -> TownLaw:
    """Return the shares of WARDS; the groups are adults by diagnosis, then children."""
    adults = np.zeros((len(DIAGNOSES), len(p.WARDS)))
    general, paediatric = p.WARDS.index("General medicine"), p.WARDS.index("Paediatrics")
    adults[:, [p.WARDS.index("Emergency"), general]] = p.WARD_OTHER_SHARE / 2
    for row, (*_, ward, _days, _cost) in enumerate(p.DIAGNOSES.values()):
        adults[row, p.WARDS.index(ward)] += 1 - p.WARD_OTHER_SHARE
    children = adults.copy()
    children[:, paediatric] += children[:, general]
    children[:, general] = 0
    return TownLaw.of(np.concatenate([adults, children]))


def _day_law() -> TownLaw:
    """Return the shares of the days on which visits begin: fewer at weekends."""
    weekday = (np.arange(FIRST_DAY, LAST_DAY + 1) + 3) % 7  # 1 January 1970 was a Thursday
    return TownLaw.of(np.where(weekday >= 5, p.VISIT_WEEKEND_WEIGHT, 1.0))


DIAGNOSIS = TownLaw.of(diagnosis_shares().reshape(-1, len(DIAGNOSES)))
WARD = _ward_law()
DAY = _day_law()
_STAY = np.array([row[4] for row in p.DIAGNOSES.values()])
_DAILY = np.array([row[5] for row in p.DIAGNOSES.values()], dtype=np.float64)


def visit_batch(seed: int, chunk: int, people: PeopleChunk) -> pa.RecordBatch:
    """Return the visits of these people, in the order of their identifiers."""
    rng = stream(seed, Stream.VISITS, chunk)
    rate = _MEAN[people.age] * rng.standard_gamma(p.VISIT_SHAPE, len(people.age)) / p.VISIT_SHAPE
    visits = np.minimum(rng.poisson(rate), p.VISITS_MOST)
    who = np.repeat(np.arange(len(people.age)), visits)
    stratum = (_AGE_BAND[people.age] * 2 + people.sex) * 2 + people.smoker
    diagnosis = DIAGNOSIS.draw(rng, stratum[who])
    ward = WARD.draw(rng, diagnosis + len(DIAGNOSES) * (people.age[who] < 18))
    stay = _stay(rng, diagnosis)
    day = _visit_day(rng, people.birth_day[who])
    noise = np.exp(p.COST_LOG_SPREAD * rng.standard_normal(len(who)))
    cost = np.minimum(np.rint(_DAILY[diagnosis] * (stay + 0.5) * noise * 100) / 100, p.COST_UPPER)
    return pa.RecordBatch.from_pydict(
        {
            "person_id": pa.array(people.person_id[who]),
            "date": days(day),
            "ward": category(ward, p.WARDS),
            "diagnosis": category(diagnosis, DIAGNOSES),
            "days": pa.array(stay.astype(np.int32)),
            "cost": pa.array(cost),
        }
    )


def _stay(rng: np.random.Generator, diagnosis: Integers) -> Integers:
    """Return whole days in hospital: geometric from 0, with the diagnosis' mean."""
    mean = _STAY[diagnosis]
    uniform = 1 - rng.random(len(diagnosis))
    stay = np.floor(np.log(uniform) / np.log(mean / (1 + mean)))
    whole: Integers = np.minimum(stay, p.DAYS_MOST).astype(np.int64)
    return whole


def _visit_day(rng: np.random.Generator, birth_day: Integers) -> Integers:
    """Return the days of the visits; nobody is treated before being born."""
    day = FIRST_DAY + DAY.draw(rng, np.zeros(len(birth_day), dtype=np.int64))
    since_birth = birth_day + (rng.random(len(day)) * (LAST_DAY + 1 - birth_day)).astype(np.int64)
    return np.where(day < birth_day, since_birth, day)
