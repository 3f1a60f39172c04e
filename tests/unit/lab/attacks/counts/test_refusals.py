import numpy as np

from discreet.lab.attacks.counts.differencing import ceiling
from discreet.lab.attacks.counts.people import Blocks
from discreet.lab.attacks.counts.refusals import ATTACK, against_curator
from discreet.privacy.noise.error_bars import lower_limit

ALPHA = 1e-9


def test_refusals_tell_more_than_answers():
    outcome = ATTACK.run({"places": 8, "desks": 12, "largest": 12})
    assert outcome.details["determined_by_answers"] == 0
    assert outcome.details["certain"] > 0.3
    assert outcome.score.success > outcome.details["ignoring_refusals"]
    assert outcome.score.low > 0.5
    right = round(outcome.private.success * 96)
    assert lower_limit(right, 96, ALPHA) <= ceiling(1.0)
    assert list(outcome.details["audit_steps"]) == [8, 10, 12]


def test_the_attack_on_the_curator_works_where_noise_is_tiny():
    blocks = Blocks(np.random.default_rng(0).random((6, 6)) < 0.5)
    assert against_curator(blocks, epsilon=1_000.0) == 36
