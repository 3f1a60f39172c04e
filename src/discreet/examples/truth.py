"""What is true of the town's population: the parameters that its rows are drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.examples import parameters as p
from discreet.examples.draw import at_age, bands
from discreet.examples.people import AGE, JOB, JOBS, REGION, REGIONS, SEX, zip_count
from discreet.examples.visits import DIAGNOSES, diagnosis_shares


def population_truth(people: int) -> Mapping[str, Any]:
    """Return exact shares, means and effects of the population that `people` rows are drawn from.

    These are public constants of the recipe, never counts of the rows.
    """
    by_age = AGE.shares[0]
    return MappingProxyType(
        {
            "age_shares": tuple(by_age.tolist()),
            "female_share": float(by_age @ _female(len(by_age))),
            "region_shares": dict(zip(REGIONS, REGION.shares[0].tolist(), strict=True)),
            "job_shares": dict(zip(JOBS, _job_shares().tolist(), strict=True)),
            "smoker_share": float(by_age @ _smokers(len(by_age))),
            "married_share": float(by_age @ at_age(p.MARRIED_SHARES_FROM_AGE)[: len(by_age)]),
            "missing_shares": {"education": p.EDUCATION_MISSING, "income": p.INCOME_MISSING},
            "income_female_log": p.INCOME_FEMALE_LOG,
            "income_log_spread": p.INCOME_LOG_SPREAD,
            "income_medians": dict(p.INCOME_MEDIANS),
            "zip_codes": zip_count(people),
            "unique_share": _unique_share(people),
            "mean_visits": float(by_age @ at_age(p.VISIT_MEANS_FROM_AGE)[: len(by_age)]),
            "smoking_relative_risks": dict(p.SMOKING_RELATIVE_RISKS),
            "diagnoses": DIAGNOSES,
            "diagnosis_shares": diagnosis_shares(),
            "voter_share_of_adults": p.VOTER_SHARE,
            "dose_vkorc1": dict(p.DOSE_VKORC1),
            "dose_cyp2c9": dict(p.DOSE_CYP2C9),
            "dose_spread": p.DOSE_SPREAD,
        }
    )


def _female(ages: int) -> Floats:
    women: Floats = SEX.shares[:, 0][bands(p.FEMALE_SHARE_FROM_AGE)[:ages]]
    return women


def _smokers(ages: int) -> Floats:
    shares = at_age(p.SMOKER_SHARES_FROM_AGE)[:ages]
    women = _female(ages)
    smokers: Floats = women * shares[:, 0] + (1 - women) * shares[:, 1]
    return smokers


def _job_shares() -> Floats:
    by_age = AGE.shares[0]
    education = at_age(p.EDUCATION_SHARES_FROM_AGE)[: len(by_age)]
    jobs = JOB.shares.reshape(-1, len(p.EDUCATIONS), len(JOBS))
    jobs = jobs[bands(p.OUTSIDE_WORK_SHARES_FROM_AGE)[: len(by_age)]]
    shares: Floats = np.einsum("a,ae,aej->j", by_age, education, jobs)
    return shares


def _unique_share(people: int) -> float:
    """Return the expected share of people whom ZIP, birth date and sex single out."""
    ages = len(AGE.shares[0])
    women = _female(ages)
    by_sex = AGE.shares[0] * np.stack([women, 1 - women])
    # Everybody else must miss this person's ZIP code, day of birth and sex.
    cell = by_sex / 365.25 / zip_count(people)
    return float((by_sex * (1 - cell) ** (people - 1)).sum())
