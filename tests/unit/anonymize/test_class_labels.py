import numpy as np
import pyarrow as pa
import pytest

from discreet.anonymize.classes import SUPPRESSED, full_domain
from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy, make_ladders
from discreet.anonymize.search import measure

GROUPS = group_table(pa.table({"x": ["a", "a", "b", "c"]}), ["x"])
TREE = {"x": Hierarchy("x", {"a": ("a", "low"), "b": ("b", "low"), "c": ("c", "high")})}
LADDERS = make_ladders(GROUPS, TREE)


def test_classes_are_numbered_without_gaps_and_read_their_labels():
    found = full_domain(GROUPS, LADDERS, (1,), np.array([5, 5, SUPPRESSED]))
    assert found.klass.tolist() == [0, 0, SUPPRESSED]
    assert found.texts(0) == ["low"]
    assert found.sizes.tolist() == [3]
    assert (found.classes, found.suppressed) == (1, 1)


def test_every_measure_counts_suppressed_rows_in_full():
    found = full_domain(GROUPS, LADDERS, (1,), np.array([0, 0, SUPPRESSED]))
    costs = measure(GROUPS, found, weights=(2.0,), levels=(1,))
    assert costs.discernibility == 3 * 3 + 4 * 1
    assert costs.average_class_size == 4 / 2
    assert costs.height == 2.0
    assert costs.loss == pytest.approx((3 * 0.5 + 1) / 4)
    bits = 2 * 1 + 2 + 2
    lost = 2 * np.log2(3 / 2) + np.log2(3) + 2
    assert costs.entropy == pytest.approx(lost / bits)
    assert measure(GROUPS, found, weights=(2.0,), levels=None).height is None


def test_a_column_of_one_value_cannot_lose_bits():
    groups = group_table(pa.table({"x": ["a", "a"]}), ["x"])
    ladders = make_ladders(groups, {"x": Hierarchy("x", {"a": ("a", "*")})})
    found = full_domain(groups, ladders, (1,), np.array([0]))
    assert measure(groups, found, weights=(1.0,), levels=(1,)).entropy == 0.0
