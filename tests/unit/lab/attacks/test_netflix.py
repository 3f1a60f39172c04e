import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.netflix import ATTACK, from_file
from discreet.lab.town import parameters as p
from patience import slowness

SMALL = {"people": 200, "targets": 40, "false_claims": 0.05}


@pytest.fixture(scope="module")
def outcome():
    return ATTACK.run(SMALL)


def test_the_story(outcome):
    assert outcome.score.low > 0.8
    assert outcome.score.baseline < 0.01
    assert outcome.private is not None
    # One question at epsilon 1: at most e / (1 + e) = .731 by the definition, whatever is known.
    assert outcome.private.low < 0.731
    details = outcome.to_json()["details"]
    assert 0 <= details["false_claims_when_absent"]["share"] <= 0.3
    assert set(details["published_settings"]) >= {"2 ratings, 3 days"}
    assert str(p.FILMS // 1000) in details["generator"]
    assert "evidence about Netflix" in details["generator"]
    json.dumps(outcome.to_json())


def test_wrong_settings():
    with pytest.raises(InvalidInput, match="must be right"):
        ATTACK.run({**SMALL, "known": 2, "wrong": 2})
    with pytest.raises(InvalidInput, match="obscure"):
        ATTACK.run({**SMALL, "known": 2, "wrong": 0, "obscure": 3})


def ratings_file(path, **changes):
    dice = np.random.default_rng(0)
    rows = {
        "who": [f"user {i}" for i in np.repeat(np.arange(60), 20)],
        "what": [f"film {i}" for _ in range(60) for i in dice.permutation(200)[:20]],
        "stars": dice.integers(1, 6, 1_200),
        "day": np.datetime64("2020-01-01") + dice.integers(0, 1_000, 1_200),
    }
    pq.write_table(pa.table({**rows, **changes}), path)
    return str(path)


def test_a_file_of_ratings(tmp_path):
    path = ratings_file(tmp_path / "r.parquet")
    outcome = ATTACK.run(
        {**SMALL, "released": path, "columns": "who,what,stars,day", "known": 6, "wrong": 0}
    )
    assert outcome.score.success > 0.8
    assert "generator" not in outcome.details
    assert "54 people" in outcome.released


def test_files_that_are_no_ratings(tmp_path):
    path = ratings_file(tmp_path / "r.parquet")
    names = ("who", "what", "stars", "day")
    with pytest.raises(InvalidInput, match="four columns"):
        from_file(path, names[:3])
    with pytest.raises(InvalidInput, match="no column 'seat'"):
        from_file(path, (*names[:3], "seat"))
    for changes, words in (
        ({"stars": np.full(1_200, 7)}, "from 1 to 5"),
        ({"day": ["yesterday"] * 1_200}, "a day a date"),
        ({"stars": ["SECRET"] * 1_200}, "must be a number"),
    ):
        wrong = ratings_file(tmp_path / "w.parquet", **changes)
        with pytest.raises(InvalidInput, match=words) as caught:
            from_file(wrong, names)
        assert "SECRET" not in str(caught.value)


@pytest.mark.slow
def test_the_published_settings_on_a_million_ratings():
    """At least 99% with 8 ratings, 2 wrong, 14 days; 68% with 2 ratings, 3 days; under 10 ms each."""
    outcome = ATTACK.run({})
    details = outcome.details
    assert details["people"] >= 5_000
    assert details["ratings"] >= 1_000_000
    assert details["milliseconds_a_target"] < 10 * slowness()
    assert outcome.score.success >= 0.99
    found = {
        name: pair["likelihood ratio, calibrated"]
        for name, pair in details["published_settings"].items()
    }
    two = found["2 ratings, 3 days"]
    assert two["right"] >= 0.68 * two["present"]
    for each in found.values():
        assert each["false"] <= 0.03 * each["absent"]
