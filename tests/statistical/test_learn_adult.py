"""Quality on UCI Adult's own split at epsilon 1: fixed seeds, so this fails only when code changes.

Domains as a reader of the data set's description would declare them. The methods were designed with an eye
on these rows (docs/notes/0044), so this guards against decline and measures nothing.
"""

from fractions import Fraction

import numpy as np
import pyarrow.compute as pc
import pytest

from discreet.base.display import silent
from discreet.base.schema import CategoryDomain, IntegerDomain
from discreet.errors import MissingExtra
from discreet.lab.town.benchmark_tables import adult
from discreet.measure.columns import Coded
from discreet.measure.private_marginals import CountSensitivity, MarginalBudget
from discreet.privacy.account.convert import rho_of_target
from discreet.testing import SeededRng
from discreet.work.learn.classifier import Classifier, fit_classifier
from discreet.work.learn.evaluation import auc
from discreet.work.learn.features import encoding_of, feature_column
from discreet.work.learn.private_rows import PaidRows, PrivateResiduals
from discreet.work.learn.read_file import codes_of_table

RANGES = {
    "age": (0, 100),
    "fnlwgt": (0, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (0, 100),
}


@pytest.fixture(scope="module")
def rows():
    try:
        table = adult()
    except MissingExtra:
        pytest.skip("the files of UCI Adult are not installed")
    columns = []
    for name in table.column_names:
        if name in RANGES:
            columns.append(Coded(name, IntegerDomain(*RANGES[name])))
        else:
            known = sorted(pc.unique(table[name].drop_null()).to_pylist())
            columns.append(Coded(name, CategoryDomain(tuple(known))))
    encoding = encoding_of("adult", [feature_column(c) for c in columns[:-1]], columns[-1])
    found = codes_of_table(table, encoding.coded)
    return found[:32_561], found[32_561:], encoding


@pytest.mark.parametrize(
    ("name", "right", "area"),
    [("logistic", 0.854, 0.904), ("boosted", 0.854, 0.904), ("bayes", 0.81, 0.89)],
)
def test_each_classifier_at_epsilon_one(rows, name, right, area):
    train, test, encoding = rows
    budget = MarginalBudget(rho_of_target(Fraction(1), Fraction(1, 10**6)), concentrated=True)
    paid = PaidRows(train, encoding.shape, len(encoding.coded) - 1)
    fitted = fit_classifier(
        name, PrivateResiduals(paid, budget, CountSensitivity(), SeededRng(1)), encoding, silent
    )
    model = Classifier(name, encoding, fitted.intercept, fitted.terms)
    truth = test[:, -1].astype(np.int64)
    assert (model.guesses(test) == truth).mean() >= right
    assert auc(model.chances(test)[:, 1], truth) >= area
