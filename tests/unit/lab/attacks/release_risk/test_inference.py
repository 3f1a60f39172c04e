import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from release_kit import people

from discreet.errors import InvalidInput, UnknownName
from discreet.lab.attacks.release_risk.inference import ATTACK, guessed
from discreet.lab.attacks.release_risk.releases import difference, parties_of

KNOWN = ("age", "place", "shoe", "income")


def _risk(released, original, control, rng, secret="job"):
    parties = parties_of(released, original, control, rng=rng)
    ours = np.arange(parties.size)
    right = guessed(parties, KNOWN, secret, ours)
    return difference(right, guessed(parties, KNOWN, secret, ours + parties.size), parties.size)


def test_what_works_on_strangers_is_no_leak():
    rng = np.random.default_rng(1)
    original, control, others = (people(400, rng) for _ in range(3))
    leaky, null = _risk(original, original, control, rng), _risk(others, original, control, rng)
    assert leaky.low > 0.2
    assert null.right_on_strangers > 40, "the population itself says something about jobs"
    assert null.low <= 0 <= null.high


def test_secrets_may_be_numbers():
    rng = np.random.default_rng(2)
    original, control = people(300, rng), people(300, rng)
    parties = parties_of(original, original, control, rng=rng)
    known = ("age", "place", "job", "shoe")
    ours = np.arange(300)
    right = guessed(parties, known, "income", ours)
    assert difference(right, guessed(parties, known, "income", ours + 300), 300).found


def test_the_towns_jobs_leak_from_raw_rows_only():
    outcome = ATTACK.run({"people": 300, "targets": 150})
    found = outcome.details["by_release"]
    assert found["raw copy"]["found"]
    assert found["anonymized"]["found"]
    assert found["other people"]["low"] <= 0 <= found["other people"]["high"]
    assert outcome.private.success < outcome.score.low


def test_a_secret_must_not_be_known_and_must_exist():
    with pytest.raises(InvalidInput, match="not one of them"):
        ATTACK.run({"known": "age,job", "secret": "job"})
    rng = np.random.default_rng(0)
    some = people(5, rng)
    with pytest.raises(UnknownName, match="'hat'"):
        guessed(parties_of(some, some, some, rng=rng), KNOWN, "hat", np.arange(2))
