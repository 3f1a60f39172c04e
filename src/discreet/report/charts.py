"""The charts that reports share, as Vega-Lite specifications.

Nothing is told by colour alone: two series differ in their shape too, and cells carry their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.report.style import LIGHT

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH = 560
HEIGHT = 200
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]
_SHAPES = ["circle", "square", "triangle-up", "diamond"]
Number = float | int | None


def pairs(
    labels: Sequence[str],
    first: Sequence[Number],
    second: Sequence[Number],
    *,
    names: tuple[str, str],
    intervals: Sequence[tuple[float, float]] | None = None,
    title: str = "rows",
    across: str = "",
) -> dict[str, Any]:
    """Return two histograms over the same labels: bars for the first, points for the second.

    `intervals` are drawn as rules around the first.
    """
    values = [
        {"place": i, "key": label, "bar": bar, "point": point}
        | ({} if intervals is None else {"low": intervals[i][0], "high": intervals[i][1]})
        for i, (label, bar, point) in enumerate(zip(_unlike(labels), first, second, strict=True))
    ]
    y = {"type": "quantitative", "title": title}
    layers = [_bars(values, y, LIGHT["quiet"], 0.45)]
    if intervals is not None:
        layers.append(_rules(y))
    layers.append(
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {"y": {"field": "point", **y}, "color": {"value": LIGHT["accent"]}},
        }
    )
    return _chart(
        values, layers, x=_labels(across, values), title=f"bars: {names[0]}; points: {names[1]}"
    )


def bars(
    labels: Sequence[str],
    values: Sequence[Number],
    *,
    low: Sequence[Number] | None = None,
    high: Sequence[Number] | None = None,
    title: str = "",
    across: str = "",
) -> dict[str, Any]:
    """Return bars, with an interval drawn over each where one is given."""
    rows = [
        {"place": i, "key": label, "bar": value}
        | ({} if low is None or high is None else {"low": low[i], "high": high[i]})
        for i, (label, value) in enumerate(zip(_unlike(labels), values, strict=True))
    ]
    y = {"type": "quantitative", "title": title}
    layers = [_bars(rows, y, LIGHT["accent"], 0.6)]
    if low is not None and high is not None:
        layers.append(_rules(y, strokeWidth=1.5))
    return _chart(rows, layers, x=_labels(across, rows))


def heat(
    down: Sequence[str],
    across: Sequence[str],
    values: Sequence[Sequence[Number]],
    *,
    most: float | None = None,
) -> dict[str, Any]:
    """Return a heat map: darker is more; up to sixteen columns each cell says its number.

    Values below zero are drawn in the colour of warnings, with their sign in the cell.
    """
    cells = [
        {"i": i, "j": j, "down": a, "across": b, "value": value, "size": abs(value)}
        for i, (a, row) in enumerate(zip(down, values, strict=True))
        for j, (b, value) in enumerate(zip(across, row, strict=True))
        if value is not None
    ]
    numbered = len(across) <= 16
    greatest = most or max((cell["size"] for cell in cells), default=1.0) or 1.0
    side = 36 if numbered else max(14, WIDTH // max(len(across), 1))
    band = {"type": "nominal", "title": None, "axis": {"grid": False, "ticks": False}}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "rect"},
            "encoding": {
                "color": {
                    "condition": {"test": "datum.value < 0", "value": LIGHT["warning"]},
                    "value": LIGHT["accent"],
                },
                "fillOpacity": {
                    "field": "size",
                    "type": "quantitative",
                    # At most half: ink stays readable on the darkest cell, in light and in dark.
                    "scale": {"domain": [0, greatest], "range": [0.04, 0.5], "clamp": True},
                    "legend": None,
                },
            },
        }
    ]
    if numbered:
        layers.append(
            {
                "mark": {"type": "text"},
                "encoding": {"text": {"field": "value", "type": "quantitative", "format": ".2f"}},
            }
        )
    return {
        "$schema": SCHEMA,
        "width": {"step": side},
        "height": {"step": 28 if numbered else side},
        "data": {"values": cells},
        "encoding": {
            "x": {"field": "across", "sort": {"field": "j"}, **band},
            "y": {"field": "down", "sort": {"field": "i"}, **band},
        },
        "layer": layers,
    }


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    threshold: float | None = None,
    mark: str = "",
    title: str = "",
    across: str = "",
    scale: str = "linear",
) -> dict[str, Any]:
    """Return one line for each series (dash and shape differ), and a marked threshold."""
    points = [{"name": name, "x": x, "y": y} for name, found in series.items() for x, y in found]
    names = list(series)
    colours = [LIGHT["accent"], LIGHT["quiet"], LIGHT["warning"], LIGHT["ink"]]
    which = {"field": "name", "type": "nominal", "title": None, "sort": None}

    def of(choices: Sequence[Any]) -> dict[str, Any]:
        picked = [choices[i % len(choices)] for i in range(len(names))]
        return {**which, "scale": {"domain": names, "range": picked}}

    drawn = {
        "x": {
            "field": "x",
            "type": "quantitative",
            "title": across,
            "scale": {"type": scale, "zero": False},
        },
        "y": {"field": "y", "type": "quantitative", "title": title},
        "color": of(colours),
    }
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {**drawn, "strokeDash": of(_DASHES)},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {**drawn, "shape": of(_SHAPES)},
        },
    ]
    if threshold is not None:
        layers += _threshold(threshold, mark)
    return _chart(points, layers)


def _threshold(value: float, mark: str) -> list[dict[str, Any]]:
    y = {"datum": value}
    once: dict[str, Any] = {"values": [{}]}
    return [
        {
            "data": once,
            "mark": {"type": "rule", "color": LIGHT["danger"], "strokeDash": [4, 4]},
            "encoding": {"y": y, "x": {"value": 0}, "x2": {"value": "width"}},
        },
        {
            "data": once,
            "mark": {
                "type": "text",
                "align": "right",
                "dy": -6,
                "text": mark,
                "color": LIGHT["danger"],
            },
            "encoding": {"y": y, "x": {"value": "width"}},
        },
    ]


def _unlike(labels: Sequence[str]) -> list[str]:
    """Return the labels, with spaces behind one that comes again: bars stand by their label."""
    found: dict[str, None] = {}
    for label in labels:
        text = label
        while text in found:
            text += " "
        found[text] = None
    return list(found)


def _bars(
    values: Sequence[Any], y: Mapping[str, Any], colour: str, opacity: float
) -> dict[str, Any]:
    # Two bars are no wider than ten would be: width says nothing.
    width = min(40.0, 0.8 * WIDTH / max(len(values), 1))
    return {
        "mark": {"type": "bar", "color": colour, "opacity": opacity, "size": width},
        "encoding": {"y": {"field": "bar", **y}},
    }


def _rules(y: Mapping[str, Any], **look: float) -> dict[str, Any]:
    return {
        "mark": {"type": "rule", "color": LIGHT["ink"], **look},
        "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
    }


def _labels(across: str, values: Sequence[Any]) -> dict[str, Any]:
    angle = {"labelAngle": 0} if sum(len(row["key"]) + 2 for row in values) * 7 < WIDTH else {}
    return {
        "field": "key",
        "type": "nominal",
        "title": across or None,
        "sort": {"field": "place"},
        "axis": {"labelOverlap": True, "grid": False, **angle},
    }


def _chart(
    values: list[dict[str, Any]],
    layers: list[dict[str, Any]],
    *,
    x: dict[str, Any] | None = None,
    title: str = "",
) -> dict[str, Any]:
    head = {"text": title, "anchor": "start", "fontSize": 12, "fontWeight": "normal"}
    named = {"title": {**head, "color": LIGHT["quiet"]}} if title else {}
    return {
        "$schema": SCHEMA,
        **named,
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": values},
        **({} if x is None else {"encoding": {"x": x}}),
        "layer": layers,
    }
