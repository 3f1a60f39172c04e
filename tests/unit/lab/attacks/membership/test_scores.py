import numpy as np
import pytest

from discreet.lab.attacks.membership.scores import (
    STATISTICS,
    auc_score,
    homer,
    inner_product,
    likelihood_ratio,
)


@pytest.fixture(scope="module")
def study():
    dice = np.random.default_rng(0)
    frequencies = dice.uniform(0.05, 0.5, 2_000)
    rows = (dice.random((2, 300, 2_000)) < frequencies).sum(axis=0).astype(np.int8)
    return rows[:100], rows[100:], frequencies


def test_statistics_by_hand():
    rows = np.array([[0, 2], [2, 1]], dtype=np.int8)
    published, reference = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    assert homer(rows, published, reference) == pytest.approx([0.5, -0.25 - 0.25])
    assert inner_product(rows, published, reference) == pytest.approx(
        [-0.5 * -0.25 + 0.5 * 0.25, 0.5 * -0.25]
    )
    ratio = 2 * np.log(0.75 / 0.5) + 2 * np.log(0.75 / 0.5)
    assert likelihood_ratio(rows, published, reference)[0] == pytest.approx(ratio)


@pytest.mark.parametrize("name", STATISTICS)
def test_members_stand_out_and_only_of_their_own_study(study, name):
    members, others, reference = study
    statistic = STATISTICS[name]
    published = members.mean(axis=0) / 2

    def auc(frequencies):
        return auc_score(
            statistic(members, frequencies, reference), statistic(others, frequencies, reference)
        )

    assert auc(published).low > 0.95
    # A study without them: the control has nothing to find.
    elsewhere = others[:100].mean(axis=0) / 2
    rest = others[100:]
    score = auc_score(
        statistic(members, elsewhere, reference), statistic(rest, elsewhere, reference)
    )
    assert score.low < 0.5 < score.high + 0.05


def test_noise_outside_the_unit_interval_is_no_error(study):
    members, _, reference = study
    wild = np.linspace(-50, 50, len(reference))
    for statistic in STATISTICS.values():
        assert np.isfinite(statistic(members, wild, reference)).all()
