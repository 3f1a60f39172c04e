"""docs/scale.md: growth curves as tables and pictures, and the capacity arithmetic made of them.

The words around them stand in docs/bench/scale.md.in; `{{NAME}}` is replaced by what was measured. So no number
of the page is written by hand.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from benchmarks.growth_work import CURVES
from benchmarks.report import number, table

from discreet.base.answer import Chart
from discreet.show.charts import CHART, lines

DOCS = Path(__file__).resolve().parents[1] / "docs"
DAY = 86_400
REQUEST = 0.005
"""Processor seconds that a request may cost: what the test of the server's load allows."""
Points = list[dict[str, Any]]


def slope(points: list[tuple[float, float]]) -> float | None:
    """Return the exponent between the last two sizes: 1 is linear, 0 constant."""
    if len(points) < 2:
        return None
    (n, a), (m, b) = points[-2:]
    return math.log(b / a) / math.log(m / n) if a > 0 and b > 0 else None


def series(points: Points, curve: str) -> dict[str, list[tuple[float, dict[str, float]]]]:
    """Return the steps of one curve, each as (size, its times)."""
    found: dict[str, list[tuple[float, dict[str, float]]]] = {}
    for each in points:
        if each["curve"] == curve:
            for name, times in each["steps"].items():
                found.setdefault(name, []).append((each["size"], times))
    return found


def section(points: Points, curve: str) -> str:
    """Return the table and the picture of one curve."""
    about, mine = CURVES[curve], [each for each in points if each["curve"] == curve]
    if not mine:
        return "Not measured yet."
    names = list(dict.fromkeys(name for each in mine for name in each["steps"]))
    head = [about.grows, *(f"{name}: wall, processor" for name in names), "memory: ours, engine"]
    rows = [
        [
            f"{each['size']:,}",
            *(
                f"{_s(each['steps'][name]['wall'])}, {_s(each['steps'][name]['cpu'])}"
                if name in each["steps"]
                else ""
                for name in names
            ),
            f"{each['own_mb']:,} MB, {_engine(each)}",
        ]
        for each in mine
    ]
    grown = [
        f"{name} {exponent:.2f}"
        for name, found in series(points, curve).items()
        if (exponent := slope([(n, times["cpu"]) for n, times in found])) is not None
    ]
    said = (
        [f"Exponent of the processor time between the last two sizes: {', '.join(grown)}."]
        if grown
        else []
    )
    return "\n".join(
        [
            f"*{about.about}* (`python -m benchmarks.growth {curve}`).",
            "",
            *table(head, rows),
            "",
            *said,
            "",
            f"![{about.grows}: processor seconds](bench/growth-{curve}.svg)",
        ]
    )


def _engine(point: dict[str, Any]) -> str:
    return f"{point['engine_mb']:,} MB" if point["engine_mb"] else "-"


def _s(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 100 else f"{seconds:,.0f} s"


def picture(points: Points, curve: str) -> Chart:
    """Return the curve on two logarithmic axes: processor seconds, and gigabytes of both processes."""
    drawn = {
        name: [(n, max(times["cpu"], 0.01)) for n, times in found]
        for name, found in series(points, curve).items()
    }
    drawn["memory, GB"] = [
        (each["size"], (each["own_mb"] + each["engine_mb"]) / 1024)
        for each in points
        if each["curve"] == curve and each["engine_mb"]
    ]
    sizes = sorted({each["size"] for each in points if each["curve"] == curve})
    spec = lines(drawn, title="processor seconds; GB", across=CURVES[curve].grows, scale="log")
    for layer in spec["layer"]:
        layer["encoding"]["y"]["scale"] = {"type": "log"}
        layer["encoding"]["x"]["axis"] = {"format": "~s", "values": sizes}
        layer["encoding"]["color"]["legend"] = {"labelLimit": 320, "columns": 2}
    return Chart({**spec, "config": CHART, "background": "white", "padding": 12})


# --- capacity --------------------------------------------------------------------------------


def a_piece(points: Points, curve: str, step: str) -> tuple[float, float]:
    """Return the processor seconds of one more row (or report), between the two largest sizes, and the largest size."""
    found = series(points, curve)[step][-2:]
    (n, low), (m, high) = found
    return max(high["cpu"] - low["cpu"], 0.0) / (m - n), m


def fact(points: Points, curve: str, name: str) -> float:
    """Return a fact of the largest size, for one piece."""
    last = [each for each in points if each["curve"] == curve and name in each["facts"]][-1]
    return float(last["facts"][name]) / float(last["size"])


def capacity(points: Points, results: dict[str, Any]) -> dict[str, str]:
    """Return what stands in the page's sentences, computed from what was measured."""
    rows, persons, spark = (
        a_piece(points, curve, "count by 50 groups")[0] for curve in ("rows", "persons", "spark")
    )
    first = a_piece(points, "rows", "first question, with the snapshot")
    reports = a_piece(points, "reports", "counted and estimated")
    big, day = 1e12, 1e9
    found = {
        "largest_rows": f"{first[1]:,.0f}",
        "largest_reports": f"{reports[1]:,.0f}",
        "ns_row": f"{1e9 * rows:,.0f}",
        "ns_first": f"{1e9 * first[0]:,.0f}",
        "ns_person": f"{1e9 * persons:,.0f}",
        "ns_spark": f"{1e9 * spark:,.0f}",
        "hours_row": f"{big * rows / 3600:,.1f}",
        "hours_first": f"{big * first[0] / 3600:,.0f}",
        "hours_person": f"{big * persons / 3600:,.0f}",
        "hours_spark": f"{big * spark / 3600:,.0f}",
        "minutes_1000": f"{big * spark / 1000 / 60:,.0f}",
        "source_tb": f"{big * fact(points, 'rows', 'source_bytes') / 1e12:,.1f}",
        "state_tb": f"{big * fact(points, 'rows', 'state_bytes') / 1e12:,.1f}",
        "reports_a_second": f"{day / DAY:,.0f}",
        "ns_report": f"{1e9 * reports[0]:,.0f}",
        "seconds_count": f"{day * reports[0]:,.0f}",
        "report_gb": f"{day * fact(points, 'reports', 'source_bytes') / 1e9:,.1f}",
    }
    charges = series(points, "ledger")["twenty charges"][-1]
    found["ledger_note"] = (
        f"took {1000 * charges[1]['wall'] / 20:.0f} ms a charge after {charges[0]:,.0f} entries"
    )
    kept = {each["what"]: each["ours"] for each in results["collector"]["figures"]}
    rate = kept["the same for a second of processor time"]
    found["collector"] = number(rate, "a second")
    found["collector_cores"] = f"{day / DAY / rate:.1f}"
    found["collector_alone"] = f"{day / DAY * REQUEST:.0f}"
    found["collector_peak"] = f"{10 * day / DAY / rate:.0f}"
    return found


def page(points: Points, results: dict[str, Any], text: str) -> str:
    """Return the document: the words, with tables and figures in their places."""
    loads = [each["load"] for each in points]
    said = {"loads": f"{min(loads):.0f} to {max(loads):.0f}", "date": points[-1]["date"]}
    said |= {curve: section(points, curve) for curve in CURVES} | capacity(points, results)
    for name, value in said.items():
        text = text.replace("{{" + name + "}}", value)
    if "{{" in text:
        raise SystemExit(f"a place without a figure: {text[text.index('{{') :][:40]}")
    return text


def write(points: Points) -> Path:
    """Write page and pictures; return the page's path."""
    for curve in dict.fromkeys(each["curve"] for each in points):
        picture(points, curve).save(DOCS / "bench" / f"growth-{curve}.svg")
    results = json.loads((DOCS / "bench" / "results.json").read_text(encoding="utf-8"))
    text = (DOCS / "bench" / "scale.md.in").read_text(encoding="utf-8")
    target = DOCS / "scale.md"
    target.write_text(page(points, results, text), encoding="utf-8")
    return target
