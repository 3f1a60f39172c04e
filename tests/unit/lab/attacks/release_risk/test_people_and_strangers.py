import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.release_risk.releases import parties_of


def _table(ages):
    return pa.table({"age": ages, "name": [str(age) for age in ages]})


def test_original_and_control_always_have_the_same_size():
    rng = np.random.default_rng(0)
    parties = parties_of(_table([1, 2, 3]), _table(range(50)), _table(range(50, 60)), rng=rng)
    assert parties.size == 10
    ages = parties.columns["age"].people
    assert len(ages) == 20
    assert (ages[:10] < 50).all()
    assert (ages[10:] >= 50).all()


def test_the_nearest_rows_are_all_that_tie():
    rng = np.random.default_rng(0)
    parties = parties_of(
        pa.table({"age": [30, 30, 90]}), pa.table({"age": [31]}), pa.table({"age": [80]}), rng=rng
    )
    found = {person: near.tolist() for person, near in parties.nearest(["age"], np.array([0, 1]))}
    assert found == {0: [True, True, False], 1: [False, False, True]}


def test_columns_must_be_in_all_three_files():
    rng = np.random.default_rng(0)
    some, other = _table([1]), pa.table({"size": [1]})
    with pytest.raises(InvalidInput, match="share no column"):
        parties_of(other, some, some, rng=rng)
    with pytest.raises(InvalidInput, match="'job' is not in all three"):
        parties_of(some, some, some, rng=rng, columns=("job",))
    with pytest.raises(InvalidInput, match="must each have rows"):
        parties_of(some, some, some.slice(1), rng=rng)


def test_files_may_store_the_same_numbers_differently():
    rng = np.random.default_rng(0)
    parties = parties_of(
        pa.table({"age": [30, 31]}), pa.table({"age": ["30"]}), pa.table({"age": [31]}), rng=rng
    )
    assert parties.columns["age"].gaps(np.array([0, 1])).tolist() == [[0, 1], [1, 0]]
