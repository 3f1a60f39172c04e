"""Charts: one point with its interval for each row."""

import datetime as dt

from discreet.base.answer import chart_of


def points(columns, rows, errors, **options):
    return chart_of(columns, rows, errors, **options).spec["data"]["values"]


def test_keys_are_joined_and_missing_ones_named():
    rows = (("a", None, 5), ("b", dt.date(2024, 1, 2), 7))
    found = points(("k", "d", "n"), rows, ((None, None, 1.0),) * 2, noisy=(2,), keys=2)
    assert [point["key"] for point in found] == ["a, missing", "b, 2024-01-02"]


def test_unknown_values_are_left_out_and_unknown_errors_are_points():
    rows = (("a", None), ("b", 7))
    found = points(("k", "n"), rows, ((None, None), (None, None)), noisy=(1,), keys=1)
    assert found == [{"key": "b", "value": 7, "low": 7, "high": 7}]


def test_a_single_number_is_named_by_its_column():
    (found,) = points(("n",), ((5,),), ((2.0,),), noisy=(0,), keys=0)
    assert found == {"key": "n", "value": 5, "low": 3.0, "high": 7.0}


def test_notebooks_get_vega_lite():
    chart = chart_of(("n",), ((5,),), ((2.0,),), noisy=(0,), keys=0)
    assert "application/vnd.vegalite.v5+json" in chart._repr_mimebundle_()
