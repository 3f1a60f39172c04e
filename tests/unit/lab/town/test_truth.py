from __future__ import annotations

import numpy as np
import pytest

from discreet.lab.town.people import JOBS, make_people
from discreet.lab.town.town_files import population_truth


def test_marginals_of_the_rows_match_the_stated_truth(made, assert_mean, assert_shares):
    truth = population_truth(250_000)
    assert_mean(made.sex == 0, truth["female_share"], wrong=[0.49, 0.52])
    assert_mean(made.smoker, truth["smoker_share"], wrong=[truth["smoker_share"] * 0.95])
    assert_mean(made.married, truth["married_share"], wrong=[truth["married_share"] * 0.98])
    counts = np.bincount(made.job, minlength=len(JOBS))
    shares = list(truth["job_shares"].values())
    assert_shares(counts, shares, wrong=[[*shares[1:], shares[0]]])


def test_mean_visits(made, visits, assert_mean):
    mean = population_truth(250_000)["mean_visits"]
    given = np.bincount(visits["person_id"] - 1, minlength=len(made.age))
    assert_mean(given, mean, wrong=[mean * 0.95, mean * 1.05])


def test_expected_uniqueness_is_what_the_rows_show():
    people = 100_000
    some = make_people(11, 0, 0, people, town_size=people)
    key = (some.zip_code * 100_000 + some.birth_day + 50_000) * 2 + some.sex
    unique = (np.unique(key, return_counts=True)[1] == 1).sum() / people
    wanted = population_truth(people)["unique_share"]
    # The variance of this share is below that of independent people: 6.2 such deviations are 1e-9.
    reach = 6.2 * np.sqrt(wanted * (1 - wanted) / people)
    assert abs(unique - wanted) < reach
    assert abs(unique - wanted * 0.97) > reach


@pytest.mark.parametrize("people", [9_000, 17_999, 18_001, 50_000, 10**6, 6 * 10**6, 14 * 10**6])
def test_uniqueness_stays_between_the_published_estimates(people):
    assert 0.63 <= population_truth(people)["unique_share"] <= 0.87


def test_uniqueness_leaves_the_band_where_the_document_says_so():
    assert population_truth(7_500)["unique_share"] > 0.87
    assert population_truth(16 * 10**6)["unique_share"] < 0.63


def test_truth_cannot_be_changed_and_covers_the_claims():
    truth = population_truth(20_000)
    assert truth["smoking_relative_risks"]["J44 Chronic lung disease"] == 3.0
    assert abs(sum(truth["region_shares"].values()) - 1) < 1e-12
    assert 0.63 <= truth["unique_share"] <= 0.87
    with pytest.raises(TypeError):
        truth["female_share"] = 0  # type: ignore[index] # the point of the test
