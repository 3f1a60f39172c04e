"""What every privacy model promises; adding one to PRIVACY_MODELS adds it here."""

import random

import numpy as np
import pytest

from anonymize_kit import groups_of, random_problem
from discreet.anonymize.classes import whole_distribution
from discreet.anonymize.diversity import make_histogram
from discreet.anonymize.privacy_models import Conditions
from discreet.anonymize.registry import PRIVACY_MODELS, diversities, models_asked
from discreet.anonymize.search import AnonymizeMethod, anonymize
from discreet.base.requests.unpaid import LocalAnonymizeFields

pytestmark = pytest.mark.parametrize("name", PRIVACY_MODELS)


def model_of(name):
    """Return the model as a request asks for it."""
    asked = {"k": 3, "quasi": ("p",), "sensitive": "s", "c": 4.0}
    if name in diversities():
        return models_asked(LocalAnonymizeFields(**asked, l=2, diversity=name))[1]
    if PRIVACY_MODELS[name].option == "--k K":
        return models_asked(LocalAnonymizeFields(**asked))[0]
    return models_asked(LocalAnonymizeFields(**asked, t=0.25))[-1]


def histogram_of(dense):
    klass, codes = np.nonzero(dense)
    whole = np.full(dense.shape[1], 1 / dense.shape[1])
    return make_histogram(klass, codes, dense[klass, codes], classes=len(dense), whole=whole)


def histogram_of_copy(groups, recoding):
    """Return the sensitive values by class, counted row by row."""
    beside = groups.sensitive
    dense = np.zeros((recoding.classes, len(beside.values)), dtype=np.int64)
    klass, codes, rows = recoding.klass, recoding.sensitive, recoding.rows
    if (codes < 0).all():  # whole combinations
        of_group = np.full(groups.combinations, -1)
        of_group[recoding.combination] = klass
        klass, codes, rows = of_group[beside.group], beside.codes, beside.rows
    kept = klass >= 0
    np.add.at(dense, (klass[kept], codes[kept]), rows[kept])
    inside, values = np.nonzero(dense)
    counts = dense[inside, values]
    whole = whole_distribution(groups)
    return make_histogram(inside, values, counts, classes=len(dense), whole=whole)


def test_it_has_a_file_an_option_and_words(name):
    model = model_of(name)
    assert PRIVACY_MODELS[name].words.endswith(".")
    assert type(model).__module__ == PRIVACY_MODELS[name].home.partition(":")[0]
    assert "class" in model.words()


def test_models_are_closed_under_union_and_their_necessary_part_under_supersets(name):
    model, dice = model_of(name), np.random.default_rng(3)
    unions = supersets = 0
    for _ in range(400):
        one, two, rest = dice.integers(0, 5, (3, 4))
        one[dice.integers(4)] += 1
        two[dice.integers(4)] += 1
        histogram = histogram_of(np.stack([one, two, one + two, one + two + rest]))
        good = model.satisfied(histogram.sizes, histogram)
        may = Conditions((model,)).judge(histogram.sizes, histogram).possible
        assert (good.shape, good.dtype) == ((4,), np.bool_)
        assert not (good & ~may).any(), "the necessary part is weaker"
        assert not (good & (histogram.sizes < model.smallest)).any()
        if good[0] and good[1]:
            unions += 1
            assert good[2]
        if may[0]:
            supersets += 1
            assert may[2]
            assert may[3]
    assert min(unions, supersets) > 20


def test_it_is_closed_under_supersets_exactly_if_it_says_so(name):
    model, dice = model_of(name), np.random.default_rng(4)
    broken = 0
    for _ in range(2000):
        one, more = dice.integers(0, 6, (2, 4))
        one[0] += 1
        more[dice.integers(4)] *= 20
        histogram = histogram_of(np.stack([one, one + more]))
        good = model.satisfied(histogram.sizes, histogram)
        broken += bool(good[0] and not good[1])
    assert (broken == 0) is model.superset_closed


@pytest.mark.parametrize("method", AnonymizeMethod)
def test_every_class_of_a_copy_satisfies_it(name, method):
    model, made = model_of(name), 0
    for seed in range(5):
        names, trees, rows = random_problem(random.Random(seed))
        # As many of each sensitive value, so that one class of all rows is always allowed.
        groups = groups_of(names, [(*row[:-1], "xyz"[i % 3]) for i, row in enumerate(rows)])
        tied = model.tied(groups.sensitive, None)
        found = anonymize(groups, trees, k=1, models=(tied,), suppress=0.3, method=method)
        histogram = histogram_of_copy(groups, found.recoding) if tied.needs_sensitive else None
        assert tied.satisfied(found.recoding.sizes, histogram).all()
        assert tied.words() in found.conditions
        made += found.classes
    assert made > 5
