import math

import numpy as np
import pytest
from scipy.stats import binomtest

from discreet.errors import InvalidInput
from discreet.privacy.noise.error_bars import selection_loss
from discreet.privacy.noise.select import exponential_rows
from discreet.testing.rng import SeededRng

ALPHA = 1e-9


def test_selection_loss_of_the_documents():
    assert math.isclose(selection_loss(10_000, 1, 1, "0.05"), 2 * math.log(200_000))


def test_selection_loss_holds():
    # One best candidate and 999 others just at the bound: they win with probability at most beta.
    bound = selection_loss(1000, 1, 1, "0.05")
    utilities = np.zeros((4000, 1000), dtype=np.int64)
    utilities[:, 0] = math.ceil(bound)
    lost = int((exponential_rows(utilities, 1, 1, rng=SeededRng(1)) != 0).sum())
    assert binomtest(lost, 4000, 0.05, alternative="greater").pvalue > ALPHA
    assert lost > 100, "the bound is far from tight: the test could not have caught a bug"


def test_nonsense_is_refused():
    for count, beta in ((10, 0), (10, 1), (10, "1.5"), (10, -1), (0, "0.05")):
        with pytest.raises(InvalidInput):
            selection_loss(count, 1, 1, beta)


def test_selection_loss_grows_with_sensitivity_over_epsilon():
    for count, sensitivity, epsilon in ((1, 1, 1), (2, 3, 1), (7, 1, "0.5")):
        factor = 2 * sensitivity / float(epsilon)
        loss = selection_loss(count, sensitivity, epsilon, "0.1")
        assert math.isclose(loss, factor * math.log(count / 0.1))
