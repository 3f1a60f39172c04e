import math

import numpy as np
import pytest

from discreet.anonymize.criteria.measures import make_histogram
from discreet.anonymize.criteria.models import (
    Closeness,
    Conditions,
    Distance,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    RecursiveDiversity,
)
from discreet.errors import InternalError, InvalidInput

# Three classes: two values evenly, one value only, three values unevenly.
DENSE = np.array([[2, 2, 0], [3, 0, 0], [5, 2, 1]])


def _histogram(dense=DENSE):
    klass, codes = np.nonzero(dense)
    whole = dense.sum(axis=0) / dense.sum()
    return make_histogram(klass, codes, dense[klass, codes], classes=len(dense), whole=whole)


@pytest.mark.parametrize(
    ("model", "satisfied"),
    [
        (KAnonymity(4), [True, False, True]),
        (DistinctDiversity(2), [True, False, True]),
        (DistinctDiversity(3), [False, False, True]),
        (EntropyDiversity(2.0), [True, False, True]),
        (EntropyDiversity(2.5), [False, False, False]),
        (RecursiveDiversity(3.0, 2), [True, False, True]),
        (RecursiveDiversity(1.0, 2), [False, False, False]),
        (RecursiveDiversity(6.0, 3), [False, False, True]),
        (Closeness(0.25), [True, False, True]),
        (Closeness(0.15, Distance.ORDERED), [True, False, True]),
    ],
)
def test_which_classes_satisfy(model, satisfied):
    histogram = _histogram()
    assert model.satisfied(histogram.sizes, histogram).tolist() == satisfied
    assert model.words()


ALL = [
    DistinctDiversity(2),
    EntropyDiversity(1.7),
    RecursiveDiversity(1.5, 2),
    Closeness(0.25),
    Closeness(0.15, Distance.ORDERED),
]


@pytest.mark.parametrize("model", ALL)
def test_models_are_closed_under_union_and_their_necessary_part_under_supersets(model):
    dice = np.random.default_rng(3)
    unions = supersets = 0
    for _ in range(400):
        one, two, rest = dice.integers(0, 5, (3, 4))
        one[dice.integers(4)] += 1
        two[dice.integers(4)] += 1
        histogram = _histogram(np.stack([one, two, one + two, one + two + rest]))
        # Closeness compares with the whole table, so that must be the same for all four.
        good = model.satisfied(histogram.sizes, histogram)
        may = Conditions((model,)).judge(histogram.sizes, histogram).possible
        assert not (good & ~may).any(), "the necessary part is weaker"
        if good[0] and good[1]:
            unions += 1
            assert good[2]
        if may[0]:
            supersets += 1
            assert may[2]
            assert may[3]
    assert min(unions, supersets) > 20


@pytest.mark.parametrize("model", [m for m in ALL if not m.superset_closed])
def test_the_others_are_really_not_closed_under_supersets(model):
    dice = np.random.default_rng(4)
    for _ in range(3000):
        one, more = dice.integers(0, 6, (2, 4))
        one[0] += 1
        histogram = _histogram(np.stack([one, one + more, dice.integers(1, 6, 4)]))
        good = model.satisfied(histogram.sizes, histogram)
        if good[0] and not good[1]:
            return
    pytest.fail("no counterexample: the model could be pruned harder")


@pytest.mark.parametrize(
    "make",
    [
        lambda: KAnonymity(0),
        lambda: KAnonymity(2.5),
        lambda: KAnonymity(True),
        lambda: DistinctDiversity(0),
        lambda: EntropyDiversity(0.5),
        lambda: EntropyDiversity(math.inf),
        lambda: RecursiveDiversity(0.0, 2),
        lambda: RecursiveDiversity(1.0, 0),
        lambda: Closeness(1.5),
        lambda: Closeness(math.nan),
    ],
)
def test_numbers_that_make_no_sense(make):
    with pytest.raises(InvalidInput):
        make()


def test_conditions_hold_together():
    both = Conditions((KAnonymity(4), EntropyDiversity(1.5)))
    assert both.smallest == 4
    assert both.needs_sensitive
    assert not both.superset_closed
    histogram = _histogram()
    verdict = both.judge(histogram.sizes, histogram)
    assert verdict.kept.tolist() == [True, False, True]
    assert verdict.possible.tolist() == [True, False, True]
    assert "at least 4 rows" in both.words()
    with pytest.raises(InternalError):
        both.judge(histogram.sizes, None)
