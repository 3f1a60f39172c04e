"""Scaler, main directions and clusters: charged, near the truth, and noise for what a unit can do."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput, UnknownName
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.testing import SeededRng
from discreet.work.learn import PrivateKMeans, PrivatePCA, PrivateScaler
from discreet.work.learn.unsupervised import STEP, ClusterSums, first_centres
from learning import curator, people


def spent(desk):
    return desk.budget_report()["datasets"]["town"]["epsilon"]["spent"]


def numbers():
    table = people()
    return table.select(["age", "wage"])


def test_a_scaler_finds_means_and_deviations(tmp_path):
    desk = curator(tmp_path)
    found = PrivateScaler(epsilon=3, curator=desk, columns=["age", "wage"]).fit("people")
    assert 1.9 < spent(desk) <= 3
    scaled = found.transform(numbers())
    assert np.abs(scaled.mean(axis=0)).max() < 0.1
    assert np.abs(scaled.std(axis=0) - 1).max() < 0.1


def test_main_directions(tmp_path):
    desk = curator(tmp_path)
    found = PrivatePCA(epsilon=4, curator=desk, columns=["age", "wage"], n_components=1)
    found.fit("people")
    exact = np.stack([numbers()[n].to_numpy() for n in ("age", "wage")], axis=1)
    truth = np.linalg.eigh(np.cov(exact[np.isfinite(exact).all(axis=1)].T))[1][:, -1]
    assert abs(found.components_[0] @ truth) > 0.99
    assert found.explained_variance_ratio_[0] > 0.9
    back = found.inverse_transform(found.transform(numbers()))
    assert back.shape == (2000, 2)


def test_clusters(tmp_path):
    rng = np.random.default_rng(2)
    centre = rng.integers(0, 2, 2000)
    age = np.clip(20 + 60 * centre + rng.normal(0, 3, 2000), 0, 99).astype(int)
    wage = np.round(np.clip(200 + 500 * centre + rng.normal(0, 30, 2000), 0, 1000), 2)
    table = people().set_column(1, "age", pa.array(age.tolist()))
    desk = curator(tmp_path, table=table.set_column(3, "wage", pa.array(wage.tolist())))
    found = PrivateKMeans(epsilon=4, n_clusters=2, curator=desk, columns=["age", "wage"])
    found.fit("people")
    assert spent(desk) == pytest.approx(4, rel=0.05)
    order = np.argsort(found.cluster_centers_[:, 0])
    wanted = np.array([[20, 200], [80, 700]])
    assert np.abs(found.cluster_centers_[order] - wanted).max(axis=0) == pytest.approx(0, abs=30)
    guess = found.predict(np.stack([age, wage], axis=1) if False else {"age": age, "wage": wage})
    assert max((guess == centre).mean(), (guess != centre).mean()) > 0.98


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_a_units_rows_are_within_the_noise_of_a_round(neighbours):
    replaced = neighbours is Neighbours.REPLACE_ONE
    unit = CountSensitivity(2, neighbours)
    corner = np.full((2, 3), STEP, dtype=np.int64)
    law = ClusterSums(corner, MarginalBudget(Fraction(1, 2), True), unit, SeededRng(1)).law
    centres = first_centres(4, 3)
    with_them = ClusterSums(corner, MarginalBudget(Fraction(1), True), unit, SeededRng(1))
    moved = (with_them.exact(centres) ** 2).sum() * (4 if replaced else 1)
    assert moved == law.sigma_squared  # rho = 1/2: the worst corner uses all of the noise
    # The twin that forgets the counts beside the sums has too little noise.
    assert moved > unit.rows**2 * STEP**2 * 3 * (4 if replaced else 1)


def test_mistakes(tmp_path):
    desk = curator(tmp_path)
    with pytest.raises(UnknownName):
        PrivateScaler(epsilon=1, curator=desk, columns=["sex"]).fit("people")
    with pytest.raises(InvalidInput):
        PrivateKMeans(epsilon=1, curator=desk, n_clusters=0).fit("people")
    assert spent(desk) == 0
