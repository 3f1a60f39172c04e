import pyarrow as pa
import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy, make_ladders
from discreet.anonymize.registry import COSTS
from discreet.anonymize.search import anonymize, make_cost
from discreet.errors import InvalidInput

ROWS = pa.table({"x": ["a", "a", "b", "b"], "y": ["c", "d", "c", "d"]})
STARS = {
    "x": Hierarchy("x", {"a": ("a", "*"), "b": ("b", "*")}),
    "y": Hierarchy("y", {"c": ("c", "*"), "d": ("d", "*")}),
}
GROUPS = group_table(ROWS, ["x", "y"])


@pytest.mark.parametrize("cost", [COSTS["height"], COSTS["loss"], COSTS["entropy"]])
def test_weights_say_which_column_to_spare(cost):
    """Either column may be starred; the heavier one is kept."""
    spare_x = anonymize(GROUPS, STARS, k=2, cost=cost, weights={"x": 3.0})
    assert spare_x.levels == {"x": 0, "y": 1}
    spare_y = anonymize(GROUPS, STARS, k=2, cost=cost, weights={"y": 3.0})
    assert spare_y.levels == {"x": 1, "y": 0}


def test_the_worked_costs():
    found = anonymize(GROUPS, STARS, k=2, cost=COSTS["loss"], weights={"x": 3.0})
    assert found.costs.discernibility == 8
    assert found.costs.average_class_size == 2
    assert found.costs.height == 1
    assert found.costs.loss == pytest.approx(1 / 4)
    assert found.costs.entropy == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("cost", "weights", "said"),
    [
        (COSTS["discernibility"], {"x": 2.0}, "change nothing"),
        (COSTS["classes"], {"x": 2.0}, "change nothing"),
        (COSTS["loss"], {"z": 2.0}, "no quasi-identifier"),
        (COSTS["loss"], {"x": -1.0}, "zero or above"),
        (COSTS["loss"], {"x": float("nan")}, "zero or above"),
        (COSTS["loss"], {"x": 0.0, "y": 0.0}, "All weights are zero"),
    ],
)
def test_weights_that_make_no_sense(cost, weights, said):
    with pytest.raises(InvalidInput, match=said):
        make_cost(cost, GROUPS, make_ladders(GROUPS, STARS), weights)
