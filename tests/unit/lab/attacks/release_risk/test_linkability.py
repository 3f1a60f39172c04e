import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from release_kit import people

from discreet.errors import InvalidInput
from discreet.lab.attacks.release_risk.linkability import ATTACK, joined
from discreet.lab.attacks.release_risk.releases import difference, parties_of

FIRST, SECOND = ("age", "place", "job"), ("shoe", "income", "owner")


def _risk(released, original, control, rng):
    parties = parties_of(released, original, control, rng=rng)
    ours = np.arange(parties.size)
    right = joined(parties, FIRST, SECOND, ours)
    return difference(right, joined(parties, FIRST, SECOND, ours + parties.size), parties.size)


def test_pieces_meet_in_a_copy_and_not_in_other_peoples_rows():
    rng = np.random.default_rng(1)
    original, control, others = (people(300, rng) for _ in range(3))
    assert _risk(original, original, control, rng).low > 0.5
    null = _risk(others, original, control, rng)
    assert null.low <= 0 <= null.high


def test_columns_shuffled_apart_join_nothing():
    rng = np.random.default_rng(2)
    original, control = people(300, rng), people(300, rng)
    apart = original
    for i, name in enumerate(original.column_names):
        if name in SECOND:
            apart = apart.set_column(i, name, original[name].take(rng.permutation(300)))
    assert _risk(apart, original, control, rng).value < 0.1
    assert _risk(original, original, control, rng).value > 0.5


def test_the_town_is_linked_through_raw_rows_only():
    outcome = ATTACK.run({"people": 300, "targets": 150})
    found = outcome.details["by_release"]
    assert found["raw copy"]["found"]
    assert found["anonymized"]["found"]
    assert found["other people"]["low"] <= 0 <= found["other people"]["high"]
    assert outcome.private.success < outcome.score.low


def test_two_pieces_need_columns_of_their_own():
    with pytest.raises(InvalidInput, match="without a common column"):
        ATTACK.run({"people": 200, "first": "age,sex", "second": "sex,job"})
