import numpy as np
import pytest

from discreet.lab.attacks.attacks import AttackSettings
from discreet.lab.attacks.counts.reconstruction import (
    ATTACK,
    SUBSET_SUMS,
    against_curator,
    answered,
    balanced,
    half_have_it,
    noise_sweep,
    subset_queries,
    sums,
)
from discreet.lab.attacks.curator import people_table, subsets_table
from discreet.privacy.noise.error_bars import lower_limit
from discreet.show.document import to_svg

ALPHA = 1e-9


@pytest.fixture(scope="module")
def outcome():
    return ATTACK.run({"people": 256, "lp_people": 32})


def test_enough_answers_give_back_the_town(outcome):
    assert outcome.score.success >= 0.98
    assert outcome.score.baseline == 0.5
    first = outcome.details["sweep"][0]
    assert first["least_squares"]["success"] == first["linear_programme"]["success"] == 1.0


def test_the_sweep_falls_and_its_picture_marks_both_thresholds(outcome):
    found = [level["least_squares"]["success"] for level in outcome.details["sweep"]]
    assert found[-1] < found[0] - 0.25
    drawn = to_svg(outcome.blocks[0].spec)
    assert "n/401" in drawn
    assert "√n" in drawn


def test_a_picture_without_noise_leaves_out_the_point_that_has_no_logarithm(outcome):
    score = outcome.score
    spec = noise_sweep(256, {0.0: (score, score), 4.0: (score, score)}, score)
    assert all(point["x"] > 0 for point in spec["data"]["values"])


def test_the_curator_at_epsilon_1_keeps_512_bits():
    rng = np.random.default_rng(4)
    secret = balanced(512, rng)
    queries = subset_queries(512, 2048, rng)
    against = against_curator(queries, secret, epsilon=1.0)
    # Near a half with a standard deviation of 0.022: above 0.64 once in a billion.
    assert against.subsets.success <= 0.64
    right = round(against.one_by_one.success * 512)
    assert lower_limit(right, 512, ALPHA) <= np.e / (1 + np.e)
    assert against.one_by_one.success > against.subsets.success


def test_the_same_way_with_almost_no_noise_gives_everything_back():
    rng = np.random.default_rng(5)
    secret = balanced(64, rng)
    queries = subset_queries(64, 256, rng)
    assert against_curator(queries, secret, epsilon=1_000.0).subsets.success == 1.0


def test_private_sums_come_in_the_order_of_the_queries():
    rng = np.random.default_rng(6)
    secret = balanced(32, rng)
    queries = subset_queries(32, 40, rng)
    tables = {
        "people": people_table(secret, "person"),
        "subsets": subsets_table(queries, "person"),
    }
    values, answer = answered(tables, SUBSET_SUMS, "1000")
    assert values.tolist() == sums(queries, secret).tolist()
    assert "discrete Laplace" in "; ".join(answer.provenance.mechanisms)


def test_half_of_the_town_is_married():
    bits = half_have_it(AttackSettings.of(ATTACK.knobs, {}), 100, np.random.default_rng(0))
    assert bits.sum() == 50
