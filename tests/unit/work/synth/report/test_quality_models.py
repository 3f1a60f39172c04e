"""Models from tables of counts give what models from rows give."""

import numpy as np
import pytest

from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape
from discreet.work.synth.report.quality import accuracy, classifier, features, regression

SHAPE = Shape(("x", "kind", "y"), (5, 3, 6))
LABELS = (("0", "1", "2", "3", "4"), ("a", "b", "c"), tuple("012345"))
CENTRES = (np.arange(5.0), None, np.array([0.0, 1, 2, 3, 4, np.nan]))


def rows(count=4000):
    dice = np.random.default_rng(5)
    x, kind = dice.integers(0, 5, count), dice.integers(0, 3, count)
    y = np.clip(np.rint(0.6 * x + (kind == 2) + dice.normal(0, 0.7, count)), 0, 4)
    return np.stack([x, kind, y], axis=1).astype(np.int32)


def table_of(codes):
    counter = MemoryCounter(codes, SHAPE)
    return lambda columns: counter.marginals([columns])[0]


def parts(codes, column):
    common = np.bincount(codes[:, column], minlength=SHAPE.sizes[column]) / len(codes)
    return features(column, SHAPE, CENTRES, LABELS[column], common)


def test_regression_from_tables_is_least_squares_over_rows():
    codes = rows()
    target = parts(codes, 2)[0]
    given = [*parts(codes, 0), *parts(codes, 1)]
    design = np.column_stack([np.ones(len(codes)), *(f.values[codes[:, f.column]] for f in given)])
    over_rows, *_ = np.linalg.lstsq(design, target.values[codes[:, 2]], rcond=None)
    assert regression(table_of(codes), target, given) == pytest.approx(over_rows, abs=1e-4)


def test_numbers_are_standardised_and_missing_ones_stand_in_the_middle():
    codes = rows()
    feature = parts(codes, 2)[0]
    assert feature.values[5] == 0
    assert np.std(feature.values[codes[:, 2]]) == pytest.approx(1)


def test_the_commonest_category_is_the_base_and_rare_ones_have_no_coefficient():
    common = np.array([0.6, 0.395, 0.005])
    found = features(1, SHAPE, CENTRES, LABELS[1], common)
    assert [feature.name for feature in found] == ["kind = b"]


def test_a_constant_column_has_no_feature():
    assert features(0, SHAPE, CENTRES, LABELS[0], np.array([1.0, 0, 0, 0, 0])) == []


def test_the_classifier_finds_the_best_code_of_separable_cells():
    joint = np.zeros((4, 2))
    joint[[0, 1], 0] = 10
    joint[[2, 3], 1] = 10
    predicted = classifier(joint, 1)
    assert predicted.tolist() == [0, 0, 1, 1]
    assert accuracy(joint, 1, predicted) == 1


def test_the_classifier_predicts_any_axis_and_cells_without_rows():
    codes = rows()
    joint = np.zeros((5, 3, 6))
    np.add.at(joint, tuple(codes.T), 1)
    for axis in range(3):
        predicted = classifier(joint, axis)
        guessing = joint.sum(axis=tuple(i for i in range(3) if i != axis)).max() / len(codes)
        assert accuracy(joint, axis, predicted) > guessing
    joint[0] = 0
    assert len(classifier(joint, 2)) == 15


def test_learning_from_noise_is_no_better_than_guessing():
    codes = rows()
    joint = np.zeros((5, 3, 6))
    np.add.at(joint, tuple(codes.T), 1)
    shuffled = np.zeros_like(joint)
    mixed = codes.copy()
    mixed[:, 2] = np.random.default_rng(0).permutation(mixed[:, 2])
    np.add.at(shuffled, tuple(mixed.T), 1)
    good = accuracy(joint, 2, classifier(joint, 2))
    assert accuracy(joint, 2, classifier(shuffled, 2)) < good - 0.1
