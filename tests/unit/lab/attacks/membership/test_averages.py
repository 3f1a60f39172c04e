import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.membership.averages import published_exactly, published_privately
from discreet.lab.attacks.membership.membership import ATTACK
from discreet.testing import SeededRng


def test_frequencies():
    members = np.array([[0, 2], [1, 2]], dtype=np.int8)
    assert published_exactly(members).tolist() == [0.25, 1.0]


def test_noise_is_for_all_loci_together():
    """Scale 2d / epsilon: mean |noise| on counts is that, give or take 3% at 40,000 draws."""
    loci = 40_000
    members = np.zeros((10, loci), dtype=np.int8)
    noisy = published_privately(members, epsilon=2.0, rng=SeededRng(5)) * 20
    scale = 2 * loci / 2.0
    assert np.abs(noisy).mean() == pytest.approx(scale, rel=0.03)
    # Noise for one locus only would be 40,000 times less.
    assert np.abs(noisy).mean() > 1_000


def test_exact_frequencies_give_members_away_and_noisy_ones_do_not():
    """The private interval lies above .57 once in a million runs: the AUC would be 5 spreads off."""
    outcome = ATTACK.run({"people": 300, "loci": 4_000})
    assert outcome.score.low > 0.97
    assert outcome.private is not None
    assert outcome.private.low < 0.57
    assert outcome.score.baseline == 0.5
    assert outcome.blocks
    assert outcome.to_json()["details"]["reference_panel"] == "true frequencies"


def test_a_budget_without_meaning_protects_nobody():
    outcome = ATTACK.run({"people": 100, "loci": 500, "epsilon": 1_000_000.0})
    assert outcome.private is not None
    assert abs(outcome.private.success - outcome.score.success) < 0.02


def test_a_panel_instead_of_the_truth_makes_it_harder():
    outcome = ATTACK.run({"people": 100, "loci": 500, "reference": "panel"})
    assert outcome.details["reference_panel"] == 1_000
    assert "panel of 1,000" in outcome.knew


def test_wrong_settings():
    with pytest.raises(InvalidInput, match="statistic"):
        ATTACK.run({"statistic": "magic"})


@pytest.mark.slow
def test_the_published_size():
    """n = 1,000, d = 10,000, true frequencies known: AUC at least .97; private interval below .57."""
    outcome = ATTACK.run({})
    assert outcome.score.success >= 0.97
    assert outcome.private is not None
    assert outcome.private.high < 0.57
