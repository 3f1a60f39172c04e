"""Estimators with scikit-learn's habits: they charge a ledger, and nothing is read for nothing."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from discreet.errors import BadRows, BudgetExceeded, InvalidInput
from discreet.testing import SeededRng
from discreet.work.learn import LearnBudget, PrivateClassifier, PrivateRegressor
from learning import curator


def rows(count=1500, seed=0):
    rng = np.random.default_rng(seed)
    found = rng.uniform(-2, 2, size=(count, 2))
    return found, np.where(found[:, 0] + found[:, 1] > 0, "yes", "no")


def budget(tmp_path, epsilon=6):
    return LearnBudget(tmp_path / "rows.db", epsilon=epsilon, delta="1e-5", rng=SeededRng(1))


def asked(tmp_path, **more):
    given = {"epsilon": 3, "domains": (-2.0, 2.0), "classes": ["no", "yes"], "model": "bayes"}
    return PrivateClassifier(**given | {"budget": budget(tmp_path)} | more)


def test_rows_in_memory_are_charged_predicted_and_tested(tmp_path):
    found = asked(tmp_path, test_public=True).fit(*rows())
    assert found.budget.spent["epsilon"] == pytest.approx(3, rel=0.01)
    assert found.score(*rows(seed=1)) > 0.8
    chances = found.predict_proba(rows(20)[0])
    assert chances.shape == (20, 2)
    assert np.allclose(chances.sum(axis=1), 1)
    assert set(found.predict(rows(20)[0])) <= {"no", "yes"}
    found.set_params(test_public=False, test_epsilon=1)
    assert found.score(*rows()) == pytest.approx(found.test_["value"])
    assert found.budget.spent["epsilon"] == pytest.approx(4, rel=0.01)
    with pytest.raises(BudgetExceeded):
        asked(tmp_path, budget=found.budget).fit(*rows())


def test_a_declared_table_of_a_curator(tmp_path):
    desk = curator(tmp_path)
    found = PrivateClassifier(epsilon=2, curator=desk, model="bayes").fit("people", "rich")
    assert found.classes_.tolist() == ["no", "yes"]
    assert desk.budget_report()["datasets"]["town"]["epsilon"]["spent"] > 1.9
    wage = PrivateRegressor(epsilon=2, curator=desk).fit("people", "wage")
    assert len(wage.coef_) == len(wage.model_.variables)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"domains": None}, "No domains are declared"),
        ({"classes": None}, "classes are not declared"),
        ({"budget": None}, "need a budget"),
        ({"classes": ["yes"]}, "one class only"),
        ({"domains": {"x0": (0, 1)}}, "No domain is declared for column 'x1'"),
    ],
)
def test_what_is_missing_is_refused_and_costs_nothing(tmp_path, more, said):
    found = asked(tmp_path, **more)
    with pytest.raises(BadRows, match=said):
        found.fit(*rows())
    assert not found.budget or found.budget.spent["epsilon"] == 0


def test_a_score_on_private_rows_is_not_free(tmp_path):
    fitted = asked(tmp_path).fit(*rows())
    with pytest.raises(InvalidInput, match="itself a number"):
        fitted.score(*rows())
    with pytest.raises(InvalidInput, match="not fitted"):  # as scikit-learn wants it: first of all
        PrivateRegressor(epsilon=1).score(*rows())


def test_parameters_are_kept_and_copies_share_the_ledger(tmp_path):
    one = asked(tmp_path)
    two = one.__sklearn_clone__()
    assert two.get_params() == one.get_params()
    assert two.budget is one.budget
    with pytest.raises(ValueError, match="no parameter"):
        one.set_params(depth=3)
    for same in (copy.deepcopy(one.budget), pickle.loads(pickle.dumps(one.budget))):
        assert same.path == one.budget.path
    assert "epsilon=3" in repr(one)


def test_unfit_rows_are_value_errors(tmp_path):
    with pytest.raises(ValueError, match="2D array"):
        asked(tmp_path).fit([1, 2, 3], ["no", "yes", "no"])
    with pytest.raises(ValueError, match="inconsistent"):
        asked(tmp_path).fit(rows(10)[0], ["no", "yes"])
    with pytest.raises(ValueError, match="not fitted"):
        asked(tmp_path).predict(rows(10)[0])


def test_the_menu_is_light():
    code = "import discreet.work.learn, sys; print([m for m in ('numpy', 'scipy', 'duckdb') if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


NOISY = "two fits with fresh noise differ"
EXPECTED = {
    "check_classifier_data_not_an_array": NOISY,
    "check_fit_idempotent": NOISY,
    "check_regressor_data_not_an_array": NOISY,
    "check_regressors_int": NOISY,
    "check_supervised_y_2d": "a column of labels is taken without a warning",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Estimator .* does not inherit from:UserWarning")
@pytest.mark.parametrize("kind", [PrivateClassifier, PrivateRegressor])
def test_scikit_learn_finds_its_conventions(tmp_path, kind):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    more = {"delta": "1e-9", "model": "bayes"} if kind is PrivateClassifier else {}
    large = LearnBudget(tmp_path / "rows.db", epsilon=10**5, delta="1e-3")
    estimator = kind(epsilon=5, budget=large, accept=True, test_public=True, **more)
    found = checks.check_estimator(
        estimator, on_skip=None, on_fail=None, expected_failed_checks=EXPECTED
    )
    assert [each["check_name"] for each in found if each["status"] == "failed"] == []
    assert sum(each["status"] == "passed" for each in found) > 25
