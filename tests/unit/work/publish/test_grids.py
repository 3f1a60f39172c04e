"""Least squares on grids against a dense solver; whole numbers that add up; intervals that cover."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import binom

from discreet.errors import InvalidInput
from discreet.work.publish.reconcile.least_squares import (
    SymmetricBlocks,
    TreeEstimate,
    bounded_variances,
    is_nested,
)
from discreet.work.publish.reconcile.problem import GridProblem, Sums, add_up, narrowed, spread
from discreet.work.publish.reconcile.solve import (
    Reconciled,
    divided,
    intervals,
    least_squares,
    reconcile,
    whole_cells,
)
from sittings import FULL

ALPHA = 1e-9


def sums_of(maps, truth, variance, dice, *, exact=False) -> Sums:
    maps = tuple(np.asarray(m) for m in maps)
    shape = tuple(int(m.max()) + 1 for m in maps)
    values = add_up(truth, maps, shape)
    noise = 0 if exact else np.rint(dice.normal(0, np.sqrt(variance), shape)).astype(np.int64)
    return Sums(maps, shape, values + noise, 0.0 if exact else variance)


def matrix(maps, leaf) -> np.ndarray:
    shape = tuple(int(m.max()) + 1 for m in maps)
    units = np.eye(int(np.prod(leaf)))
    return np.stack([add_up(u.reshape(leaf), maps, shape).reshape(-1) for u in units], axis=1)


def random_maps(leaf, dice, *, holes: bool) -> tuple[np.ndarray, ...]:
    found = []
    for size in leaf:
        kind = dice.integers(4)
        classes = np.arange(size) if kind == 0 else np.zeros(size, dtype=np.int64)
        if kind == 1:
            classes = np.unique(dice.integers(0, 3, size), return_inverse=True)[1]
        if holes and kind == 2 and size > 1:
            classes = np.where(dice.random(size) < 0.4, -1, 0)
            classes[dice.integers(size)] = 0
        found.append(classes.astype(np.int64))
    return tuple(found)


def dense_solution(problem: GridProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return leaf cells and their covariance by a dense solver with the facts as constraints."""
    leaf = problem.leaf
    rows = [matrix(s.maps, leaf) / np.sqrt(s.variance) for s in problem.measured]
    seen = [s.values.reshape(-1) / np.sqrt(s.variance) for s in problem.measured]
    a, y = np.concatenate(rows), np.concatenate(seen)
    fixed = [(matrix(s.maps, leaf), s.values.reshape(-1)) for s in problem.exact]
    if problem.zero is not None:
        cells = np.flatnonzero(problem.zero.reshape(-1))
        fixed.append((np.eye(a.shape[1])[cells], np.zeros(len(cells))))
    start, free = np.zeros(a.shape[1]), np.eye(a.shape[1])
    if fixed:
        f, goal = np.concatenate([m for m, _ in fixed]), np.concatenate([g for _, g in fixed])
        start = np.linalg.lstsq(f, goal, rcond=None)[0]
        _, sizes, directions = np.linalg.svd(f)
        rank = int((sizes > 1e-9).sum())
        free = directions[rank:].T
    inside = a @ free
    inside[np.abs(inside) < 1e-9] = 0
    inverse = np.linalg.pinv(inside, rcond=1e-9)
    return start + free @ inverse @ (y - a @ start), free @ inverse @ inverse.T @ free.T


@pytest.mark.parametrize("seed", range(32 if FULL else 16))
def test_least_squares_is_the_dense_solution(seed: int):
    dice = np.random.default_rng(seed)
    leaf = tuple(int(n) for n in dice.integers(1, 5, 3))
    truth = dice.poisson(30, leaf)
    zero = None
    if seed % 3 == 0:
        zero = dice.random(leaf) < 0.1
        truth[zero] = 0
    measured = tuple(
        sums_of(random_maps(leaf, dice, holes=seed % 2 == 1), truth, float(v), dice)
        for v in dice.integers(1, 30, dice.integers(1, 5))
    )
    exact = ()
    if seed % 4 == 0:
        exact = tuple(
            sums_of(random_maps(leaf, dice, holes=False), truth, 0.0, dice, exact=True)
            for _ in range(1 + seed % 8 // 4)
        )
    problem = GridProblem(leaf, measured, exact, zero)
    estimates, _ = least_squares(problem)
    cells, covariance = dense_solution(problem)
    exactly = SymmetricBlocks(problem).variances()
    bounds = bounded_variances(problem)
    for sums, estimate, dense, bound in zip(measured, estimates, exactly, bounds, strict=True):
        a = matrix(sums.maps, leaf)
        assert np.allclose(estimate.values.reshape(-1), a @ cells, atol=1e-6)
        variance = np.diag(a @ covariance @ a.T)
        said = np.broadcast_to(estimate.variance, sums.shape).reshape(-1)
        assert np.allclose(said, variance, atol=1e-7)
        assert np.allclose(dense.reshape(-1), variance, atol=1e-7)
        assert (bound.reshape(-1) >= variance - 1e-7).all()


def nested(dice, leaf=(12, 2, 3), mean=3):
    truth = dice.poisson(mean, leaf)
    ones = [np.zeros(n, dtype=np.int64) for n in leaf]
    same = [np.arange(n) for n in leaf]
    county = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])
    state = np.array([0, 0, 1, 1])[county]
    levels = [
        (ones[0], same[1], same[2]),
        (state, same[1], same[2]),
        (county, same[1], same[2]),
        same,
    ]
    return truth, levels


@pytest.mark.parametrize("zeros", [False, True])
def test_two_passes_down_a_hierarchy_are_the_dense_solution(zeros: bool):
    dice = np.random.default_rng(3)
    truth, levels = nested(dice)
    zero = None
    if zeros:
        zero = dice.random(truth.shape) < 0.2
        zero[4] = True  # a whole place
        truth[zero] = 0
    fact = sums_of((levels[1][0], levels[0][1] * 0, levels[0][2] * 0), truth, 0, dice, exact=True)
    measured = tuple(
        sums_of(m, truth, v, dice) for m, v in zip(levels, (9.0, 4.0, 2.0, 25.0), strict=True)
    )
    assert is_nested(measured)
    assert not is_nested((*measured, fact))
    for exact in ((), (fact,)):
        problem = GridProblem(truth.shape, measured, exact, zero)
        estimates, _ = least_squares(problem)
        cells, covariance = dense_solution(problem)
        for sums, estimate in zip(measured, estimates, strict=True):
            a = matrix(sums.maps, problem.leaf)
            assert np.allclose(estimate.values.reshape(-1), a @ cells, atol=1e-6)
            variance = np.broadcast_to(estimate.variance, sums.shape).reshape(-1)
            assert np.allclose(variance, np.diag(a @ covariance @ a.T), atol=1e-7)


@pytest.mark.parametrize("seed", range(12 if FULL else 6))
def test_whole_numbers_add_up_everywhere(seed: int):
    dice = np.random.default_rng(seed)
    leaf = tuple(int(n) for n in dice.integers(2, 6, 3))
    truth = dice.poisson(2, leaf)
    zero = dice.random(leaf) < 0.2
    truth[zero] = 0
    measured = tuple(
        sums_of(random_maps(leaf, dice, holes=True), truth, 16.0, dice) for _ in range(3)
    )
    facts = tuple(
        sums_of(random_maps(leaf, dice, holes=False), truth, 0, dice, exact=True)
        for _ in range(seed % 3)
    )
    problem = GridProblem(leaf, measured, facts, zero)
    cells = whole_cells(problem, least_squares(problem)[1])
    assert cells.dtype == np.int64
    assert cells.min() >= 0
    assert not cells[zero].any()
    for fact in facts:
        assert np.array_equal(add_up(cells, fact.maps, fact.shape), fact.values)
    for found in (each.published for each in reconcile(problem)):
        assert (found.low <= found.whole).all()
        assert (found.whole <= found.high).all()
        assert found.low.min() >= 0


def test_sparse_crossed_tables_do_not_lift_their_totals():
    dice = np.random.default_rng(2)
    leaf = (300, 2, 4)
    truth = dice.poisson(0.2, leaf)
    ones = [np.zeros(n, dtype=np.int64) for n in leaf]
    same = [np.arange(n) for n in leaf]
    groupings = [
        (ones[0], same[1], same[2]),
        (same[0], ones[1], ones[2]),
        (same[0], ones[1], same[2]),
        (ones[0], same[1], ones[2]),
    ]
    measured = tuple(sums_of(m, truth, 64.0, dice) for m in groupings)
    found = reconcile(GridProblem(leaf, measured))
    for sums, result in zip(measured, found, strict=True):
        exact = add_up(truth, sums.maps, sums.shape)
        worst = np.abs(result.published.whole - result.estimate.values).max()
        # Noise of 1,200 cells of sigma 8 that are cut at zero would lift the total by thousands.
        assert abs(int(result.published.whole.sum()) - int(exact.sum())) < 60
        assert worst < 40


def test_facts_that_contradict_a_rule_are_refused():
    ones = (np.zeros(2, dtype=np.int64),)
    measured = (Sums((np.arange(2),), (2,), np.array([3, 4]), 1.0),)
    fact = Sums(ones, (1,), np.array([5]), 0.0)
    with pytest.raises(InvalidInput, match="contradict"):
        reconcile(GridProblem((2,), measured, (fact,), np.array([True, True])))


def test_parts_are_the_nearest_that_add_up():
    dice = np.random.default_rng(0)
    link = np.array([0, 1, 0, 2, 1, 0, 2, 2, 2])
    totals = dice.integers(0, 40, (3, 50))
    estimates = dice.normal(8, 9, (9, 50))
    parts = divided(totals, estimates, link, 0)
    assert parts.min() >= 0
    for owner in range(3):
        assert np.array_equal(parts[link == owner].sum(axis=0), totals[owner])
    # Each part is next to the projection onto the simplex, here by sorting (Held et al. 1974).
    for owner in range(3):
        for column in range(50):
            v = estimates[link == owner, column]
            u = np.sort(v)[::-1]
            theta = (np.cumsum(u) - totals[owner, column]) / np.arange(1, len(u) + 1)
            nearest = (
                np.maximum(v - theta[np.flatnonzero(u > theta)[-1]], 0)
                if u[0] > theta[0]
                else v * 0
            )
            assert np.abs(parts[link == owner, column] - nearest).max() < 1 + 1e-9


def test_spreading_is_the_transpose_of_adding_up():
    dice = np.random.default_rng(1)
    leaf = (5, 3, 4)
    maps = (np.array([0, 1, -1, 1, 0]), np.zeros(3, dtype=np.int64), np.array([2, 0, 1, 1]))
    shape = (2, 1, 3)
    x, y = dice.normal(size=leaf), dice.normal(size=shape)
    assert np.isclose((add_up(x, maps, shape) * y).sum(), (x * spread(y, maps, leaf)).sum())


@cache
def released(runs: int) -> list[list[tuple[Reconciled, np.ndarray]]]:
    """Return what is published in each of many releases, level by level, beside the truth."""
    dice = np.random.default_rng(5)
    truth, levels = nested(dice, mean=150)
    crossed = (np.zeros(12, dtype=np.int64), np.zeros(2, dtype=np.int64), np.arange(3))
    found = []
    for run in range(runs):
        maps = [*levels, crossed] if run % 20 == 19 else levels
        measured = tuple(sums_of(m, truth, 100.0, dice) for m in maps)
        results = list(reconcile(GridProblem(truth.shape, measured)))[: len(levels)]
        sums = (add_up(truth, s.maps, s.shape) for s in measured)
        found.append(list(zip(results, sums, strict=False)))
    return found


def ends(found: Reconciled, width: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the published interval of each cell, or one of another width."""
    numbers = found.published
    if width is None:
        return numbers.low, numbers.high
    return intervals(found.estimate, numbers.whole, width=width, non_negative=True)


def check_coverage(runs: int, width: float | None = None) -> None:
    for level in zip(*released(runs), strict=True):
        each = [(ends(found, width), truth) for found, truth in level]
        inside = sum(((low <= truth) & (truth <= high)) * 1 for (low, high), truth in each)
        # Mean coverage of the level, and each of its cells: a true 95% fails with chance ALPHA.
        assert binom.cdf(inside.min(), runs, 0.95) > ALPHA / inside.size
        assert inside.mean() / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_intervals_cover_in_ten_thousand_releases():
    check_coverage(10_000)


def test_intervals_cover_and_narrow_ones_are_seen():
    check_coverage(120)
    check_coverage(120, width=1.96)
    with pytest.raises(AssertionError):
        check_coverage(120, width=1.2)


def test_narrow_cells_add_up_beyond_32_bits():
    cells = narrowed(np.full(4, 2**31 - 1, dtype=np.int64))
    assert cells.dtype == np.int32
    assert add_up(cells, (np.array([0, 0, 1, 1]),), (2,)).tolist() == [2**32 - 2] * 2
    assert narrowed(np.array([2**31])).dtype == np.int64


def test_intervals_may_leave_32_bits():
    estimate = TreeEstimate(np.array([2.0**31 - 2]), np.array([100.0]))
    whole = np.array([2**31 - 2], dtype=np.int32)
    low, high = intervals(estimate, whole, width=1.96, non_negative=True)
    assert (low[0], high[0]) == (2**31 - 2 - 20, 2**31 - 2 + 20)
