import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.homogeneity import ClassRelease
from discreet.lab.attacks.intersection import ATTACK, believed, places, two_hospitals


@pytest.fixture(scope="module")
def outcome():
    return ATTACK.run({"people": 4_000, "overlap": 0.3})


def test_two_releases_tell_more_than_one(outcome):
    one, both = outcome.details["one_release"], outcome.details["both_releases"]
    assert both["guessed right"] > one["guessed right"] + 0.1
    assert both["known for certain"] > one["known for certain"]
    assert min(outcome.details["k"]) >= 5
    assert outcome.score.low > outcome.score.baseline + 0.2
    assert outcome.private is not None
    assert outcome.private.low < outcome.score.baseline + 0.1
    json.dumps(outcome.to_json())


def test_the_example_of_the_lecture():
    """Two classes, each with three illnesses, have one in common."""
    first = ClassRelease.of(np.array([0, 0, 0]), np.array([0, 1, 2]), "abcde")
    second = ClassRelease.of(np.array([0, 0, 0]), np.array([0, 3, 4]), "abcde")
    alone, together = believed((first, second), np.array([0]), np.array([0]))
    assert alone[0].max() == pytest.approx(1 / 3)
    assert together[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_releases_that_contradict_each_other_leave_the_first():
    first = ClassRelease.of(np.array([0, 0]), np.array([0, 1]), "abc")
    second = ClassRelease.of(np.array([0]), np.array([2]), "abc")
    alone, together = believed((first, second), np.array([0]), np.array([0]))
    assert (alone == together).all()


def test_who_goes_where():
    here, there = two_hospitals(100, 0.2, np.random.default_rng(0))
    both = np.intersect1d(here, there)
    assert len(both) == 20
    assert len(np.union1d(here, there)) == 100
    assert abs(len(here) - len(there)) <= 1
    assert (here[places(here, both)] == both).all()


def test_two_files(tmp_path):
    rows = {"age": ["2*"] * 3, "ill": ["x", "y", "z"], "who": [1, 2, 3]}
    other = {"age": ["20-29"] * 3, "ill": ["x", "v", "w"], "who": [1, 8, 9]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    pq.write_table(pa.table(other), tmp_path / "b.parquet")
    given = {
        "released": str(tmp_path / "a.parquet"),
        "auxiliary": str(tmp_path / "b.parquet"),
        "columns": "age",
        "sensitive": "ill",
        "key": "who",
    }
    outcome = ATTACK.run(given)
    assert outcome.details["both_releases"]["known for certain"] == 1.0
    assert outcome.details["one_release"]["known for certain"] == 0.0
    with pytest.raises(InvalidInput, match="sensitive"):
        ATTACK.run({**given, "sensitive": ""})
    pq.write_table(pa.table({**other, "who": [7, 8, 9]}), tmp_path / "b.parquet")
    with pytest.raises(InvalidInput, match="nobody is in both"):
        ATTACK.run(given)
