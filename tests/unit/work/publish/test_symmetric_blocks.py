"""Variances of crossed tables are those of least squares, at any number of leaf cells."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from scipy.linalg import null_space

from discreet.work.publish.prepare import _measured
from discreet.work.publish.reconcile import least_squares as crossed_groupings
from discreet.work.publish.reconcile import least_squares as symmetric_blocks
from discreet.work.publish.reconcile.least_squares import (
    SymmetricBlocks,
    bounded_variances,
    sampled_widening,
)
from discreet.work.publish.reconcile.problem import GridProblem, Sums
from discreet.work.publish.reconcile.solve import least_squares, widening
from discreet.work.publish.rehearse import expected_error
from sittings import FULL


def random_sums(leaf, dice, *, variance: float, holes: bool) -> Sums:
    maps, shape = [], []
    for size in leaf:
        match dice.integers(5):
            case 0:
                classes = np.zeros(size, dtype=np.int64)
            case 1 | 2:
                classes = np.arange(size)
            case _:
                classes = dice.integers(0, dice.integers(1, min(size, 4) + 1), size)
        if holes and dice.random() < 0.2:
            classes = np.where(dice.random(size) < 0.3, -1, classes)
        names = np.unique(classes[classes >= 0])
        classes = np.where(classes < 0, -1, np.searchsorted(names, classes))
        maps.append(classes)
        shape.append(max(1, int(classes.max()) + 1))
    return Sums(tuple(maps), tuple(shape), np.zeros(shape, dtype=np.int64), variance)


def random_problem(leaf, seed: int) -> GridProblem:
    dice = np.random.default_rng(seed)
    zero = None
    if seed % 3 == 0:  # a rule: a product of values, as they are written
        zero = np.zeros(leaf, dtype=bool)
        zero[np.ix_(*[dice.random(n) < 0.3 for n in leaf])] = True
    measured = [
        random_sums(leaf, dice, variance=float(10 ** dice.uniform(-1, 2)), holes=seed % 2 == 1)
        for _ in range(dice.integers(2, 5))
    ]
    exact = [random_sums(leaf, dice, variance=0.0, holes=False) for _ in range(seed % 4)]
    return GridProblem(leaf, tuple(measured), tuple(exact), zero)


def dense(problem: GridProblem) -> list[np.ndarray]:
    """Return all variances from whole matrices."""
    size = int(np.prod(problem.leaf))
    open_ = np.ones(size, dtype=bool) if problem.zero is None else ~problem.zero.reshape(-1)

    def matrix(sums: Sums) -> np.ndarray:
        parts = [
            (np.arange(n)[:, None] == classes[None, :]).astype(float)
            for classes, n in zip(sums.maps, sums.shape, strict=True)
        ]
        return reduce(np.kron, parts)[:, open_]

    free = np.eye(int(open_.sum()))
    if problem.exact:
        free = null_space(np.concatenate([matrix(each) for each in problem.exact]))
    rows = [matrix(each) for each in problem.measured]
    inside = np.concatenate(
        [a @ free / np.sqrt(s.variance) for a, s in zip(rows, problem.measured, strict=True)]
    )
    if not free.shape[1]:
        return [np.zeros(each.shape) for each in problem.measured]
    left, lengths, _ = np.linalg.svd(inside, full_matrices=False)
    kept = lengths > 1e-9 * max(1 / np.sqrt(s.variance) for s in problem.measured)
    leverage = np.square(left[:, kept]).sum(axis=1)
    found, start = [], 0
    for sums in problem.measured:
        count = int(np.prod(sums.shape))
        found.append(sums.variance * leverage[start : start + count].reshape(sums.shape))
        start += count
    return found


GRIDS = [(3, 4, 2), (5, 5), (4, 1, 6), (12, 7, 6), (25, 22), (9, 8, 8)]


@pytest.mark.parametrize("leaf", GRIDS, ids=str)
@pytest.mark.parametrize("seed", range(24 if FULL else 8))
def test_variances_are_those_of_a_dense_solution(leaf, seed: int):
    problem = random_problem(leaf, seed)
    for sums, found, wanted in zip(
        problem.measured, SymmetricBlocks(problem).variances(), dense(problem), strict=True
    ):
        assert np.allclose(found, wanted, rtol=1e-7, atol=1e-9 * sums.variance)


@pytest.mark.parametrize("leaf", [(12, 7, 6), (25, 22)], ids=str)
def test_the_bounds_of_before_fail_this_test(leaf):
    worst = 1.0
    for seed in range(8):
        problem = random_problem(leaf, seed)
        for bound, wanted in zip(bounded_variances(problem), dense(problem), strict=True):
            assert (bound >= wanted * (1 - 1e-7) - 1e-12).all()
            known = wanted > 1e-9
            worst = max(worst, float(np.sqrt((bound[known] / wanted[known]).max(initial=1.0))))
    assert worst > 1.2


def crossed(leaf, *, coarse: int) -> GridProblem:
    """Return tables by each pair of dimensions, and one by classes of unequal sizes of each."""
    dice = np.random.default_rng(0)
    whole = [np.zeros(n, dtype=np.int64) for n in leaf]
    classes = [
        np.unique(np.sort(dice.integers(0, coarse, n)), return_inverse=True)[1] for n in leaf
    ]
    tables = [
        tuple(np.arange(n) if d != left else whole[d] for d, n in enumerate(leaf))
        for left in range(len(leaf))
    ]
    tables.append(tuple(classes))
    return GridProblem(leaf, tuple(sums(maps, 1.0 + t) for t, maps in enumerate(tables)))


def sums(maps, variance: float) -> Sums:
    shape = tuple(int(each.max()) + 1 for each in maps)
    return Sums(maps, shape, np.zeros(shape, dtype=np.int64), variance)


def test_large_grids_are_exact(monkeypatch):
    problem = crossed((100, 100, 100) if FULL else (40, 40, 40), coarse=6)
    assert widening(problem) is None
    found = SymmetricBlocks(problem).variances()
    # Some cells by another way: conjugate gradients on the whole grid say the same.
    monkeypatch.setattr(
        "discreet.work.publish.reconcile.least_squares.bounded_variances", lambda _: found
    )
    assert sampled_widening(problem).factor == pytest.approx(1.0, abs=1e-3)


WIDTHS = {12: (1, 2, 4, 12), 6: (1, 3, 6), 4: (1, 2, 4)}
"""Of bins of which the narrow ones lie in the wide ones, by the size of a dimension."""


def of_equal_width(leaf, dice) -> tuple[np.ndarray, ...]:
    """Return a random grouping of each dimension: single values, bins, or all in one."""
    return tuple(np.arange(size) // int(dice.choice(WIDTHS[size])) for size in leaf)


def binned(leaf, seed: int) -> GridProblem:
    """Return random tables and facts over bins of equal width, one inside of the other."""
    dice = np.random.default_rng(seed)
    tables = [sums(of_equal_width(leaf, dice), 1.0 + t) for t in range(dice.integers(2, 5))]
    facts = [sums(of_equal_width(leaf, dice), 0.0) for _ in range(seed % 3)]
    return GridProblem(leaf, tuple(tables), tuple(facts))


@pytest.mark.parametrize("seed", range(40 if FULL else 12))
def test_dimensions_whose_bins_commute_need_no_dense_block(seed: int):
    problem = binned((12, 6, 4), seed)
    blocks = SymmetricBlocks(problem)
    assert blocks.unknowns == 1
    for found, wanted in zip(blocks.variances(), dense(problem), strict=True):
        assert np.allclose(found, wanted, rtol=1e-7, atol=1e-9)


def test_bins_that_do_not_commute_are_not_taken_apart(monkeypatch):
    """The twin takes the eigenvectors of one combination for those of all groupings."""
    leaf = (12, 9)
    unequal = [
        np.array([0] * 7 + [1] * 3 + [2] * (n - 10)) if n > 10 else np.arange(n) // 4 for n in leaf
    ]
    whole = [np.zeros(n, dtype=np.int64) for n in leaf]
    single = [np.arange(n) for n in leaf]
    tables = [
        (unequal[0], single[1]),
        (single[0], unequal[1]),
        (whole[0], single[1]),
        (single[0], whole[1]),
    ]
    problem = GridProblem(leaf, tuple(sums(maps, 1.0 + t) for t, maps in enumerate(tables)))
    blocks, wanted = SymmetricBlocks(problem), dense(problem)
    assert blocks.unknowns > 1
    assert all(np.allclose(a, b) for a, b in zip(blocks.variances(), wanted, strict=True))
    monkeypatch.setattr(symmetric_blocks, "_DIAGONAL", float("inf"))
    wrong = SymmetricBlocks(problem)
    assert wrong.unknowns == 1
    assert not all(np.allclose(a, b) for a, b in zip(wrong.variances(), wanted, strict=True))


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_a_limit_on_kinds_leaves_the_rest_to_a_dense_block(monkeypatch, most: int):
    problem = binned((12, 6, 4), 5)
    whole = SymmetricBlocks(problem).variances()
    monkeypatch.setattr(symmetric_blocks, "MOST_KINDS", most)
    part = SymmetricBlocks(problem)
    assert part.unknowns > 1 or most >= 5
    assert all(np.allclose(a, b) for a, b in zip(part.variances(), whole, strict=True))


def in_unequal_bins(groups: int, tens: int) -> GridProblem:
    """Return two dimensions in bins that do not commute, beside dimensions in bins that do."""
    dice = np.random.default_rng(0)
    fine = np.repeat(np.arange(groups), dice.integers(1, 4, groups))
    coarse = np.unique(np.minimum(fine // 3, fine // 4 + 1), return_inverse=True)[1]
    single, eight = np.arange(len(fine)), np.arange(8)
    tables = [
        (single, coarse, *[eight // 8] * tens),
        (fine, fine, *[eight] * tens),
        (coarse, single, *[eight // 2] * tens),
        (fine, coarse, *[eight // 4] * tens),
    ]
    leaf = (len(fine), len(fine), *[8] * tens)
    return GridProblem(leaf, tuple(sums(maps, 1.0 + t) for t, maps in enumerate(tables)))


@pytest.mark.parametrize(
    ("groups", "tens", "fits"), [(36, 0, True), (36, 1, True), (36, 2, False), (12, 3, True)]
)
def test_many_large_blocks_are_not_solved(groups: int, tens: int, fits: bool):
    blocks = SymmetricBlocks(in_unequal_bins(groups, tens))
    assert blocks.unknowns <= crossed_groupings.MOST_UNKNOWNS  # which alone was asked before
    assert blocks.fits == fits


def test_the_planned_work_is_what_is_done(monkeypatch):
    done = 0

    def counted(measured, weights, exact):
        nonlocal done
        done += max(measured[0].shape[1], crossed_groupings.LEAST_UNKNOWNS) ** 3
        return solved(measured, weights, exact)

    solved = crossed_groupings.block_variances
    monkeypatch.setattr(crossed_groupings, "block_variances", counted)
    monkeypatch.setattr(crossed_groupings, "LEAST_UNKNOWNS", 1)
    for problem in [in_unequal_bins(6, 1), binned((12, 6, 4), 5)] + [
        random_problem((12, 7, 6), seed) for seed in range(12)
    ]:
        done = 0
        blocks = SymmetricBlocks(problem)
        blocks.variances()
        assert done <= blocks.work


def test_large_grids_in_tens_are_exact(monkeypatch):
    """Half a million cells with 2,000 groups, which are too many for a dense block."""
    leaf, single = (100, 100, 50), [np.arange(n) for n in (100, 100, 50)]
    bins = [single[0] // 10, single[1] // 5, single[2] // 5]
    tables = [[bins[e] if e == d else single[e] for e in range(3)] for d in range(3)]
    problem = GridProblem(leaf, tuple(sums(tuple(maps), 1.0 + t) for t, maps in enumerate(tables)))
    blocks = SymmetricBlocks(problem)
    assert np.prod([len(axis.sizes) for axis in blocks._axes]) == 2000
    assert widening(problem) is None
    found = blocks.variances()
    monkeypatch.setattr(symmetric_blocks, "bounded_variances", lambda _: found)
    monkeypatch.setattr(symmetric_blocks, "LEAST_MEASURED", 1)
    assert sampled_widening(problem).factor == pytest.approx(1.0, abs=1e-6)


def test_intervals_use_the_exact_variances_and_exact_facts():
    leaf = (25, 22)
    same, whole = [np.arange(n) for n in leaf], [np.zeros(n, dtype=np.int64) for n in leaf]
    halves = [np.arange(n) % 2 for n in leaf]
    measured = (sums((same[0], halves[1]), 4.0), sums((halves[0], same[1]), 9.0))
    fact = Sums((same[0], whole[1]), (25, 1), np.zeros((25, 1), dtype=np.int64), 0.0)
    problem = GridProblem(leaf, measured, (fact,))
    estimates, _ = least_squares(problem)
    for estimate, wanted in zip(estimates, dense(problem), strict=True):
        assert np.allclose(estimate.variance, wanted)
    # A row of two cells with a known sum: both have half the variance, at most.
    assert estimates[0].variance.max() <= 2.0 + 1e-9


def test_beyond_the_limit_the_factor_is_measured(monkeypatch):
    problem = crossed((12, 10, 8), coarse=4)
    monkeypatch.setattr(crossed_groupings, "MOST_UNKNOWNS", 10)
    ratios = [
        np.sqrt(bound / exact).reshape(-1)
        for bound, exact in zip(bounded_variances(problem), dense(problem), strict=True)
    ]
    cells = sum(r.size for r in ratios)
    monkeypatch.setattr(crossed_groupings, "MEASURED_WORK", 10**9)
    found = widening(problem)
    assert found is not None
    assert (found.measured, found.cells) == (cells, cells)
    assert found.factor == pytest.approx(max(r.max() for r in ratios), rel=1e-3)
    assert _measured(found).startswith("They are up to")
    monkeypatch.setattr(crossed_groupings, "MEASURED_WORK", 1)
    some = widening(problem)
    assert some is not None
    assert some.measured == 3 * len(ratios)
    assert "at others it may be more" in _measured(some)
    monkeypatch.setattr(crossed_groupings, "ONE_MEASURED_FROM", 10)
    one = widening(problem)
    assert one is not None
    assert one.measured == len(ratios)
    assert "at others it may be more" in _measured(one)


def test_blocks_of_contrasts_are_not_left_out(monkeypatch):
    # A twin that solves only the means over groups says too little.
    problem = crossed((12, 10, 8), coarse=4)
    monkeypatch.setattr(symmetric_blocks.SymmetricBlocks, "_kinds", lambda *_: [])
    found = SymmetricBlocks(problem).variances()
    assert any((a < 0.9 * b).any() for a, b in zip(found, dense(problem), strict=True))


def test_expected_errors_are_those_of_many_draws():
    dice = np.random.default_rng(0)
    cells = np.array([0, 1, 3, 10, 1000])
    variance = np.array([9.0, 4.0, 25.0, 9.0, 16.0])
    draws = cells + np.sqrt(variance) * dice.standard_normal((400_000, 5))
    for cut in (False, True):
        seen = np.maximum(draws, 0) if cut else draws
        wanted = float(np.sqrt(np.square(seen - cells).mean()))
        assert expected_error(cells, variance, non_negative=cut) == pytest.approx(wanted, rel=0.01)
