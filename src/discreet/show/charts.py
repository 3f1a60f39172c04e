"""The charts that reports share, as Vega-Lite specifications.

Nothing is told by colour alone: two series differ in their shape too, and cells carry their number.

And the style of a self-contained report: colours and CSS, light and dark, and for paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


LIGHT = {
    "paper": "#fbfaf7",
    "ink": "#1d1f21",
    "quiet": "#5c6166",
    "rule": "#e3e0d8",
    "accent": "#1f5f5b",
    "warning": "#9a5b00",
    "danger": "#a3262a",
}
DARK = {
    "paper": "#151718",
    "ink": "#e8e6e1",
    "quiet": "#a3a7ab",
    "rule": "#2c2f31",
    "accent": "#6fc3bc",
    "warning": "#e0a95c",
    "danger": "#f08a8d",
}

CHART: dict[str, Any] = {
    "background": None,
    "font": "sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": LIGHT["quiet"],
        "titleColor": LIGHT["quiet"],
        "gridColor": LIGHT["rule"],
        "domainColor": LIGHT["quiet"],
        "tickColor": LIGHT["quiet"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 140,
        "titlePadding": 12,
    },
    "legend": {
        "labelColor": LIGHT["ink"],
        "titleColor": LIGHT["quiet"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "orient": "top",
        "symbolStrokeColor": LIGHT["quiet"],
    },
    "text": {"color": LIGHT["ink"], "fontSize": 11},
}
"""Colours are written in their light form; `to_svg` replaces them by variables of the page."""


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())


STYLE = f"""
:root{{color-scheme:light dark;{_variables(LIGHT)}}}
@media (prefers-color-scheme: dark){{:root{{{_variables(DARK)}}}}}
*{{box-sizing:border-box}}
html{{background:var(--paper);color:var(--ink);font:16px/24px ui-sans-serif,system-ui,sans-serif}}
body{{margin:0 auto;max-width:960px;padding:24px 24px 48px}}
h1,h2{{font:400 28px/36px ui-serif,Georgia,serif;margin:0 0 12px}}
h2{{font-size:20px;line-height:28px;border-top:1px solid var(--rule);padding-top:24px;margin-top:32px}}
h3{{font:600 16px/24px ui-sans-serif,system-ui,sans-serif;margin:24px 0 4px}}
p{{margin:0 0 12px;max-width:68ch}}
.quiet,figcaption,caption{{color:var(--quiet);font-size:14px;line-height:22px}}
.mark{{color:var(--danger);border:1px solid var(--danger);border-radius:6px;padding:4px 12px;
background:var(--paper);max-width:none}}
.again{{color:var(--danger);font-size:14px;line-height:22px;margin:0}}
.note{{border-left:3px solid var(--warning);padding-left:12px}}
.note b{{color:var(--warning)}}
figure{{margin:16px 0 24px}}
figure svg{{display:block;overflow:visible}}
figure svg text{{font-family:ui-sans-serif,system-ui,sans-serif}}
figcaption,caption{{text-align:left;max-width:68ch}}
caption{{caption-side:bottom;padding-top:4px}}
.wide{{overflow-x:auto}}
table{{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:8px 0 24px}}
th,td{{text-align:left;padding:4px 16px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top}}
th{{font-weight:400;color:var(--quiet);font-size:14px}}
td.number,th.number{{text-align:right}}
:focus-visible{{outline:2px solid var(--accent);outline-offset:2px}}
@media screen{{.mark{{position:sticky;top:0;z-index:1}}}}
@media print{{.mark{{position:fixed;top:0;left:0;right:0}}body{{padding-top:64px}}
figure,tr{{break-inside:avoid}}}}
""".strip()
"""In print a fixed block is repeated on every sheet: so the mark stands on each of them."""
