"""Paid tests: accuracy and its interval from noisy counts, however many of them are near nothing."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.base.schema import CategoryDomain
from discreet.errors import UnknownName
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import Measured
from discreet.privacy.noise.additive import discrete_laplace
from discreet.privacy.noise.laws import LaplaceLaw
from discreet.testing import SeededRng
from discreet.work.learn.classifier import Classifier
from discreet.work.learn.evaluation import _by_value, _overall
from learning import curator

DRAWS = 400
FEWEST = 356
"""A 95% interval covers fewer than 356 of 400 times about once in 10^6."""


def _measured(exact: list[list[int]], scale: int, rng: SeededRng) -> Measured:
    law = LaplaceLaw(Fraction(scale))
    cells = np.array(exact)
    noisy = cells + discrete_laplace(law.scale, cells.shape, rng=rng)
    return Measured((0, 1), noisy, law)


@pytest.mark.parametrize(("classes", "rows", "right"), [(2, 1000, 900), (60, 3000, 3000)])
def test_the_accuracy_over_many_empty_classes_is_covered(classes, rows, right):
    rng = SeededRng(3)
    exact = [[rows - right, right]] + [[0, 0]] * (classes - 1)
    found = [_overall(_measured(exact, 20, rng)) for _ in range(DRAWS)]
    covered = [e["accuracy"]["low"] <= right / rows <= e["accuracy"]["high"] for e in found]
    assert sum(covered) >= FEWEST
    # Cut off at zero, 120 cells of noise would add about 1,200 rows to 3,000.
    assert abs(np.mean([e["test_rows"] for e in found]) - rows) < 100


@pytest.mark.parametrize("exact", [[40, 0], [0, 5], [10, 10], [2, 100]])
def test_the_accuracy_of_a_small_subgroup_is_covered(exact):
    rng, column = SeededRng(4), Coded("sex", CategoryDomain(("F",)))
    found = [_by_value(_measured([exact], 12, rng), column)["F"] for _ in range(DRAWS)]
    truth = exact[1] / sum(exact)
    assert sum(e["low"] <= truth <= e["high"] for e in found) >= FEWEST
    assert all(e["rows"] >= 0 for e in found)


@pytest.mark.parametrize("name", ["nope", "note"])
def test_a_model_about_columns_that_are_not_shown_is_refused_before_the_charge(tmp_path, name):
    target = Coded(name, CategoryDomain(("SECRET", "other")))
    sex = Coded("sex", CategoryDomain(("Female", "Male")), missing=True)
    forged = Classifier("x", Encoding("people", (sex, target)), np.array([-1.0]), (), {})
    asked = curator(tmp_path)
    with pytest.raises(UnknownName, match="shows no column"):
        asked.test_model(forged, "people", epsilon=1)
