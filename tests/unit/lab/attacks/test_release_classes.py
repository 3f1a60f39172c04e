import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.homogeneity import (
    ClassKnowledge,
    ClassRelease,
    codes_of,
    read_release,
    release_of,
    without,
)


def people(many=600, seed=0):
    dice = np.random.default_rng(seed)
    return pa.table(
        {
            "age": dice.integers(0, 90, many),
            "sex": np.array(["f", "m"])[dice.integers(0, 2, many)],
            "ill": np.array(["a", "b", "c", "d"])[dice.integers(0, 4, many)],
        }
    )


def test_a_release_by_hand():
    release = ClassRelease.of(np.array([0, 0, 1, -1]), np.array([0, 0, 1, 1]), ("x", "y"))
    assert release.counts.tolist() == [[2, 0], [0, 1]]
    assert release.smallest == 1
    assert release.shares(np.array([0, 2])).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_our_own_anonymizer_makes_classes_of_k():
    table = people()
    release = release_of(table, ("age", "sex"), "ill", values=("a", "b", "c", "d"), k=7)
    assert release.smallest >= 7
    assert release.counts.sum() == 600
    diverse = release_of(
        table, ("age", "sex"), "ill", values=("a", "b", "c", "d"), k=7, diversity=4
    )
    assert ((diverse.counts > 0).sum(axis=1) >= 4).all()


def test_a_file_is_read_as_it_shows():
    table = pa.table(
        {"age": ["0-9", "0-9", "10-19", None], "sex": ["*"] * 4, "ill": ["a", "b", "a", "a"]}
    )
    release = read_release(table, ("age", "sex"), "ill")
    assert release.values == ("a", "b")
    assert sorted(release.counts.tolist()) == [[1, 0], [1, 0], [1, 1]]


def test_knowledge_counts():
    beliefs = np.array([[1.0, 0.0], [0.95, 0.05], [0.6, 0.4], [0.5, 0.5]])
    known = ClassKnowledge.of(beliefs, np.array([0, 1, 0, 1]))
    assert (known.people, known.right, known.certain, known.nearly) == (4, 2, 1, 2)
    assert known.shares()["known for certain"] == 0.25


def test_background_knowledge_never_rules_out_the_truth():
    dice = np.random.default_rng(0)
    beliefs = dice.dirichlet(np.ones(5), 300) * (dice.random((300, 5)) < 0.7)
    truth = dice.integers(0, 5, 300)
    beliefs[np.arange(300), truth] += 0.1
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    for excluded in (1, 2, 9):
        left = without(beliefs, truth, excluded=excluded, dice=dice)
        assert left.sum(axis=1) == pytest.approx(np.ones(300))
        assert (left[np.arange(300), truth] >= beliefs[np.arange(300), truth] - 1e-12).all()
        gone = (beliefs > 0).sum(axis=1) - (left > 0).sum(axis=1)
        assert (gone == np.minimum(excluded, (beliefs > 0).sum(axis=1) - 1)).all()


def test_unknown_secrets_are_not_echoed():
    with pytest.raises(InvalidInput) as caught:
        codes_of(pa.chunked_array([["SECRET"]]), ("a",))
    assert "SECRET" not in str(caught.value)
