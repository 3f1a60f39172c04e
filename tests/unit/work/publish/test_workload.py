"""Planned marginals: at the bound that no mechanism can beat, and fast for a hundred attributes."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from functools import reduce
from itertools import combinations

import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.work.publish.workload import plan_marginals


def workload(sizes: list[int], up_to: int) -> list[np.ndarray]:
    """Return every marginal of up to `up_to` attributes as a dense matrix over all cells."""
    found = []
    for k in range(up_to + 1):
        for chosen in combinations(range(len(sizes)), k):
            parts = [np.eye(n) if i in chosen else np.ones((1, n)) for i, n in enumerate(sizes)]
            found.append(reduce(np.kron, parts))
    return found


@pytest.mark.parametrize(
    ("sizes", "up_to"), [([2, 3], 1), ([2, 3], 2), ([3, 2, 4], 2), ([2, 3, 2, 3], 3), ([5], 1)]
)
def test_the_plan_meets_the_singular_value_bound(sizes: list[int], up_to: int) -> None:
    # No Gaussian mechanism has a total variance below (sum of singular values)^2 / cells / (2 rho)
    # [Li and Miklau 2013]; so a plan that meets it is optimal.
    names = {f"a{i}": n for i, n in enumerate(sizes)}
    plan = plan_marginals(names, up_to=up_to, rho=Fraction(1, 2))
    matrix = np.vstack(workload(sizes, up_to))
    singular = np.linalg.svd(matrix, compute_uv=False)
    bound = singular.sum() ** 2 / np.prod(sizes)
    total = sum(
        math.prod(names[name] for name in chosen) * plan.error(chosen) ** 2
        for k in range(up_to + 1)
        for chosen in combinations(names, k)
    )
    assert total == pytest.approx(bound, rel=1e-9)


def test_errors_and_price_are_those_of_the_dense_mechanism() -> None:
    sizes = [2, 3, 4]
    plan = plan_marginals({"a": 2, "b": 3, "c": 4}, up_to=2, rho=Fraction(1, 2))
    # Residual A as a measurement: subtract the mean along attributes in A, sum out the others. Its
    # precision over cells is a projection scaled by one over the variance.
    precision = np.zeros((24, 24))
    for k, (subsets, variances) in enumerate(zip(plan.subsets, plan.residuals, strict=True)):
        del k
        for chosen, variance in zip(subsets, variances, strict=True):
            parts = [
                np.eye(n) - 1 / n if i in chosen else np.ones((n, n)) for i, n in enumerate(sizes)
            ]
            precision += reduce(np.kron, parts) / variance
    # rho is half the largest diagonal entry: what one row adds to the signal.
    assert np.diag(precision) == pytest.approx(np.full(24, 1.0), rel=1e-9)
    covariance = np.linalg.pinv(precision)
    for chosen in (["a"], ["a", "b"], ["b", "c"], []):
        parts = [
            np.eye(n) if name in chosen else np.ones((1, n))
            for name, n in zip("abc", sizes, strict=True)
        ]
        marginal = reduce(np.kron, parts)
        cells = np.diag(marginal @ covariance @ marginal.T)
        assert cells == pytest.approx(np.full(len(cells), plan.error(chosen) ** 2), rel=1e-9)


def test_a_hundred_attributes_are_planned_within_a_minute() -> None:
    started = time.process_time()
    plan = plan_marginals({f"a{i}": 10 for i in range(100)}, up_to=3, epsilon=1, delta="1e-9")
    assert plan.tables == 166_750
    assert time.process_time() - started < 60
    assert plan.error(["a1"]) > 0
    assert plan.error(["a5", "a99", "a0"]) == pytest.approx(plan.error(["a1", "a2", "a3"]))


def test_bad_plans_get_one_sentence() -> None:
    for sizes, options in (
        ({}, {"rho": 1}),
        ({"a": 1}, {"rho": 1, "up_to": 1}),
        ({"a": 2}, {"rho": 1, "up_to": 2}),
        ({"a": 2}, {"up_to": 1}),
        ({"a": 2}, {"up_to": 1, "rho": 0}),
        ({"a": 2}, {"up_to": 1, "rho": 1, "epsilon": 1, "delta": 0.1}),
        ({f"a{i}": 2 for i in range(2000)}, {"rho": 1}),
    ):
        with pytest.raises(InvalidInput):
            plan_marginals(sizes, **options)  # type: ignore[arg-type]
    plan = plan_marginals({"a": 2, "b": 2}, up_to=1, rho=1)
    with pytest.raises(InvalidInput):
        plan.error(["a", "b"])
    with pytest.raises(InvalidInput):
        plan.error(["c"])
