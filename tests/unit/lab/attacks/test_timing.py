"""The clock: work that depends on a row is read off, work that does not is not."""

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks import timing
from discreet.lab.attacks.attacks import attack_named
from discreet.lab.attacks.timing import Timed, halved, taught
from discreet.privacy.noise.error_bars import lower_limit


def test_the_limit_is_learnt_either_way_round():
    truth = np.array([True, False, True, False])
    assert taught(np.array([3.0, 1.0, 4.0, 2.0]), truth) == (2.0, True)
    assert taught(np.array([1.0, 3.0, 2.0, 4.0]), truth) == (2.0, False)


def test_a_leak_is_found_and_a_constant_clock_gives_nothing():
    dice = np.random.default_rng(0)
    bits = dice.random(400) < 0.3
    places = halved(bits, dice)
    truth = bits[places]
    half = len(truth) // 2
    assert truth[:half].mean() == truth[half:].mean() == 0.5
    assert Timed(np.where(truth, 0.02, 0.001), truth).score().success == 1.0
    assert Timed(np.full(len(truth), 0.01), truth).score().success == 0.5


OURS = (timing.ANSWER, timing.REFUSAL, timing.ERROR)
ALPHA = 1e-9 / len(OURS)
"""How often each limit below accuses a curator without a leak: its guesses are fair coins."""


def test_our_curator_stays_at_the_baseline():
    found = attack_named("timing").run({"targets": 64, "times": 1, "work": 1})
    kinds = found.details["by_kind"]
    assert set(kinds) == {timing.NAIVE, *OURS}
    for kind in OURS:
        assert lower_limit(round(kinds[kind]["success"] * 32), 32, ALPHA) <= 0.5
    assert lower_limit(32, 32, ALPHA) > 0.5, "a clock that tells would be caught"


@pytest.mark.slow
def test_a_naive_desk_is_read_off_by_the_clock():
    found = attack_named("timing").run({"targets": 200, "work": 5_000_000, "times": 3})
    assert found.score.low > 0.5
    for kind in OURS:
        right = round(found.details["by_kind"][kind]["success"] * 100)
        assert lower_limit(right, 100, ALPHA) <= 0.5


def test_a_server_needs_two_questions():
    with pytest.raises(InvalidInput, match="--other"):
        attack_named("timing").run({"server": "http://127.0.0.1:1", "ask": "SELECT 1"})
