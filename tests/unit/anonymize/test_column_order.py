import datetime as dt

import numpy as np
import pyarrow as pa

from discreet.anonymize.groups import group_table
from discreet.anonymize.hierarchy import Hierarchy, make_ladders
from discreet.anonymize.mondrian import make_axes


def _axis(values, trees=None, kind=None):
    groups = group_table(pa.table({"x": pa.array(values, kind)}), ["x"])
    return make_axes(groups, make_ladders(groups, trees or {}))[0]


def _read(axis, low, high):
    labels, cells = axis.labels(np.array([low]), np.array([high]))
    return labels.texts[cells[0]], float(labels.share[cells[0]]), int(labels.mass[cells[0]])


def test_numbers_stand_by_size():
    axis = _axis([10, 2, 2, 6, None])
    assert axis.spot.tolist() == [0.0, 0.5, 1.0, 2.0]
    assert _read(axis, 0, 1) == ("2-6", 0.5, 3)
    assert _read(axis, 0, 0) == ("2", 0.0, 2)
    assert _read(axis, 1, 3) == ("6-10 or missing", 1.0, 3)
    assert _read(axis, 3, 3) == ("", 0.0, 1)
    assert _read(_axis([-5, -1]), 0, 1)[0] == "-5 to -1"
    assert _read(_axis([0.5, 1.5]), 0, 1)[0] == "0.5 to 1.5"


def test_dates_stand_by_size():
    axis = _axis([dt.date(2000, 1, 1), dt.date(2000, 1, 11)])
    assert _read(axis, 0, 1) == ("2000-01-01 to 2000-01-11", 1.0, 2)


def test_texts_stand_by_their_hierarchy():
    tree = Hierarchy(
        "x",
        {v: (v, p, "*") for v, p in (("a", "odd"), ("b", "even"), ("c", "odd"), ("d", "even"))},
    )
    axis = _axis(["a", "b", "c", "d"], {"x": tree})
    order = [axis.values[i] for i in np.argsort(axis.rank)]
    assert order in (["a", "c", "b", "d"], ["b", "d", "a", "c"])
    assert _read(axis, 0, 1) == ("odd", 1 / 3, 2)
    assert _read(axis, 1, 2) == ("*", 1.0, 4)


def test_a_hierarchy_with_several_tops_names_them():
    tree = Hierarchy("x", {v: (v, p) for v, p in (("a", "1"), ("b", "1"), ("c", "2"))})
    assert _read(_axis(["a", "b", "c"], {"x": tree}), 0, 2) == ("1 or 2", 0.5, 3)
    flat = Hierarchy("x", {v: (v,) for v in "abc"})
    assert _read(_axis(["a", "b", "c"], {"x": flat}), 0, 1) == ("a or b", 0.0, 2)


def test_a_column_that_is_always_missing():
    axis = _axis([None, None], kind=pa.string())
    assert _read(axis, 0, 0) == ("", 0.0, 2)


def test_infinite_numbers_have_no_place_by_size():
    axis = _axis([1.0, float("inf"), float("-inf")])
    assert not axis.by_size
    assert np.isfinite(axis.spot).all()
    assert _read(axis, 0, 2) == ("*", 1.0, 3)
