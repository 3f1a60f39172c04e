from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from scipy import stats

from discreet.lab.town import parameters as p
from discreet.lab.town.columns import bands
from discreet.lab.town.people import (
    AGE,
    EDUCATION,
    HOUSEHOLD,
    JOB,
    JOBS,
    REGION,
    REGIONS,
    SEX,
    make_people,
    people_batch,
    zip_count,
    zip_values,
)


def test_ages_and_regions(made, assert_shares):
    assert_shares(
        np.bincount(made.age, minlength=105), AGE.shares[0], wrong=[np.roll(AGE.shares[0], 1)]
    )
    shares = REGION.shares[0]
    assert_shares(
        np.bincount(made.region, minlength=50), shares, wrong=[np.roll(shares, 1), np.ones(50)]
    )


def test_fifty_regions_with_plausible_sizes():
    assert len(REGIONS) == len(set(REGIONS)) == 50
    assert REGION.shares.max() / REGION.shares.min() > 10


def test_sex_and_education_by_age(made, assert_shares):
    band = bands(p.FEMALE_SHARE_FROM_AGE)[made.age]
    for b in (0, 2, 4):
        assert_shares(
            np.bincount(made.sex[band == b]), SEX.shares[b], wrong=[SEX.shares[b] + [0.05, -0.05]]
        )
    band = bands(p.EDUCATION_SHARES_FROM_AGE)[made.age]
    for b in range(6):
        counts = np.bincount(made.education[band == b], minlength=6)
        assert_shares(counts, EDUCATION.shares[b], wrong=[EDUCATION.shares[b - 1]])


def test_jobs_by_age_and_education(made, assert_shares):
    group = bands(p.OUTSIDE_WORK_SHARES_FROM_AGE)[made.age] * 6 + made.education
    working_age = list(p.OUTSIDE_WORK_SHARES_FROM_AGE).index(25) * 6
    for g in range(working_age, working_age + 6):
        counts = np.bincount(made.job[group == g], minlength=len(JOBS))
        wrong = JOB.shares[g - 1 if g > working_age else g + 1]
        assert_shares(counts, JOB.shares[g], wrong=[wrong])
    assert set(made.job[made.age < 5]) == {JOBS.index("Child")}


def test_birth_dates_agree_with_ages_and_fill_the_year(made, assert_shares):
    dates = made.birth_day.astype("datetime64[D]")
    years = dates.astype("datetime64[Y]").astype(int) + 1970
    assert np.array_equal(years, p.REFERENCE_DAY.year - made.age)
    leap = dates[years == 1988]
    first = np.datetime64("1988-01-01")
    assert (leap.min(), leap.max()) == (first, np.datetime64("1988-12-31"))
    day = (dates - dates.astype("datetime64[Y]")).astype(int)
    assert_shares(np.bincount(day // 31, minlength=12), [31] * 11 + [24.25], wrong=[[1] * 12])


def test_income_is_log_normal_with_the_stated_effects(made, assert_mean):
    works = made.job >= len(p.OUTSIDE_WORK)
    median = np.array([p.INCOME_MEDIANS[job] for job in JOBS])[made.job[works]]
    bend = p.INCOME_AGE_BEND * (made.age[works] - p.INCOME_PEAK_AGE) ** 2
    residual = np.log(made.income[works] / median) - bend
    men, women = residual[made.sex[works] == 1], residual[made.sex[works] == 0]
    assert_mean(men, 0.0, wrong=[0.02, -0.02])
    assert_mean(women, p.INCOME_FEMALE_LOG, wrong=[p.INCOME_FEMALE_LOG * 0.8, 0.0])
    # Whole units and the cap touch so few incomes that the law below is met to well within ALPHA.
    assert stats.kstest(men, stats.norm(0, p.INCOME_LOG_SPREAD).cdf).pvalue > 1e-9
    for wrong in (0.9, 1.1):
        assert stats.kstest(men, stats.norm(0, p.INCOME_LOG_SPREAD * wrong).cdf).pvalue < 1e-9
    assert made.income.min() == 0
    assert made.income.max() <= p.INCOME_UPPER


def test_marriage_households_smoking_and_missing_values(made, assert_shares, assert_mean):
    adults = (made.age >= 35) & (made.age < 50)
    share = p.MARRIED_SHARES_FROM_AGE[35]
    assert_mean(made.married[adults], share, wrong=[share * 0.95, share * 1.05])
    assert not made.married[made.age < 18].any()
    married = adults & made.married
    counts = np.bincount(made.household_size[married] - 1, minlength=8)
    assert_shares(counts, HOUSEHOLD.shares[2], wrong=[HOUSEHOLD.shares[1]])
    young = (made.age >= 25) & (made.age < 45)
    for sex, share in enumerate(p.SMOKER_SHARES_FROM_AGE[25]):
        smokers = made.smoker[young & (made.sex == sex)]
        assert_mean(smokers, share, wrong=[share * 0.85, share * 1.15])
    assert_mean(~made.income_known, p.INCOME_MISSING, wrong=[0.05, 0.07])
    assert_mean(~made.education_known, p.EDUCATION_MISSING, wrong=[0.025, 0.035])


def test_heights(made, assert_mean):
    men = made.height[(made.age >= 19) & (made.age <= 45) & (made.sex == 1)]
    assert_mean(men, 177.5, wrong=[177.0, 178.0])
    assert made.height.min() >= 30
    assert made.height.max() <= 230


def unique_share(zip_code, birth_day, sex) -> float:
    key = (zip_code * 100_000 + birth_day + 50_000) * 2 + sex
    return float((np.unique(key, return_counts=True)[1] == 1).sum() / len(key))


@pytest.mark.parametrize("people", [20_000, 50_000, 250_000])
def test_zip_birth_date_and_sex_single_out_63_to_87_percent(people):
    some = make_people(3, 0, 0, people, town_size=people)
    assert 0.63 <= unique_share(some.zip_code, some.birth_day, some.sex) <= 0.87
    # The band can be missed: villages make nearly everyone unique, one ZIP for all nearly nobody.
    street = np.arange(people) // 500
    assert unique_share(street, some.birth_day, some.sex) > 0.87
    if people == 250_000:
        assert unique_share(np.zeros_like(street), some.birth_day, some.sex) < 0.63


def test_zip_codes_follow_the_regions_and_the_size():
    assert [zip_count(n) for n in (1, 20_000, 50_000, 10**8)] == [1, 2, 4, 500]
    assert all(len(z) == 5 and z.isdigit() for z in zip_values(10**8))
    large = make_people(0, 0, 0, 100_000, town_size=6_000_000)
    per_region = [len(set(large.zip_code[large.region == r])) for r in range(50)]
    assert min(per_region) >= 2
    sizes = np.bincount(make_people(0, 0, 0, 100_000, town_size=48_000).zip_code)
    assert len(sizes) == 4
    assert stats.chisquare(sizes).pvalue > 1e-9


def test_batch_has_the_documented_columns_and_missing_values(made):
    batch = people_batch(made, zip_values(250_000))
    assert batch.schema.names == [
        "person_id", "age", "birth_date", "sex", "region", "zip", "education", "job", "income",
        "married", "household_size", "smoker", "height",
    ]  # fmt: skip
    assert batch["income"].null_count == (~made.income_known).sum()
    assert batch["education"].null_count == (~made.education_known).sum()
    born = batch["birth_date"][0].as_py()
    assert born == dt.date(1970, 1, 1) + dt.timedelta(days=int(made.birth_day[0]))
    assert batch["person_id"][-1].as_py() == 250_000
