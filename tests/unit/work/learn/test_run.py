"""The whole way of a training: charged first, stored, repeatable, and nothing uncharged."""

from dataclasses import replace

import numpy as np
import pytest

import copying
from discreet.base.schema import CategoryDomain
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailed,
    InvalidInput,
    RequestConflict,
    UnknownName,
)
from discreet.measure.columns import Coded
from discreet.work.learn import PrivateKMeans, PrivatePCA, PrivateScaler
from discreet.work.learn.classifier import Classifier
from discreet.work.learn.evaluation import publicly_tested
from discreet.work.learn.features import encoding_of
from discreet.work.learn.model_files import card_of, predicted, read_model, write_model
from learning import curator, people

MODEL = Classifier(
    "bayes",
    encoding_of(
        "people",
        [Coded("sex", CategoryDomain(("Female", "Male")))],
        Coded("rich", CategoryDomain(("no", "yes"))),
    ),
    np.zeros(1),
    (),
)
"""A model that knows nothing, to be tested."""


def spent(asked):
    return asked.budget_report()["datasets"]["town"]["epsilon"]["spent"]


@pytest.fixture(scope="module")
def unasked(tmp_path_factory):
    return curator(tmp_path_factory.mktemp("town"))


@pytest.mark.parametrize("model", ["auto", "logistic", "boosted", "bayes"])
def test_a_model_learns_what_there_is(tmp_path, model):
    asked = curator(tmp_path)
    found = asked.learn("people", target="rich", epsilon=4, model=model, features=["age", "sex"])
    said = found.to_json()
    assert said["accuracy"]["value"] > 0.75 > said["baseline"]
    assert said["accuracy"]["low"] < said["accuracy"]["value"] < said["accuracy"]["high"]
    assert said["cost"]["epsilon"] == 4
    assert spent(asked) == pytest.approx(4, rel=0.05)
    assert not found.private  # a seeded generator drew the noise


@pytest.mark.parametrize("model", ["auto", "network"])
def test_a_table_with_a_complete_column_is_learned_from(tmp_path, model):
    asked = copying.curator(tmp_path, complete=True)
    found = asked.learn("visits", target="ward", epsilon=4, model=model)
    assert found.to_json()["classes"] == ["A", "B", "C"]


def test_many_classes(tmp_path):
    asked = curator(tmp_path)
    found = asked.learn("people", target="kind", epsilon=4, features=["age", "rich"])
    assert found.to_json()["accuracy"]["value"] > 0.8
    assert found.to_json()["classes"] == ["a", "b", "c"]


def test_without_delta_laplace_noise_and_naive_bayes(tmp_path):
    asked = curator(tmp_path, delta="0")
    found = asked.learn("people", target="rich", epsilon=4, features=["age", "sex"])
    assert found.model.kind == "bayes"
    assert found.cost.delta == 0
    assert found.to_json()["accuracy"]["value"] > 0.7


def test_a_paid_choice(tmp_path):
    asked = curator(tmp_path)
    found = asked.learn(
        "people", target="rich", epsilon=4, features=["age", "sex"], choose=["bayes", "logistic"]
    )
    assert found.model.kind in {"bayes", "logistic"}
    assert spent(asked) == pytest.approx(4, rel=0.05)


def test_the_charge_comes_before_the_rows(tmp_path, monkeypatch):
    asked = curator(tmp_path)
    order = []
    charge, run = type(asked.ledger).charge_all, asked.engine._run
    monkeypatch.setattr(
        type(asked.ledger),
        "charge_all",
        lambda *a, **k: (order.append("charge"), charge(*a, **k))[1],
    )
    monkeypatch.setattr(
        asked.engine, "_run", lambda *a, **k: (order.append("run"), run(*a, **k))[1]
    )
    asked.learn("people", target="rich", epsilon=1)
    assert order[0] == "charge"
    assert order.count("charge") == 1
    assert "run" in order


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.learn("people", target="rich", epsilon=1),
        lambda c: c.learn("people", target="rich", epsilon=1, choose=["bayes", "logistic"]),
        lambda c: c.learn("people", target="rich", epsilon=1, model="network"),
        lambda c: c.regress("people", target="wage", epsilon=1),
        lambda c: c.select("people", column="sex", epsilon=1),
        lambda c: c.test_model(MODEL, "people", epsilon=1),
        lambda c: PrivateScaler(epsilon=1, curator=c).fit("people"),
        lambda c: PrivatePCA(epsilon=1, curator=c).fit("people"),
        lambda c: PrivateKMeans(epsilon=1, curator=c).fit("people"),
    ],
    ids=["classify", "choose", "network", "regress", "select", "test", "scale", "pca", "kmeans"],
)
def test_without_the_paid_reader_every_learner_fails_charged(tmp_path, monkeypatch, ask):
    asked = curator(tmp_path)
    monkeypatch.setattr(asked.engine, "answers", None)
    with pytest.raises(EngineFailed):
        ask(asked)
    assert 0.8 < spent(asked) <= 1


def test_the_same_id_gives_the_same_model_free(tmp_path):
    asked = curator(tmp_path)
    first = asked.learn("people", target="rich", epsilon=1, request_id="once")
    ran = len(asked.engine.ran)
    again = asked.learn("people", target="rich", epsilon=1, request_id="once")
    assert again.free
    assert again.model.to_json() == first.model.to_json()
    assert len(asked.engine.ran) == ran  # no row was read
    with pytest.raises(RequestConflict):
        asked.learn("people", target="rich", epsilon=2, request_id="once")
    assert asked.stored_answer("once") is None  # a model is no answer


@pytest.mark.parametrize(
    ("asked", "kind", "said"),
    [
        ({"target": "nothing"}, UnknownName, "not declared"),
        ({"target": "one"}, InvalidInput, "one declared value"),
        ({"target": "wage"}, InvalidInput, "many values"),
        ({"target": "rich", "features": ["rich"]}, InvalidInput, "one of the features"),
        ({"target": "rich", "features": ["no"]}, UnknownName, "not declared"),
        ({"target": "rich", "model": "oracle"}, InvalidInput, "no model"),
        ({"target": "rich", "choose": ["bayes"]}, InvalidInput, "2 to 6"),
        ({"target": "rich", "epsilon": "1e-12"}, InvalidInput, "more than noise"),
        (
            {"target": "rich", "epsilon": "1e-6", "delta": 0},
            InvalidInput,
            "take about [0-9,]+ rows",
        ),
        (
            {"target": "rich", "epsilon": 1, "model": "network", "delta": 0},
            InvalidInput,
            "needs delta",
        ),
        ({"target": "rich", "epsilon": 50}, BudgetExceeded, "does not allow"),
    ],
)
def test_mistakes_are_one_sentence_and_cost_nothing(unasked, asked, kind, said):
    with pytest.raises(kind, match=said):
        unasked.learn("people", **{"epsilon": 1, **asked})
    assert spent(unasked) == 0
    assert unasked.engine.ran == []


def test_a_model_is_kept_tested_and_used(tmp_path):
    import pyarrow.csv as csv

    asked = curator(tmp_path)
    model = asked.learn("people", target="rich", epsilon=4, features=["age", "sex"]).model
    csv.write_csv(people(3000, seed=9), tmp_path / "test.csv")
    scored = publicly_tested(model, tmp_path / "test.csv")
    assert scored.facts["accuracy"]["value"] > 0.7
    assert scored.facts["auc"] > 0.8
    assert set(scored.facts["subgroups"]["sex"]) == {"Female", "Male"}
    write_model(scored, tmp_path / "m.zip")
    read = read_model(tmp_path / "m.zip")
    rows = predicted(read, tmp_path / "test.csv")
    truth = np.array(rows["rich"].to_pylist()) == np.array(rows["predicted_rich"].to_pylist())
    assert truth.mean() == pytest.approx(scored.facts["accuracy"]["value"], abs=1e-6)


def test_a_private_test_is_charged_and_near_the_exact_one(tmp_path):
    import pyarrow.csv as csv

    asked = curator(tmp_path)
    model = asked.learn("people", target="rich", epsilon=4, features=["age", "sex"]).model
    before = spent(asked)
    scored = asked.test_model(model, "people", epsilon=2, request_id="test")
    assert spent(asked) > before + 1
    csv.write_csv(people(), tmp_path / "same.csv")
    exact = publicly_tested(model, tmp_path / "same.csv").facts["accuracy"]["value"]
    found = scored.facts["accuracy"]
    assert found["low"] <= exact <= found["high"]
    again = asked.test_model(model, "people", epsilon=2, request_id="test")
    assert again.facts["accuracy"] == found


def test_replace_one_neighbours_pay_with_more_noise(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    one = curator(tmp_path / "a", neighbours="add-remove")
    two = curator(tmp_path / "b", neighbours="replace-one")
    for asked in (one, two):
        found = asked.learn("people", target="rich", epsilon=4, features=["age", "sex"])
        assert found.model.facts["unit"]["replaced"] is (asked is two)


def test_a_regression(tmp_path):
    import pyarrow.csv as csv

    from discreet.work.learn.regression import tested_regressor

    asked = curator(tmp_path)
    found = asked.regress("people", target="wage", epsilon=5, features=["age", "sex"])
    csv.write_csv(people(2000, seed=5), tmp_path / "test.csv")
    score = tested_regressor(found.model, tmp_path / "test.csv")
    assert score["r2"] > 0.7
    assert found.model.facts["cost"] == {"epsilon": "5", "delta": str(found.cost.delta)}
    assert f"epsilon 5, delta {float(found.cost.delta):g}" in card_of(found.model).subtitle
    kept = {**found.model.facts, "cost": {"epsilon": "5"}}  # as earlier versions kept it
    assert card_of(replace(found.model, facts=kept)).subtitle.endswith("epsilon 5")
    again = asked.regress(
        "people", target="wage", epsilon=5, features=["age", "sex"], request_id=found.request_id
    )
    assert again.free
    assert again.model.facts["cost"] == found.model.facts["cost"]
    assert found.to_json()["rmse"] is None  # only a test can tell
    write_model(found.model, tmp_path / "r.zip")
    rows = predicted(read_model(tmp_path / "r.zip"), tmp_path / "test.csv")
    assert "predicted_wage" in rows.column_names
    with pytest.raises(DiscreetError, match="not a number"):
        asked.regress("people", target="sex", epsilon=1)
