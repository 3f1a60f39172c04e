"""Errors of a release on a real excerpt, level by level; needs ../shared/data, else skips."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.publish_errors import DATA, excerpt, level_errors

NAME = "national2019.csv"
RUNS = 30
"""Squared errors of 2,700 cells and more a level: each root is known to 1.4%, what is compared is at
least 12% apart, so a false alarm has a chance below 1e-6."""


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / NAME).is_file(), reason="../shared/data is not there")
def test_every_level_is_nearer_to_the_truth_than_by_the_other_ways(tmp_path, monkeypatch):
    subject = excerpt(NAME, tmp_path)
    assert subject is not None
    found = level_errors(subject, RUNS)
    assert [name for name, _, _ in found] == ["nation", "part", "state", "puma"]
    for name, _, (alone, scaled, squares, whole) in found:
        assert squares < alone, name
        assert whole < min(alone, scaled), name
    twin = "benchmarks.publish_errors.reconcile"
    monkeypatch.setattr(twin, lambda problem: [_Alone(sums) for sums in problem.measured])
    broken = level_errors(subject, 3)
    assert any(whole > min(alone, scaled) for _, _, (alone, scaled, _, whole) in broken)


class _Alone:
    """A twin that reconciles nothing: what was measured is what is published."""

    def __init__(self, sums):
        self.estimate, self.published, self.values, self.whole = (
            self,
            self,
            sums.values,
            sums.values,
        )
