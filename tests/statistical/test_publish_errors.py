"""Errors of a release, level by level, beside other ways; the excerpts need ../shared/data."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.publish_coverage import Covered, covered
from benchmarks.publish_errors import (
    OTHERS,
    OURS,
    WAYS,
    counted,
    level_errors,
    other_ways,
    scaled,
    shared_equally,
    subject_of,
)

from discreet.testing import SeededRng
from discreet.work.publish.reconcile.problem import Sums, problem_of
from discreet.work.publish.reconcile.solve import least_squares

SUBJECTS = {
    "town": ("nation", "county", "region"),
    "national2019.csv": ("nation", "part", "state", "puma"),
    "ma2019.csv": ("nation", "puma"),
}
RUNS = {"town": 1000, "national2019.csv": 60, "ma2019.csv": 200}
"""With a fixed seed there is no chance in it; so many that what is compared is far apart."""


def subject(name: str, folder: Path):
    found = subject_of(name, folder)
    if found is None:
        pytest.skip("../shared/data is not there")
    return found


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", SUBJECTS)
def test_every_level_is_nearer_to_the_truth_than_by_the_other_ways(name, tmp_path, monkeypatch):
    found = level_errors(subject(name, tmp_path), RUNS[name], SeededRng(1))
    assert tuple(level for level, _, _ in found) == SUBJECTS[name]
    for level, _, row in found:
        errors = dict(zip(WAYS, row, strict=True))
        others = [errors[way] for way in OTHERS]
        # Least squares beside the ways that allow negative cells as it does, whole numbers beside all.
        assert errors["least squares"] < min(others[:3]), level
        assert errors["whole numbers"] < min(others), level
    twin = "benchmarks.publish_errors.our_ways"
    monkeypatch.setattr(twin, lambda p: [each[: len(OURS)] for each in other_ways(p.measured)])
    broken = level_errors(subject(name, tmp_path), 3, SeededRng(1))
    assert any(row[-1] >= min(row[: len(OTHERS)]) for _, _, row in broken)


def test_least_squares_has_less_variance_than_each_table_alone_whatever_the_shares(tmp_path):
    town = subject("town", tmp_path)
    family, truth, laws = counted(town.spec, town.toml)
    variances = [law.variance for law in laws]
    estimates, _ = least_squares(problem_of(family, truth, variances))
    for estimate, own in zip(estimates, variances, strict=True):
        assert estimate.variance.max() < own


def two_levels() -> tuple[Sums, Sums]:
    whole = Sums((np.zeros(3, dtype=np.int64),), (1,), np.array([12]), 1.0)
    return whole, Sums((np.arange(3),), (3,), np.array([4, -2, 4]), 1.0)


def test_the_other_ways_do_what_they_are_called():
    whole, parts = two_levels()
    assert shared_equally([parts, whole])[id(parts)].tolist() == [6.0, 0.0, 6.0]
    assert scaled([parts, whole], cut=False)[id(parts)].tolist() == [8.0, -4.0, 8.0]
    assert scaled([parts, whole], cut=True)[id(parts)].tolist() == [6.0, 0.0, 6.0]
    alone, *rest = other_ways([whole, parts])[1]
    assert alone.tolist() == [4, -2, 4]
    assert all(way.sum() == 12 for way in rest)


@pytest.mark.parametrize("delta", [True, False])
def test_intervals_of_the_town_cover(delta: bool, tmp_path):
    levels = covered(subject("town", tmp_path), 100, delta=delta, rng=SeededRng(2))
    assert [each.level for each in levels] == ["nation", "county", "region"]
    assert all(each.mean > 0.94 for each in levels)


def test_a_cell_that_is_covered_too_seldom_is_seen():
    times = np.full(100, 9_600)
    assert Covered("fine", 10_000, times).holds
    assert not Covered("all a little", 10_000, np.full(100, 9_480)).holds
    times[7] = 9_300
    assert not Covered("one cell", 10_000, times).holds
