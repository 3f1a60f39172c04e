from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet.anonymize.classes import SUPPRESSED, ClassLabels, Recoding
from discreet.anonymize.groups import group_table
from discreet.anonymize.recoding import combinations, entries, recoded, smallest_class
from discreet.errors import InternalError


def table():
    return pa.table(
        {
            "zip": ["b", "a", None, "a", "b", "a"],
            "age": [2.0, 1.0, float("nan"), 1.0, 2.0, 3.0],
            "ill": ["x", "y", "x", "x", "y", "y"],
        }
    )


def labels(*texts):
    return ClassLabels(texts, np.zeros(len(texts)), np.zeros(len(texts), dtype=np.int64))


def test_each_row_finds_its_combination():
    groups = group_table(table(), ["zip", "age"])
    place = combinations(table(), groups)
    for i, row in enumerate(table().to_pylist()):
        value = groups.values[0][groups.codes[0, place[i]]]
        assert value == row["zip"]
    assert np.array_equal(np.bincount(place), groups.rows)


def test_a_row_that_was_not_counted_is_our_mistake():
    groups = group_table(table().slice(0, 3), ["zip", "age"])
    with pytest.raises(InternalError, match="not counted"):
        combinations(table(), groups)


def one_level(groups, klass):
    n = groups.combinations
    return Recoding(
        np.arange(n),
        np.full(n, -1),
        np.asarray(klass),
        groups.rows,
        (labels("ab", ""), labels("low", "high")),
        np.array([[0, 1], [0, 1]]),
    )


def test_labels_stand_in_the_copy_and_suppressed_rows_do_not():
    groups = group_table(table(), ["zip", "age"])
    place = combinations(table(), groups)
    klass = np.zeros(groups.combinations, dtype=np.int64)
    klass[place[5]] = SUPPRESSED  # the one of age 3
    klass[place[2]] = 1  # the one whose zip is missing
    copy = recoded(table(), groups, one_level(groups, klass))
    assert copy.num_rows == 5
    assert copy.column("zip").to_pylist() == ["ab", "ab", "ab", "ab", None]
    assert copy.column("age").to_pylist() == ["low"] * 4 + ["high"]
    # Sorted by the rest: the order of the original is gone.
    assert copy.column("ill").to_pylist() == ["x", "x", "y", "y", "x"]


def test_an_untouched_column_keeps_its_type():
    groups = group_table(table(), ["zip", "age"])
    klass = np.zeros(groups.combinations, dtype=np.int64)
    copy = recoded(table(), groups, one_level(groups, klass), untouched=["age"])
    assert pa.types.is_floating(copy.schema.field("age").type)


def test_the_order_of_the_rows_does_not_matter():
    groups = group_table(table(), ["zip", "age"])
    klass = np.zeros(groups.combinations, dtype=np.int64)
    one = recoded(table(), groups, one_level(groups, klass))
    other = recoded(table().take([5, 3, 1, 0, 2, 4]), groups, one_level(groups, klass))
    assert one.equals(other)


def test_a_combination_may_be_split_by_its_sensitive_values():
    rows = pa.table({"zip": ["a"] * 4, "ill": ["x", "y", "x", "y"]})
    groups = group_table(rows, ["zip"], sensitive="ill")
    split = Recoding(
        np.array([0, 0, 0]),
        np.array([0, 1, 1]),
        np.array([0, 0, 1]),
        np.array([2, 1, 1]),
        (labels("first", "second"),),
        np.array([[0, 1]]),
    )
    place = split.klass[entries(rows, groups, split)]
    assert sorted(zip(rows.column("ill").to_pylist(), place.tolist(), strict=True)) == [
        ("x", 0),
        ("x", 0),
        ("y", 0),
        ("y", 1),
    ]
    short = Recoding(
        np.array([0]), np.array([-1]), np.array([0]), np.array([3]), split.labels, split.cells
    )
    with pytest.raises(InternalError, match="another number of rows"):
        entries(rows, groups, short)


def test_both_zeros_are_one_value():
    counted = group_table(pa.table({"zip": ["a"], "age": [0.0]}), ["zip", "age"])
    rows = pa.table({"zip": ["a", "a"], "age": [-0.0, 0.0]})
    assert combinations(rows, counted).tolist() == [0, 0]
    with pytest.raises(InternalError, match="not counted"):
        combinations(pa.table({"zip": ["a"], "age": [-1.0]}), counted)


def test_spellings_of_one_value_are_one_in_the_copy_and_counted_as_they_stand():
    """0.0 and -0.0, NaN and NULL, and decimals that one float stands for were counted as one value."""
    near = [Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002")]
    rows = pa.table(
        {
            "x": pa.array([0.0, -0.0, float("nan"), None]),
            "d": pa.array([*near, *near]),
        }
    )
    counted = rows.set_column(0, "x", pa.array([0.0, 0.0, None, None]))  # as GROUP BY counts
    for quasi, most in ((["x"], 2), (["d"], 4), (["x", "d"], 2)):
        groups = group_table(counted, quasi)
        n = groups.combinations
        names = tuple(labels(*map(str, range(n))) for _ in quasi)
        same = Recoding(
            np.arange(n), np.full(n, -1), np.arange(n), groups.rows, names, np.zeros((2, n), int)
        )
        copy = recoded(rows, groups, same, untouched=quasi)
        assert smallest_class(copy, quasi) == most
        assert copy.schema.field(quasi[0]).type == rows.schema.field(quasi[0]).type
        # The twin writes every cell as it was: what was counted as one class is written as several.
        assert smallest_class(rows, quasi) < most


def test_where_missing_matches_a_row_looks_like_all_that_it_could_be():
    copy = pa.table({"a": ["x", "x", None, "y"], "b": ["1", None, "1", "1"]})
    assert smallest_class(copy, ["a", "b"]) == 1
    # (y, 1) looks like itself and (missing, 1); (x, 1) like the two others with a missing cell too.
    assert smallest_class(copy, ["a", "b"], matching=True) == 2
