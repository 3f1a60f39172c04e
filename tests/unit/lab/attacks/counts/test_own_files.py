"""Attacks on counts with a file of the user's own: secrets by name, and sentences for bad files."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import attack_named
from discreet.lab.attacks.counts.people import balanced_bits, bits_of_file, own_residents


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    dice = np.random.default_rng(1)
    place = tmp_path_factory.mktemp("own") / "people.csv"
    many = 400
    table = pa.table(
        {
            "years": dice.integers(0, 90, many),
            "sex": np.where(dice.random(many) < 0.5, "f", "m").tolist(),
            "married": np.where(dice.random(many) < 0.5, "yes", "no").tolist(),
            "ill": (dice.random(many) < 0.4).tolist(),
            "job": [f"job {i % 3}" for i in range(many)],
        }
    )
    pyarrow.csv.write_csv(table, place)
    return str(place)


def test_secrets_are_named(own):
    assert 0.3 < bits_of_file(own, "ill").mean() < 0.5
    assert bits_of_file(own, "JOB=job 2").sum() == 133
    for secret, said in (
        ("", "which column"),
        ("job", "3 values, not two"),
        ("job=cook", "Nobody"),
        ("wage", "no column 'wage'"),
    ):
        with pytest.raises(InvalidInput, match=said):
            bits_of_file(own, secret)
    rng = np.random.default_rng(0)
    assert balanced_bits(bits_of_file(own, "ill"), 100, rng).sum() == 50
    with pytest.raises(InvalidInput, match="of each kind"):
        balanced_bits(bits_of_file(own, "ill"), 400, rng)


def test_residents_are_a_number_and_three_flags(own):
    found = own_residents(own, ("years", "sex", "married", "ill"))
    assert found.shape == (400, 4)
    assert set(np.unique(found[:, 1:]).tolist()) == {0, 1}
    for columns, said in (
        (("years", "sex"), "four columns"),
        (("sex", "job", "married", "ill"), "must hold numbers"),
        (("years", "sex", "married", "job"), "3 values, not two"),
    ):
        with pytest.raises(InvalidInput, match=said):
            own_residents(own, columns)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("differencing", {"places": 5, "pairs": 5}),
        pytest.param("reconstruction", {"people": 64, "lp_people": 32}, marks=pytest.mark.slow),
        pytest.param("refusals", {"places": 5, "desks": 16, "largest": 8}, marks=pytest.mark.slow),
    ],
)
def test_every_attack_on_one_bit_takes_the_file(own, name, more):
    outcome = attack_named(name).run({"original": own, "secret": "ill", "epsilon": 0.1, **more})
    assert outcome.score.low > 0.5
    assert outcome.private is not None
    # Right with a chance of .525 at the most, about 64 to 80 people: above once in 10^8 runs.
    assert outcome.private.low < 0.75
    assert "town" not in outcome.knew + outcome.released + outcome.did


@pytest.mark.slow
def test_the_census_takes_the_file(own):
    given = {"original": own, "columns": "years,sex,married,ill", "blocks": 2, "places": 5}
    outcome = attack_named("census").run(given)
    assert outcome.score.success > outcome.score.baseline
