"""DP-SGD in whole numbers: what a unit can do is bounded exactly, the price is right, twins are caught."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from copying import MemoryEngine
from discreet.base.event import EVERYONE
from discreet.base.numbers import Delta, Epsilon
from discreet.base.unit import Neighbours
from discreet.curator import Curator, policy_of
from discreet.data.catalog.policy_file import loads
from discreet.errors import InternalError, InvalidInput
from discreet.privacy.account.batch import NoisySteps, least_noise, steps_epsilon
from discreet.privacy.account.pld_laws import gaussian_atoms
from discreet.privacy.ledger.ledger import Ledger
from discreet.testing import SeededRng
from discreet.work.learn.learners import dp_sgd
from discreet.work.learn.learners.dp_sgd import (
    BOUND,
    LARGEST_INPUT,
    Layers,
    UnitRows,
    clipped_sum,
    drawn,
    noisy_gradient,
    passed,
    rounded_layers,
)
from discreet.work.learn.learners.network import NetworkShape, network_budget
from discreet.work.learn.model_files import from_text, to_text
from learning import curator, people
from sittings import FULL


def network(width=6, units=5, outputs=1, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    shapes = (width + 1, units), (width + units + 1, outputs)
    return rounded_layers(*(scale * rng.normal(size=shape) for shape in shapes))


def unsure():
    """Return a network that finds every class equally probable: every row leaves a residual."""
    layers = network(scale=5.0)
    return Layers(layers.hidden, 0 * layers.out)


def some_rows(count, width=6, outputs=1, seed=0):
    rng = np.random.default_rng(seed)
    inputs = np.rint(rng.uniform(-LARGEST_INPUT, LARGEST_INPUT, (count, width)))
    return inputs, rng.integers(0, max(outputs, 2), count)


def summed(layers, rows, unit=None):
    inputs, truth = rows
    unit = np.arange(len(truth)) if unit is None else unit
    return clipped_sum(passed(layers, inputs, truth), unit).values


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_what_a_unit_adds_is_its_own_and_bounded(outputs, scale):
    layers = network(outputs=outputs, scale=scale)
    inputs, truth = some_rows(40, outputs=outputs)
    each = [summed(layers, (inputs[i : i + 1], truth[i : i + 1])) for i in range(40)]
    assert all(int((one.astype(object) ** 2).sum()) <= BOUND**2 for one in each)
    assert max(int((one.astype(object) ** 2).sum()) for one in each) > 0.9 * BOUND**2 or scale < 1
    # Together, in any order, exactly the sum of what each adds alone.
    order = np.random.default_rng(1).permutation(40)
    assert (summed(layers, (inputs[order], truth[order])) == sum(each)).all()


def test_several_rows_of_a_unit_are_bounded_together():
    layers = network(scale=5.0)
    inputs, truth = some_rows(9)
    unit = np.repeat([0, 1, 2], 3)
    for i in range(3):
        mine = inputs[unit == i], truth[unit == i]
        alone = summed(layers, mine, np.zeros(3, dtype=np.int64))
        assert int((alone.astype(object) ** 2).sum()) <= BOUND**2
    # The broken twin clips rows instead of units: alike rows of one unit add up to three bounds.
    same = np.repeat(inputs[:1], 3, axis=0), np.repeat(truth[:1], 3)
    assert int((summed(unsure(), same).astype(object) ** 2).sum()) > BOUND**2


def test_the_twin_that_does_not_clip_is_caught(monkeypatch):
    monkeypatch.setattr(dp_sgd, "_short", lambda *a: np.ones(len(a[0])))
    monkeypatch.setattr(dp_sgd, "_ROOM", 1e6)
    found = summed(unsure(), some_rows(1))
    assert int((found.astype(object) ** 2).sum()) > BOUND**2


def test_the_gradient_points_uphill():
    # Against finite differences of the log-likelihood, far from the clip.
    layers = network(scale=0.3)
    inputs, truth = some_rows(400)
    inputs = np.rint(inputs / 40)
    found = summed(layers, (inputs, truth)) / BOUND
    step, place = 40, 3  # of 1/1024, in an offset-free weight of the hidden layer

    def likelihood(by):
        hidden = layers.hidden.copy()
        hidden[0, place] += by
        from discreet.work.learn.learners.dp_sgd import scores
        from discreet.work.learn.private_rows import FINE

        odds = scores(Layers(hidden, layers.out), inputs)[0][:, 0] / FINE
        return float((truth * odds - np.logaddexp(0, odds)).sum())

    slope = (likelihood(step) - likelihood(-step)) / (2 * step / 1024)
    assert found[place] == pytest.approx(slope, rel=0.15, abs=0.5)


def test_samples_have_the_rate_and_depend_on_nothing():
    taken = np.stack([drawn(1000, Fraction(1, 8), SeededRng(i)) for i in range(200)])
    # 200,000 draws of 1/8: five deviations are 0.0037.
    assert abs(taken.mean() - 0.125) < 0.0037
    assert not drawn(1000, Fraction(0), SeededRng(1)).any()


def test_a_gradient_larger_than_was_priced_is_refused():
    inputs, truth = some_rows(10)
    rows = UnitRows(inputs, truth, np.arange(10))
    small = NoisySteps(1, Fraction(1, 8), 3, BOUND, Fraction(BOUND) ** 2)
    with pytest.raises(InternalError):
        noisy_gradient(rows, network(), small, SeededRng(1))
    assert "hidden" in repr(rows)


# dp-accounting: from_gaussian_mechanism(z, sampling_prob=q).self_compose(T), value interval 1e-4.
@pytest.mark.parametrize(
    ("rate", "count", "noise", "known"),
    [
        (Fraction(1, 16), 400, 2, 3.26416),
        (Fraction(1), 50, 20, 1.54363),
        *(
            [(Fraction(1, 16), 400, 5, 1.09382), (Fraction(1, 64), 1000, 2, 1.16517)]
            if FULL
            else []
        ),
    ],
)
def test_the_price_of_steps_is_that_of_the_oracle(rate, count, noise, known):
    steps = NoisySteps(count, rate, 300, BOUND, Fraction(BOUND * noise) ** 2)
    found = float(steps_epsilon(steps, rho=Fraction(0), delta=Fraction(1, 10**6)))
    assert found == pytest.approx(known, rel=2e-4)
    # A twin that forgets a fifth of the steps would be seen.
    fewer = replace(steps, count=count * 4 // 5)
    assert float(steps_epsilon(fewer, rho=Fraction(0), delta=Fraction(1, 10**6))) < 0.95 * known


def test_the_law_of_gaussian_noise_keeps_both_masses():
    law = gaussian_atoms(0.5)
    assert law.masses.sum() == pytest.approx(1, abs=1e-9)
    assert (law.masses * np.exp(-law.losses)).sum() == pytest.approx(1, abs=1e-9)
    # delta at epsilon 0 of N(0, 1) against N(1/2, 1): 2 Phi(1/4) - 1, never below it.
    total = float((law.masses * -np.expm1(-np.maximum(law.losses, 0))).sum())
    assert 0.197412651 <= total < 0.19742


def test_calibrated_noise_meets_the_target_and_not_much_more():
    blank = NoisySteps(100, Fraction(1, 8), 200, BOUND, Fraction(1))
    found = least_noise(blank, rho=Fraction(1, 300), epsilon=Fraction(1), delta=Fraction(1, 10**6))
    price = steps_epsilon(found, rho=Fraction(1, 300), delta=Fraction(1, 10**6))
    assert 0.95 < price <= 1


def test_replacing_pays_twice():
    ask = {"region": EVERYONE, "learns": False, "words": 0}
    shape = NetworkShape(4, 2)
    one = network_budget(
        Epsilon.of(2), Delta.of("1e-6"), shape, neighbours=Neighbours.ADD_REMOVE, **ask
    )[1]
    two = network_budget(
        Epsilon.of(2), Delta.of("1e-6"), shape, neighbours=Neighbours.REPLACE_ONE, **ask
    )[1]
    assert two.sigma_squared > 3 * one.sigma_squared
    with pytest.raises(InvalidInput, match="needs delta"):
        network_budget(Epsilon.of(2), Delta.of(0), shape, neighbours=Neighbours.REPLACE_ONE, **ask)
    with pytest.raises(InvalidInput, match="at most 10 classes"):
        network_budget(
            Epsilon.of(2),
            Delta.of("1e-6"),
            NetworkShape(4, 11),
            neighbours=Neighbours.REPLACE_ONE,
            **ask,
        )


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_steps_are_planned_for_the_neighbours_of_the_dataset(tmp_path, monkeypatch, neighbours):
    planned = []

    def noted(*_given, **named):
        planned.append(named["neighbours"])
        raise InvalidInput("Enough is seen.")

    monkeypatch.setattr("discreet.work.learn.training_plan.network_budget", noted)
    asked = curator(tmp_path, neighbours=neighbours.value)
    with pytest.raises(InvalidInput, match="Enough"):
        asked.learn("people", target="rich", epsilon=4, model="network", features=["age"])
    assert planned == [neighbours]


@pytest.mark.parametrize("target", [pytest.param("rich", marks=pytest.mark.slow), "kind"])
def test_a_network_learns_is_kept_and_is_charged(tmp_path, target):
    asked = curator(tmp_path)
    found = asked.learn(
        "people", target=target, epsilon=4, model="network", features=["age", "sex"]
    )
    said = found.to_json()
    assert said["model"] == "network"
    assert said["accuracy"]["value"] > 0.7
    assert asked.budget_report()["datasets"]["town"]["epsilon"]["spent"] == pytest.approx(
        4, rel=0.05
    )
    again = from_text(to_text(found.model))
    codes = np.stack([np.arange(30) % c.size for c in found.model.features], axis=1)
    assert (again.guesses(codes) == found.model.guesses(codes)).all()


PEOPLE = """
[datasets.clinic]
epsilon = 20
delta = 1e-5
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "id"
max_rows = 2
version = 1
[datasets.clinic.tables.visits.columns]
id = { type = "identifier" }
age = { type = "integer", lower = 0, upper = 99, missing = true }
rich = { type = "category", values = ["no", "yes"] }
"""


def test_whole_people_are_sampled_and_clipped(tmp_path):
    known = loads(PEOPLE, base=tmp_path)
    ledger = Ledger.open(known.ledger_url, policy_of(known), base=tmp_path)
    table = people(1500)
    ids = [i // 2 for i in range(1500)]
    table = table.set_column(0, "id", [ids]).select(["id", "age", "rich"])
    asked = Curator(
        known, ledger=ledger, engine=MemoryEngine({"clinic.visits": table}), rng=SeededRng(3)
    )
    found = asked.learn("visits", target="rich", epsilon=8, model="network")
    assert found.model.facts["unit"]["rows"] == 2
    assert found.to_json()["accuracy"]["value"] > 0.65
