import numpy as np
import pyarrow as pa
import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.search import Missing, anonymize
from discreet.errors import InvalidInput

STAR = {"x": Hierarchy("x", {"a": ("a", "*"), "b": ("b", "*")})}
FIXED = {"x": Hierarchy("x", {"a": ("a",), "b": ("b",)})}


def _matching(values, trees, **call):
    groups = group_table(pa.table({"x": values}), ["x"])
    return anonymize(groups, trees, missing=Missing.MATCHES, **call)


def test_missing_is_a_value_or_matches():
    """The row without x is alone unless it may be an a or a b."""
    values = ["a", "a", "b", "b", None]
    apart = anonymize(group_table(pa.table({"x": values}), ["x"]), STAR, k=2)
    assert apart.levels == {"x": 1}
    match = _matching(values, STAR, k=2)
    assert match.levels == {"x": 0}
    # a: 2 rows + the missing one; b likewise; the missing one: all five.
    assert match.costs.discernibility == 2 * 3 + 2 * 3 + 5
    assert match.least == 3


def test_who_stays_needs_others_that_stay():
    """At k = 4 the two b and the missing row are too few; that row still matches the a."""
    values = ["a"] * 4 + ["b", "b", None]
    assert _matching(values, FIXED, k=3, suppress=0.5).suppressed == 0
    found = _matching(values, FIXED, k=4, suppress=0.5)
    assert found.suppressed == 2
    assert found.least == 5, "the four a and the missing row hide among each other"


def test_a_hierarchy_that_gives_missing_values_a_label_cannot_match_all():
    tree = Hierarchy("x", {"a": ("a", "known", "*"), "b": ("b", "bad", "*"), "": ("", "bad", "*")})
    with pytest.raises(InvalidInput, match="gives missing values a label"):
        _matching(["a", "b", None], {"x": tree}, k=2)


def test_too_many_patterns_of_missing_cells_are_refused():
    dice = np.random.default_rng(0)
    names = [f"c{i}" for i in range(8)]
    cells = np.where(dice.random((300, 8)) < 0.5, None, dice.choice(["p", "q"], (300, 8)))
    table = pa.table({name: pa.array(list(cells[:, i])) for i, name in enumerate(names)})
    with pytest.raises(InvalidInput, match="too many different combinations"):
        anonymize(group_table(table, names), {}, k=2, missing=Missing.MATCHES)
