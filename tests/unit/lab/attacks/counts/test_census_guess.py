import numpy as np
import pytest

from discreet.lab.attacks.counts.census import expected_residents, likeliest_block, weighed
from discreet.lab.attacks.counts.people import PUBLISHED, RESIDENTS, tabulated

TOWN = np.array([[30, 1, 1, 0]] * 6 + [[70, 0, 0, 1]] * 3 + [[5, 0, 0, 0]])


def test_a_block_is_expected_to_look_like_the_town():
    expected = expected_residents(TOWN, 5)
    assert expected.sum() == pytest.approx(5)
    assert expected[tabulated(TOWN[:1]) > 0][0] == pytest.approx(3, rel=0.1)


def test_the_likeliest_block_takes_the_best_guesses_first():
    block = likeliest_block(expected_residents(TOWN, 3), 3)
    # Chances of at least one, two: .83 and .54 for the first kind, .59 for the second.
    assert np.repeat(RESIDENTS, block, axis=0).tolist() == [[30, 1, 1, 0]] * 2 + [[70, 0, 0, 1]]


def test_a_table_without_noise_fixes_its_cells_and_one_of_noise_alone_nothing():
    expected = expected_residents(TOWN, 5)
    truth = tabulated(TOWN[-5:])
    for table in PUBLISHED:
        exact = table.matrix() @ truth
        sure = weighed(expected, table, exact, epsilon=50.0)
        assert table.matrix() @ sure == pytest.approx(exact, abs=1e-6)
        unsure = weighed(expected, table, exact, epsilon=1e-9)
        # But for the few chances of more residents than the block has.
        assert unsure == pytest.approx(expected, rel=0.15)
