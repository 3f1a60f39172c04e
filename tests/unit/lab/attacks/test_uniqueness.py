"""The attack from a file to its score: a raw sample gives people away, a private copy does not."""

import random

import pyarrow as pa
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import attack_named
from discreet.lab.attacks.uniqueness import coded
from discreet.privacy.noise.error_bars import lower_limit

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    dice = random.Random(4)
    path = tmp_path_factory.mktemp("own") / "people.csv"
    lines = [
        f"{dice.randint(0, 90)},{dice.choice('NSEW')},{dice.choice('FM')},{dice.randint(1, 30)}"
        for _ in range(6_000)
    ]
    path.write_text("\n".join(["age,region,sex,job", *lines]) + "\n")
    return str(path)


def test_on_a_file_of_your_own(file):
    found = attack_named("uniqueness").run(
        {"original": file, "share": 0.1, "sure": 0.7, "population": 60_000}
    )
    assert found.score.success > 0.6
    assert found.score.baseline < 0.1
    details = found.details
    assert details["estimates"]["copula (Rocher)"] == pytest.approx(
        details["unique_in_population"], abs=0.1
    )
    # Ten times as many people: fewer are unique by every model but the one that ignores them.
    assert details["beyond_the_file"]["copula (Rocher)"] < details["unique_in_population"]
    trials = details["claims"][1]
    right = round(found.private.success * trials)
    assert lower_limit(right, trials, 1e-6) <= found.private.baseline


def test_codes_follow_the_order_of_the_values():
    assert coded(pa.chunked_array([["10", "9", None, "9"]])).tolist() == [1, 0, 2, 0]
    assert coded(pa.chunked_array([["b", "a"]])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"share": 0.005}, "too small"),
        ({"columns": "age,shoe"}, "no column 'shoe'"),
    ],
)
def test_what_makes_no_sense_is_said(file, more, said):
    with pytest.raises(InvalidInput, match=said):
        attack_named("uniqueness").run({"original": file, **more})
