"""The charts of reports draw, and say what they are given."""

import pytest

from discreet.show import bars, heat, lines, pairs
from discreet.show.document import to_svg

CHARTS = {
    "pairs": pairs(["a", "b"], [1, 2], [2, 1], names=("real", "synthetic")),
    "pairs with intervals": pairs(
        ["a", "b"], [1, 2], [2, 1], names=("real", "made up"), intervals=[(0, 2), (1, 3)]
    ),
    "bars": bars(["a", "b"], [1, 2]),
    "bars with intervals": bars(["a", "b"], [1, 2], low=[0, 1], high=[2, 3]),
    "heat": heat(["a", "b"], ["a", "b"], [[1.0, -0.5], [0.25, None]]),
    "wide heat": heat([str(i) for i in range(20)], ["x"] * 1, [[i / 20] for i in range(20)]),
    "lines": lines({"one": [(0, 1), (1, 2)], "two": [(0, 2), (1, 1)]}, threshold=1.5, mark="cap"),
    "no points": bars([], []),
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_draws(name):
    assert to_svg(CHARTS[name]).startswith("<svg")


def test_two_series_differ_in_shape_and_are_named():
    drawn = to_svg(CHARTS["pairs"])
    assert "bars: real; points: synthetic" in drawn
    assert "mark-rect" in drawn
    assert "mark-symbol" in drawn


def test_cells_of_a_heat_map_carry_their_number_and_sign():
    drawn = to_svg(CHARTS["heat"])
    assert ">1.00<" in drawn
    assert ">\u22120.50<" in drawn
    assert "var(--warning)" in drawn


def test_lines_differ_in_dash_and_the_threshold_is_marked_once():
    drawn = to_svg(CHARTS["lines"])
    assert "stroke-dasharray" in drawn
    assert drawn.count(">cap<") == 1


def test_a_chart_never_reads_an_address():
    spec = {
        "data": {"url": "https://example.com/x.json"},
        "mark": "bar",
        "encoding": {"x": {"field": "a", "type": "nominal"}},
    }
    with pytest.raises(ValueError, match=r"(?i)not allowed|url"):
        to_svg(spec)


def test_labels_that_are_alike_keep_their_own_bars():
    spec = bars(["missing", "a", "missing"], [1, 2, 3])
    assert [row["bar"] for row in spec["data"]["values"]] == [1, 2, 3]
    assert len({row["key"] for row in spec["data"]["values"]}) == 3
