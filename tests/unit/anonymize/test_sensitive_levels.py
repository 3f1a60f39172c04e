import pyarrow as pa
import pytest

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import parse_hierarchy
from discreet.anonymize.privacy_models import (
    Closeness,
    Distance,
    DistinctDiversity,
    by_hierarchy,
    heights,
    tied,
)
from discreet.errors import InvalidInput

TREE = Closeness(0.3, Distance.HIERARCHICAL)
ILL = parse_hierarchy("flu;lung;*\ncold;lung;*\nulcer;belly;*", "ill")


def sensitive(values):
    table = pa.table({"q": ["a"] * len(values), "ill": values})
    return group_table(table, ["q"], sensitive="ill").sensitive


def test_a_root_is_no_height_of_its_own():
    assert heights(sensitive(["flu", "ulcer", "cold"]), ILL) == ((0, 1, 2), (0, 0, 1))
    open_top = parse_hierarchy("flu;lung\ncold;lung\nulcer;belly", "ill")
    assert heights(sensitive(["flu", "ulcer", "cold"]), open_top) == ((0, 1, 2), (0, 0, 1))


def test_numbers_get_a_hierarchy_and_words_do_not():
    assert len(heights(sensitive(list(range(40))), None)) > 2
    with pytest.raises(InvalidInput, match="needs a hierarchy of 'ill'"):
        heights(sensitive(["flu", "cold", "ulcer"]), None)


def test_a_value_without_a_line_and_an_order_of_words_are_refused():
    with pytest.raises(InvalidInput, match="does not cover 1"):
        tied((TREE,), sensitive(["flu", "gout"]), ILL)
    with pytest.raises(InvalidInput, match="have no order"):
        tied((Closeness(0.3, Distance.ORDERED),), sensitive(["flu", "gout"]), None)


def test_other_models_are_left_alone():
    models = (DistinctDiversity(2), Closeness(0.3))
    assert tied(models, sensitive(["flu"]), None) == models
    assert tied(models, None, None) == models
    assert by_hierarchy((TREE,))
    assert not by_hierarchy(models)
