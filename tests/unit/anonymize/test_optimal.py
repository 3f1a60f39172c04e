from functools import partial

import pyarrow as pa
import pyarrow.csv
import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.privacy_models import Closeness, DistinctDiversity
from discreet.anonymize.registry import COSTS
from discreet.anonymize.search import AnonymizeMethod, Missing, anonymize
from discreet.errors import InvalidInput

PEERS_ORDER = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
]


@pytest.fixture(scope="module")
def adult_groups(adult):
    options = pyarrow.csv.ParseOptions(delimiter=";")
    table = pyarrow.csv.read_csv(adult, parse_options=options)
    return group_table(table, PEERS_ORDER, sensitive="salary-class")


@pytest.fixture(scope="module")
def adult_trees(adult):
    return read_hierarchies(adult.parent / "adult_hierarchies", PEERS_ORDER)


with_full_counts = partial(pytest.param, marks=pytest.mark.slow)
"""Each cost has one of its two optima in every run, and some of them leave rows out, some do not."""


@pytest.mark.parametrize(
    ("cost", "suppress", "levels", "suppressed", "classes"),
    [
        with_full_counts(COSTS["discernibility"], 0.0, (1, 1, 1, 2, 3, 2, 2, 1), 0, 45),
        (COSTS["discernibility"], 0.02, (0, 0, 1, 2, 3, 2, 2, 1), 105, 356),
        (COSTS["height"], 0.0, None, 0, None),
        with_full_counts(COSTS["height"], 0.02, None, None, None),
        with_full_counts(COSTS["classes"], 0.0, None, 0, 48),
        (COSTS["classes"], 0.02, None, 419, 636),
    ],
)
def test_adult_has_the_known_optima(
    adult_groups, adult_trees, cost, suppress, levels, suppressed, classes
):
    """The optima that ARX finds on the same rows, hierarchies and cost models."""
    found = anonymize(adult_groups, adult_trees, k=5, suppress=suppress, cost=cost)
    known = {
        (COSTS["discernibility"], 0.0): found.costs.discernibility == 33_627_534,
        (COSTS["discernibility"], 0.02): found.costs.discernibility == 7_220_555,
        (COSTS["height"], 0.0): found.costs.height == 13,
        (COSTS["height"], 0.02): found.costs.height == 9,
        (COSTS["classes"], 0.0): found.costs.average_class_size == 628.375,
        (COSTS["classes"], 0.02): round(found.costs.average_class_size, 2) == 47.35,
    }
    assert known[cost, suppress]
    assert found.optimal
    assert found.nodes == 6480
    assert found.least >= 5
    assert levels is None or tuple(found.levels.values()) == levels
    assert suppressed is None or found.suppressed == suppressed
    assert classes is None or found.classes == classes
    # Far from brute force: at most a quarter of the lattice was looked at.
    assert found.evaluated < found.nodes / 4


@pytest.fixture(scope="module")
def least_loss(adult_groups, adult_trees):
    return anonymize(adult_groups, adult_trees, k=5, suppress=0.02, cost=COSTS["loss"]).costs.loss


@pytest.mark.parametrize(
    "method", [AnonymizeMethod.MONDRIAN, AnonymizeMethod.RELAXED, AnonymizeMethod.LOCAL]
)
def test_adult_by_the_other_methods(adult_groups, adult_trees, least_loss, method):
    found = anonymize(
        adult_groups, adult_trees, k=5, suppress=0.02, cost=COSTS["loss"], method=method
    )
    assert found.least >= 5
    assert found.levels is None
    assert not found.optimal
    assert found.costs.loss < least_loss
    assert found.costs.discernibility < 1_000_000
    assert found.recoding.sizes.sum() + found.suppressed == 30_162


ROWS = pa.table(
    {
        "x": ["a", "a", "b", "b", None],
        "y": ["c", "d", "c", "d", "c"],
        "s": ["1", "1", "2", "2", "2"],
    }
)
GROUPS = group_table(ROWS, ["x", "y"], sensitive="s")
PLAIN = group_table(ROWS, ["x", "y"])
STARS = {
    "x": Hierarchy("x", {"a": ("a", "*"), "b": ("b", "*")}),
    "y": Hierarchy("y", {"c": ("c", "*"), "d": ("d", "*")}),
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"k": 6}, "A class needs 6 rows, but the table has fewer"),
        ({"k": 0}, "k must be a whole number"),
        ({"suppress": -0.1}, "between 0 and 1"),
        ({"suppress": float("nan")}, "between 0 and 1"),
        ({"seconds": 0}, "above 0 seconds"),
        ({"models": [Closeness(0.01)], "hierarchies": {}}, "sensitive column"),
        ({"missing": Missing.MATCHES, "method": AnonymizeMethod.LOCAL}, "value of its own"),
        ({"missing": Missing.MATCHES, "models": [DistinctDiversity(2)], "groups": GROUPS}, "alone"),
    ],
)
def test_what_makes_no_sense_is_said(change, said):
    call = {"groups": PLAIN, "hierarchies": STARS, "k": 2} | change
    with pytest.raises(InvalidInput, match=said):
        anonymize(call.pop("groups"), call.pop("hierarchies"), **call)


def test_no_allowed_node_is_said():
    with pytest.raises(InvalidInput, match="not even the coarsest"):
        anonymize(GROUPS, STARS, k=2, models=[DistinctDiversity(3)])
    with pytest.raises(InvalidInput, match="whole table as one class"):
        anonymize(
            GROUPS, STARS, k=2, models=[DistinctDiversity(3)], method=AnonymizeMethod.MONDRIAN
        )


def test_never_all_rows_are_suppressed():
    open_ended = {"x": STARS["x"], "y": Hierarchy("y", {"c": ("c",), "d": ("d",)})}
    found = anonymize(PLAIN, open_ended, k=3, suppress=1.0)
    assert found.suppressed < 5
    lonely = group_table(pa.table({"x": ["a", "b"]}), ["x"])
    tree = {"x": Hierarchy("x", {"a": ("a",), "b": ("b",)})}
    with pytest.raises(InvalidInput, match="not even the coarsest"):
        anonymize(lonely, tree, k=2, suppress=1.0)


def test_progress_is_told():
    told = []
    anonymize(PLAIN, STARS, k=2, progress=lambda *step: told.append(step))
    assert told[-1] == (4, 4, "nodes of the lattice")
    anonymize(
        PLAIN, STARS, k=2, method=AnonymizeMethod.MONDRIAN, progress=lambda *s: told.append(s)
    )
    assert told[-1][2] == "rounds of cuts"
    assert told[-1][0] == told[-1][1]


def test_values_do_not_show_in_the_repr():
    found = anonymize(GROUPS, STARS, k=2, models=[DistinctDiversity(2)])
    assert "'a'" not in repr(found)
    assert "different sensitive values" in found.conditions
