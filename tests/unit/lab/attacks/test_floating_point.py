"""Floating point: what naive noise can reach gives presence away, exact noise in whole steps does not."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.floating_point import ATTACK, reachable


def test_what_was_made_is_reachable_and_little_else_is():
    rng = np.random.default_rng(0)
    coin = rng.random(4_000) - 0.5
    made = -np.sign(coin) * np.log(1 - 2 * np.abs(coin))
    assert reachable(made, 0.0, 1.0).mean() > 0.99
    assert reachable(made, 1.0, 1.0).mean() < 0.5


def test_the_textbook_is_read_and_exact_noise_is_not(tmp_path):
    """4,000 answers: a share of .9 is read, where epsilon 0.1 allows .525; its spread is .008."""
    outcome = ATTACK.run({"answers": 4_000, "epsilon": 0.1})
    assert outcome.score.low > 0.8
    assert outcome.private is not None
    assert outcome.private.success < 1 / (1 + math.exp(-0.1)) + 6 * 0.008
    place = tmp_path / "own.csv"
    pyarrow.csv.write_csv(pa.table({"wage": [2.5, 1.25, 0.5], "job": ["a", "b", "c"]}), place)
    own = ATTACK.run({"answers": 2_000, "original": str(place), "column": "wage", "epsilon": 0.1})
    assert own.score.low > 0.55
    for given, said in (({}, "which column"), ({"column": "job"}, "must hold numbers")):
        with pytest.raises(InvalidInput, match=said):
            ATTACK.run({"original": str(place), **given})
