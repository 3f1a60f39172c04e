import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.homogeneity import ATTACK, ClassRelease, known_of


@pytest.fixture(scope="module")
def outcome():
    return ATTACK.run({"people": 4_000})


def test_the_class_tells_more_than_the_age(outcome):
    assert outcome.score.low > outcome.score.baseline + 0.05
    assert outcome.details["k"] >= 5
    assert outcome.private is not None
    assert outcome.private.low < outcome.score.low
    assert "not a guarantee" in outcome.lesson
    json.dumps(outcome.to_json())


def test_background_knowledge_only_adds(outcome):
    alone, more = outcome.details["from_the_class"], outcome.details["with_background_knowledge"]
    assert all(more[name] >= share for name, share in alone.items())


def test_a_class_that_agrees_and_one_that_does_not():
    release = ClassRelease.of(
        np.array([0] * 5 + [1] * 5), np.array([0] * 5 + [0, 1, 2, 3, 4]), "abcde"
    )
    plain, more = known_of(release, 0, np.random.default_rng(0))
    assert (plain.certain, plain.right) == (5, 6)
    assert more == plain


def test_a_file_of_the_users(tmp_path):
    path = tmp_path / "release.csv"
    rows = {"age": ["2*"] * 5 + ["3*"] * 5, "ill": ["flu"] * 5 + list("abcde")}
    pyarrow.csv.write_csv(pa.table(rows), path)
    outcome = ATTACK.run({"released": str(path), "columns": "age", "sensitive": "ill"})
    assert outcome.details["from_the_class"]["known for certain"] == 0.5
    assert outcome.score.baseline == 0.5
    assert outcome.private is None
    with pytest.raises(InvalidInput, match="which one is the secret"):
        ATTACK.run({"released": str(path), "columns": "age"})
    with pytest.raises(InvalidInput, match="no column 'name'"):
        ATTACK.run({"released": str(path), "columns": "name", "sensitive": "ill"})
