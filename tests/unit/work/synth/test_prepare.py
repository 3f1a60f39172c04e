import numpy as np
import pytest

from discreet.measure.budget import noise_of
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.work.synth.prepare import WRONG, round_up


@pytest.mark.parametrize(("rows", "said"), [(0, 0), (3.2, 4), (10.5, 11), (101, 110), (4801, 4900)])
def test_two_figures_and_never_fewer(rows, said):
    assert round_up(rows) == said


def test_a_tenth_stands_in_the_wrong_cell_at_so_many_rows():
    """The formula against noise that is drawn: cells, noise of a share, half of the absolute sum."""
    cells, share = 50, MarginalBudget(0.001, concentrated=True)
    deviation = noise_of(share, CountSensitivity())
    rows = cells * deviation * np.sqrt(2 / np.pi) / 2 / WRONG
    drawn = np.random.default_rng(3).normal(0, deviation, size=(2000, cells))
    wrong = np.abs(drawn).sum(axis=1) / 2 / rows
    assert wrong.mean() == pytest.approx(WRONG, rel=0.02)
    assert (np.abs(drawn).sum(axis=1) / 2 / (rows / 2)).mean() > 1.9 * WRONG
