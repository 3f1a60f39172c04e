import numpy as np

from discreet.anonymize.risk import ClassSizes


def test_everything_follows_from_the_sizes():
    sizes = ClassSizes.of([1, 1, 1, 2, 5])
    assert (sizes.rows, sizes.count, sizes.k, sizes.uniques) == (10, 5, 1, 3)
    assert sizes.share_unique == 0.3
    assert sizes.average == 2
    assert sizes.discernibility == 3 + 4 + 25


def test_no_row_is_no_risk():
    empty = ClassSizes.of([])
    assert (empty.rows, empty.k, empty.uniques, empty.share_unique, empty.average) == (0,) * 5


def test_squares_do_not_overflow():
    huge = ClassSizes(np.array([10**10]), np.array([2]))
    assert huge.discernibility == 2 * 10**20
