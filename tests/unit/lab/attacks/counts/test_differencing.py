import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.counts.differencing import ATTACK
from discreet.privacy.noise.error_bars import lower_limit

ALPHA = 1e-9


@pytest.fixture(scope="module")
def outcome():
    return ATTACK.run({"people": 4_000, "epsilon": 1.0})


def test_exact_answers_give_everybody_away(outcome):
    assert outcome.score.success == 1.0
    assert outcome.score.baseline == 0.5


def test_rounding_and_suppression_delay_but_do_not_help(outcome):
    found = outcome.details["by_answer"]
    assert found["rounded to 5, one pair"]["success"] < 0.75
    assert found["rounded to 5, 40 pairs"]["success"] > 0.99
    assert found["below 5 suppressed"]["success"] == 0.5
    assert found["suppressed, tracker"]["success"] == 1.0


def test_the_curators_answer_keeps_to_the_ceiling(outcome):
    targets = outcome.details["targets"]
    for name in ("private, both noisy", "private, rest known"):
        right = round(outcome.details["by_answer"][name]["success"] * targets)
        assert lower_limit(right, targets, ALPHA) <= outcome.details["ceiling"]
    # With the same curator asked at epsilon 8 the attack works: the test could have failed.
    again = ATTACK.run({"people": 2_000, "epsilon": 8.0})
    assert again.private.success > 0.95


def test_the_outcome_has_a_picture_and_says_its_settings(outcome):
    assert outcome.to_json()["settings"]["places"] == 20
    assert np.isfinite([row[1] for row in outcome.blocks[1].rows]).all()


def test_a_setting_that_is_not_there_is_refused():
    with pytest.raises(InvalidInput, match="no setting"):
        ATTACK.run({"nose": 1})
