import math

import numpy as np
import pytest

from discreet.anonymize.diversity import make_histogram
from discreet.anonymize.privacy_models import (
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
