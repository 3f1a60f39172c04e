import pyarrow as pa
import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy, make_ladders
from discreet.errors import InvalidInput

GROUPS = group_table(pa.table({"x": ["a", "b", "b", None], "n": [1, 2, 3, 4]}), ["x", "n"])
TREE = Hierarchy("x", {v: (v, p, "*") for v, p in (("a", "1"), ("b", "1"), ("c", "2"))})


def test_labels_shares_and_rows_of_each_level():
    ladder = make_ladders(GROUPS, {"x": TREE})[0]
    assert [rung.labels for rung in ladder.rungs] == [("a", "b", ""), ("1", ""), ("*",)]
    assert [rung.share.tolist() for rung in ladder.rungs] == [[0, 0, 0], [0.5, 0], [1]]
    assert [rung.mass.tolist() for rung in ladder.rungs] == [[1, 2, 1], [3, 1], [4]]
    assert ladder.levels == 3


def test_columns_without_a_hierarchy_get_one():
    assert make_ladders(GROUPS, {"x": TREE})[1].rungs[-1].labels == ("*",)


def test_a_value_that_is_not_covered_is_counted_but_not_shown():
    small = Hierarchy("x", {"b": ("b", "*")})
    with pytest.raises(InvalidInput, match="does not cover 1 of the values") as refused:
        make_ladders(GROUPS, {"x": small})
    assert "'a'" not in str(refused.value)
