"""The people of the town: one row each, with the joint distribution that docs/town.md states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Bits, Floats, Integers
from discreet.examples import parameters as p
from discreet.examples.columns import category, days
from discreet.examples.draw import Stream, TownLaw, at_age, bands, stream

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
