"""A chart of an answer: a Vega-Lite specification with error bars, drawn only when asked for."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.system.extras import needs
from discreet.errors import InvalidInput

ACCENT = "#1F5F5B"
QUIET = "#5C6166"
CHART_FILES = (".svg", ".png", ".html", ".json")


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite specification; notebooks draw it, `save` writes SVG, PNG, HTML or JSON."""

    spec: dict[str, Any]

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        return {"application/vnd.vegalite.v5+json": self.spec, "text/plain": "Chart"}

    def to_svg(self) -> str:
        """Return the chart as SVG."""
        return str(_converter().vegalite_to_svg(json.dumps(self.spec)))

    def save(self, path: str | Path) -> None:
        """Write the chart; the ending of `path` says how."""
        target = check_chart(path)
        match target.suffix.lower():
            case ".json":
                target.write_text(json.dumps(self.spec, indent=2), encoding="utf-8")
            case ".svg":
                target.write_text(self.to_svg(), encoding="utf-8")
            case ".png":
                target.write_bytes(_converter().vegalite_to_png(json.dumps(self.spec), scale=2))
            case ".html":
                page = _converter().vegalite_to_html(json.dumps(self.spec), bundle=True)
                target.write_text(page, encoding="utf-8")


def check_chart(path: str | Path) -> Path:
    """Return the path of a picture if it can be drawn on this machine; refuse it before the answer is paid."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in CHART_FILES:
        raise InvalidInput(
            f"A chart cannot be saved as '{ending}'.", hint="Use .svg, .png, .html or .json."
        )
    if ending != ".json":
        _converter()
    return target


def _converter() -> Any:
    with needs("vl-convert-python", extra="plot"):
        import vl_convert
    return vl_convert


def chart_of(
    columns: tuple[str, ...],
    rows: tuple[tuple[Any, ...], ...],
    errors: tuple[tuple[Any, ...], ...],
    *,
    noisy: tuple[int, ...],
    keys: int,
    watermark: str = "",
) -> Chart:
    """Return points with intervals: the first key across, the first noisy column of numbers upwards.

    One whose errors are known comes first; without any, the axis says that there is none to draw. A watermark
    stands over the picture.
    """
    drawn = [i for i in noisy if all(isinstance(row[i], int | float | None) for row in rows)]
    if not drawn or not rows:
        raise InvalidInput("There is nothing noisy to draw in this answer.")
    value = next((i for i in drawn if any(each[i] is not None for each in errors)), drawn[0])
    known = any(each[value] is not None for each in errors)
    labels = [i for i in range(len(columns)) if i not in noisy and i < max(keys, 1)]
    points = []
    for row, error in zip(rows, errors, strict=True):
        if row[value] is None:
            continue
        half = error[value] or 0
        label = ", ".join(_label(row[i]) for i in labels) or columns[value]
        points.append(
            {"key": label, "value": row[value], "low": row[value] - half, "high": row[value] + half}
        )
    title = ", ".join(columns[i] for i in labels)
    bars = "noise ±, 95%" if known else "its error is not an interval: see the table"
    x = {"field": "key", "type": "nominal", "title": title or None, "sort": None}
    y = {"type": "quantitative", "title": f"{columns[value]} ({bars})"}
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": points},
        "encoding": {"x": x},
        "layer": [
            {
                "mark": {"type": "rule", "color": QUIET},
                "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 50, "color": ACCENT},
                "encoding": {"y": {"field": "value", **y}},
            },
        ],
    }
    return Chart({"title": watermark, **spec} if watermark else spec)


def _label(value: Any) -> str:
    if value is None:
        return "missing"
    return value.isoformat() if isinstance(value, dt.date) else str(value)
