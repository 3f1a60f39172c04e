from __future__ import annotations

import datetime as dt

import numpy as np
from scipy import stats

from discreet.lab.town import parameters as p
from discreet.lab.town.columns import bands
from discreet.lab.town.people import DIAGNOSES, diagnosis_shares


def _per_person(made, visits):
    return np.bincount(visits["person_id"] - 1, minlength=len(made.age))


def test_about_three_visits_a_person_with_a_heavy_tail(made, visits, assert_mean):
    given = _per_person(made, visits)
    band = bands(p.VISIT_MEANS_FROM_AGE)[made.age]
    for b, mean in enumerate(p.VISIT_MEANS_FROM_AGE.values()):
        assert_mean(given[band == b], mean, wrong=[mean * 0.9, mean * 1.1])
    assert 2.7 < given.mean() < 3.3
    old = given[band == 4]
    mean = p.VISIT_MEANS_FROM_AGE[65]
    law = stats.nbinom(p.VISIT_SHAPE, p.VISIT_SHAPE / (p.VISIT_SHAPE + mean))
    observed = np.bincount(np.minimum(old, 40), minlength=41)
    expected = np.append(law.pmf(np.arange(40)), law.sf(39)) * len(old)
    assert stats.chisquare(observed, expected).pvalue > 1e-9
    light = stats.poisson(mean)
    assert (old > 20).mean() > 10 * light.sf(20)


def test_diagnoses_by_age_sex_and_smoking(made, visits, assert_shares):
    who = visits["person_id"] - 1
    band = bands(p.VISIT_MEANS_FROM_AGE)[made.age][who]
    table = diagnosis_shares()
    for b in (2, 3, 4):
        for sex in (0, 1):
            for smoker in (0, 1):
                some = (band == b) & (made.sex[who] == sex) & (made.smoker[who] == smoker)
                counts = np.bincount(visits["diagnosis"][some], minlength=len(DIAGNOSES))
                swapped = table[b, sex, 1 - smoker] if b > 2 else table[b, 1 - sex, smoker]
                assert_shares(counts, table[b, sex, smoker], wrong=[swapped])


def test_smoking_multiplies_chronic_lung_disease_by_exactly_three():
    table, lung = diagnosis_shares(), DIAGNOSES.index("J44 Chronic lung disease")
    ratio = table[2:, :, 1, lung] / table[2:, :, 0, lung]
    assert np.allclose(ratio, 3.0, rtol=1e-12)
    assert np.allclose(table.sum(axis=-1), 1.0)
    assert (table >= 0).all()


def test_relative_risk_is_found_again_in_the_rows(made, visits):
    who = visits["person_id"] - 1
    lung = visits["diagnosis"] == DIAGNOSES.index("J44 Chronic lung disease")
    stratum = (bands(p.VISIT_MEANS_FROM_AGE)[made.age][who] == 4) & (made.sex[who] == 1)
    rows = [(int(lung[some].sum()), int(some.sum())) for some in
            (stratum & made.smoker[who], stratum & ~made.smoker[who])]  # fmt: skip
    (a, n), (b, m) = rows
    log_ratio = np.log(a / n / (b / m))
    error = np.sqrt(1 / a - 1 / n + 1 / b - 1 / m)
    reach = stats.norm.isf(1e-9 / 2)
    assert abs(log_ratio - np.log(3.0)) < reach * error
    for wrong in (1.0, 2.0, 4.5):
        assert abs(log_ratio - np.log(wrong)) > reach * error


def test_nobody_is_treated_before_birth_or_outside_the_period(made, visits):
    day = visits["date"].astype("datetime64[D]").astype(int)
    assert (day >= made.birth_day[visits["person_id"] - 1]).all()
    epoch = dt.date(1970, 1, 1)
    assert day.min() == (p.VISIT_FIRST_DAY - epoch).days
    assert day.max() == (p.VISIT_LAST_DAY - epoch).days


def test_weekends_are_quieter(made, visits, assert_shares):
    grown = made.age[visits["person_id"] - 1] >= 18
    day = visits["date"][grown].astype("datetime64[D]")
    first, last = np.datetime64(p.VISIT_FIRST_DAY), np.datetime64(p.VISIT_LAST_DAY)
    calendar = np.bincount((np.arange(first, last + 1).astype(int) + 3) % 7)
    weights = np.where(np.arange(7) >= 5, p.VISIT_WEEKEND_WEIGHT, 1.0) * calendar
    assert_shares(np.bincount((day.astype(int) + 3) % 7), weights, wrong=[calendar])


def test_stays_wards_and_costs(made, visits, assert_mean):
    for name in ("J18 Pneumonia", "S72 Broken hip"):
        stay = visits["days"][visits["diagnosis"] == DIAGNOSES.index(name)]
        mean = p.DIAGNOSES[name][4]
        capped = mean * (1 - (mean / (1 + mean)) ** p.DAYS_MOST)
        assert_mean(stay, capped, wrong=[mean * 0.9, mean * 1.1])
    child = made.age[visits["person_id"] - 1] < 18
    paediatric = visits["ward"] == p.WARDS.index("Paediatrics")
    assert paediatric[child].any()
    assert not paediatric[~child].any()
    cost = visits["cost"]
    assert cost.min() > 0
    assert cost.max() <= p.COST_UPPER
    assert np.array_equal(np.rint(cost * 100) / 100, cost)


def test_impossible_diagnoses_do_not_occur(made, visits):
    birth = visits["diagnosis"] == DIAGNOSES.index("O80 Childbirth")
    prostate = visits["diagnosis"] == DIAGNOSES.index("C61 Prostate cancer")
    who = visits["person_id"] - 1
    assert birth.any()
    assert prostate.any()
    assert (made.sex[who[birth]] == 0).all()
    assert (made.sex[who[prostate]] == 1).all()
