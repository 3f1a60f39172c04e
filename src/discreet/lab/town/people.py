"""The people of the town, with the joint distribution that docs/town.md states; its voter roll; their hospital visits."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.base.arrays import Bits, Floats, Integers
from discreet.lab.town import parameters as p
from discreet.lab.town.columns import Stream, TownLaw, at_age, bands, category, days, stream
from discreet.lab.town.parameters import MEN, STREETS, SURNAMES, WOMEN

SEXES = ("Female", "Male")
REGIONS = tuple(p.REGION_WEIGHTS)
JOBS = (*p.OUTSIDE_WORK, *p.OCCUPATIONS)

AGE = TownLaw.of(np.repeat(p.AGE_BAND_WEIGHTS, 5))
REGION = TownLaw.of(list(p.REGION_WEIGHTS.values()))
SEX = TownLaw.of([(share, 1 - share) for share in p.FEMALE_SHARE_FROM_AGE.values()])
EDUCATION = TownLaw.of(list(p.EDUCATION_SHARES_FROM_AGE.values()))
HOUSEHOLD = TownLaw.of(list(p.HOUSEHOLD_SHARES.values()))


def _job_law() -> TownLaw:
    """Return the shares of JOBS; the groups are age band times education."""
    occupations = TownLaw.of([p.OCCUPATION_WEIGHTS[name] for name in p.EDUCATIONS]).shares
    rows = [
        (*outside, *((1 - sum(outside)) * row))
        for outside in p.OUTSIDE_WORK_SHARES_FROM_AGE.values()
        for row in occupations
    ]
    return TownLaw.of(rows)


JOB = _job_law()
_SEX_BAND = bands(p.FEMALE_SHARE_FROM_AGE)
_EDUCATION_BAND = bands(p.EDUCATION_SHARES_FROM_AGE)
_JOB_BAND = bands(p.OUTSIDE_WORK_SHARES_FROM_AGE)
_MARRIED = at_age(p.MARRIED_SHARES_FROM_AGE)
_SMOKER = at_age(p.SMOKER_SHARES_FROM_AGE)
_HEIGHT = np.column_stack(
    [
        np.interp(
            np.arange(121), list(p.HEIGHT_AT_AGE), [pair[sex] for pair in p.HEIGHT_AT_AGE.values()]
        )
        for sex in range(2)
    ]
)
_MEDIAN = np.array([p.INCOME_MEDIANS[job] for job in JOBS], dtype=np.float64)
_REGION_START = np.concatenate([[0.0], np.cumsum(REGION.shares[0])])
_NEW_YEAR = np.array(
    [
        np.datetime64(f"{p.REFERENCE_DAY.year - age}-01-01", "D").astype(np.int64)
        for age in range(-1, 121)
    ]
)
"""Day numbers of the first of January of the year in which people of age -1, 0, 1, ... were born."""


@dataclass(frozen=True, slots=True)
class PeopleChunk:
    """Some people as arrays of codes: what the visits and the voter roll are drawn from."""

    first_id: int
    age: Integers
    birth_day: Integers
    sex: Integers
    region: Integers
    zip_code: Integers
    education: Integers
    education_known: Bits
    job: Integers
    income: Integers
    income_known: Bits
    married: Bits
    household_size: Integers
    smoker: Bits
    height: Integers

    @property
    def person_id(self) -> Integers:
        """Return the identifiers, which simply count from 1."""
        return np.arange(self.first_id, self.first_id + len(self.age))


def zip_count(people: int) -> int:
    """Return how many ZIP codes a town of this size has.

    >>> zip_count(50_000)
    4
    """
    return min(p.ZIP_MOST, max(1, round(people / p.ZIP_PEOPLE)))


def zip_values(people: int) -> tuple[str, ...]:
    """Return the ZIP codes of a town of this size, five digits each."""
    return tuple(str(p.ZIP_FIRST + i) for i in range(zip_count(people)))


def make_people(seed: int, chunk: int, start: int, count: int, *, town_size: int) -> PeopleChunk:
    """Return the people start + 1 to start + count; the same for the same seed and chunk."""
    rng = stream(seed, Stream.PEOPLE, chunk)
    everyone = np.zeros(count, dtype=np.int64)
    age = AGE.draw(rng, everyone)
    birth_day = _birth_day(rng, age)
    sex = SEX.draw(rng, _SEX_BAND[age])
    region = REGION.draw(rng, everyone)
    # Regions lie side by side on a line that ZIP codes cut into equal parts, whatever their number.
    along = _REGION_START[region] + REGION.shares[0][region] * rng.random(count)
    zips = zip_count(town_size)
    zip_code = np.minimum((along * zips).astype(np.int64), zips - 1)
    education = EDUCATION.draw(rng, _EDUCATION_BAND[age])
    job = JOB.draw(rng, _JOB_BAND[age] * len(p.EDUCATIONS) + education)
    income = _income(rng, age, sex, job)
    married = rng.random(count) < _MARRIED[age]
    household = HOUSEHOLD.draw(rng, np.where(age < 18, 0, 1 + married)) + 1
    smoker = rng.random(count) < _SMOKER[age, sex]
    height = np.rint(
        _HEIGHT[age, sex] + p.HEIGHT_SPREAD * _growth(age) * rng.standard_normal(count)
    )
    return PeopleChunk(
        first_id=start + 1,
        age=age,
        birth_day=birth_day,
        sex=sex,
        region=region,
        zip_code=zip_code,
        education=education,
        education_known=rng.random(count) >= p.EDUCATION_MISSING,
        job=job,
        income=income,
        income_known=rng.random(count) >= p.INCOME_MISSING,
        married=married,
        household_size=household,
        smoker=smoker,
        height=height.astype(np.int64),
    )


def people_batch(made: PeopleChunk, zips: tuple[str, ...]) -> pa.RecordBatch:
    """Return the rows of the table `people`."""
    return pa.RecordBatch.from_pydict(
        {
            "person_id": pa.array(made.person_id),
            "age": pa.array(made.age.astype(np.int32)),
            "birth_date": days(made.birth_day),
            "sex": category(made.sex, SEXES),
            "region": category(made.region, REGIONS),
            "zip": category(made.zip_code, zips),
            "education": category(made.education, p.EDUCATIONS, known=made.education_known),
            "job": category(made.job, JOBS),
            "income": pa.array(made.income.astype(np.int32), mask=~made.income_known),
            "married": pa.array(made.married),
            "household_size": pa.array(made.household_size.astype(np.int32)),
            "smoker": pa.array(made.smoker),
            "height": pa.array(made.height.astype(np.int32)),
        }
    )


def _birth_day(rng: np.random.Generator, age: Integers) -> Integers:
    """Return days since 1970, uniform in the calendar year that belongs to the age."""
    first, after = _NEW_YEAR[age + 1], _NEW_YEAR[age]
    day: Integers = first + (rng.random(len(age)) * (after - first)).astype(np.int64)
    return day


def _income(rng: np.random.Generator, age: Integers, sex: Integers, job: Integers) -> Integers:
    """Return log-normal incomes in whole units; age and sex matter for people who work."""
    works = job >= len(p.OUTSIDE_WORK)
    shift = p.INCOME_AGE_BEND * (age - p.INCOME_PEAK_AGE) ** 2 + p.INCOME_FEMALE_LOG * (sex == 0)
    spread: Floats = p.INCOME_LOG_SPREAD * rng.standard_normal(len(age))
    income = _MEDIAN[job] * np.exp(np.where(works, shift, 0.0) + spread)
    return np.minimum(np.rint(income), p.INCOME_UPPER).astype(np.int64)


def _growth(age: Integers) -> Floats:
    """Return the share of the adult spread of heights that children of this age show."""
    return np.minimum(1.0, 0.5 + 0.5 * age / 16)


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
