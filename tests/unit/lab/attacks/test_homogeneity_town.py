from types import SimpleNamespace

import numpy as np
import pytest

from discreet.lab.attacks.hospital import (
    QUASI,
    SENSITIVE,
    noisy_table,
    patients_of,
    private_beliefs,
)
from discreet.lab.town.people import DIAGNOSES, SEXES


@pytest.fixture(scope="module")
def patients():
    return patients_of(1_500, seed=3)


def test_one_condition_each(patients):
    assert set(QUASI) < set(patients.table.column_names)
    told = [DIAGNOSES.index(cell) for cell in patients.table[SENSITIVE].to_pylist()]
    assert told == patients.truth.tolist()
    few = patients.some(np.array([4, 2]))
    assert few.truth.tolist() == [told[4], told[2]]
    assert few.table.num_rows == len(few.prior) == 2


def test_the_table_of_an_answer():
    def ask(sql, epsilon):
        assert epsilon == 0.5
        return SimpleNamespace(rows=[(2, SEXES[1], DIAGNOSES[3], 7)])

    table = noisy_table(ask, 0.5)
    assert table[2, 1, 3] == 7
    assert table.sum() == 7


def test_a_large_budget_gives_the_shares_of_each_age_and_sex(patients):
    beliefs = private_beliefs(patients, patients, epsilon=500.0)
    assert beliefs.sum(axis=1) == pytest.approx(np.ones(len(beliefs)))
    age = patients.table["age"].to_numpy() // 20
    sex = np.array([SEXES.index(cell) for cell in patients.table["sex"].to_pylist()])
    mine = (age == age[0]) & (sex == sex[0])
    counts = np.bincount(patients.truth[mine], minlength=len(DIAGNOSES))
    expected = np.maximum(counts, 0.5) + 10 * patients.prior[0]
    assert beliefs[0] == pytest.approx(expected / expected.sum(), abs=1e-9)
