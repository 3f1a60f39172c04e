import numpy as np
import pyarrow as pa
import pytest

from discreet.lab.attacks.membership.membership import ATTACK, Scaled, membership_scores, nearness


def people(seed: int, many: int) -> pa.Table:
    dice = np.random.default_rng(seed)
    return pa.table(
        {
            "age": dice.integers(0, 100, many),
            "height": dice.normal(170, 10, many),
            "job": [f"job {i}" for i in dice.integers(0, 30, many)],
            "smoker": dice.random(many) < 0.2,
        }
    )


def test_distance_by_hand():
    one = pa.table({"age": [0, 10], "job": ["a", "b"]})
    two = pa.table({"age": [10, None], "job": ["b", None]})
    scaled = Scaled([one, two])
    nearest, density = nearness(scaled.rows(one), scaled.rows(two))
    assert nearest.tolist() == [2.0, 0.0]
    assert density[1] > density[0]
    # A missing value is near a missing one.
    assert nearness(scaled.rows(two), scaled.rows(two))[0].tolist() == [0.0, 0.0]


def test_a_copy_gives_its_people_away_and_other_people_do_not():
    members, others, panel, strangers = (people(seed, 250) for seed in range(4))
    dice = np.random.default_rng(9)
    bootstrap = members.take(pa.array(dice.integers(0, 250, 250)))
    for score in membership_scores(bootstrap, members, others, panel).values():
        assert score.low > 0.65
    # The null: rows of people who are neither members nor outsiders.
    for score in membership_scores(strangers, members, others, panel).values():
        assert score.low < 0.5 < score.high


@pytest.mark.slow
def test_the_tree_method_hides_its_people():
    outcome = ATTACK.run({"release": "synthetic", "people": 500})
    assert outcome.score.low > 0.7
    assert outcome.private is not None
    assert outcome.private.low < 0.55
