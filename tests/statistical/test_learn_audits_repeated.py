"""Audits of every learner, repeated: few bounds exceed the claim, and every broken twin's does.

The full count is `python -m benchmarks.learn_audits`. A sound learner fails a count here with a chance of at
most 1e-6: each bound exceeds the truth with at most 5%, whatever the others do.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.learn_audits import CASES, chance_of, counted, read

QUICK = ["bayes", "products (ridge, PCA)", "k-means", "recommender"]
SURE = 1e-6


def kept_claims(found, names):
    """Return the names of those that keep their claim: more above it would be no accident."""
    kept = set()
    for name in names:
        bounds = found[name, False]
        above = sum(bound > CASES[name].claim for bound in bounds)
        if chance_of(above, len(bounds)) > SURE:
            kept.add(name)
    return kept


@pytest.mark.parametrize("name", QUICK)
def test_few_bounds_exceed_the_claim_and_the_twin_is_caught(name, tmp_path):
    found = counted([name], 10, tmp_path / "audits.jsonl")
    assert kept_claims(found, [name]) == {name}
    assert min(found[name, True]) > CASES[name].claim
    # The count would see it: the twin in the place of the learner does not keep the claim.
    twins = [CASES[name].twin() for _ in range(10)]
    assert kept_claims({(name, False): twins}, [name]) == set()


def test_a_count_goes_on_where_it_stopped(tmp_path):
    out = tmp_path / "audits.jsonl"
    first = counted(["recommender"], 3, out)["recommender", False]
    again = counted(["recommender"], 5, out)["recommender", False]
    assert again[:3] == first
    assert len(again) == 5
    assert read(out)["recommender", False] == again


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CASES) - set(QUICK)))
def test_the_slow_ones_too(name, tmp_path):
    found = counted([name], 20, tmp_path / "audits.jsonl")
    assert kept_claims(found, [name]) == {name}
    assert min(found[name, True]) > CASES[name].claim
