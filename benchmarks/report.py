"""The report: figures as Markdown tables, ratios as pictures, and the short table of the README.

Everything is written from `results.json` and nothing else, so a test can tell whether a page was changed
by hand, and a report can be drawn anew without measuring.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.figures import RATES, Figure
from benchmarks.sections import SECTIONS

from discreet.base.answer import Chart
from discreet.show.charts import CHART, LIGHT, SCHEMA

DOCS = Path(__file__).resolve().parents[1] / "docs" / "bench"
BEGIN, END = "<!-- bench: written by python -m benchmarks -->", "<!-- bench: end -->"
SHORT = {
    "curator": {
        "count by 50 groups": "private count by 50 groups, 1,000,000 rows",
        "sum and mean by groups": "private sum and mean",
        "median by groups": "private median",
    },
    "sampling": {
        "discrete Laplace, scale 10": "exact Laplace noise",
        "discrete Gaussian, scale 10": "exact Gaussian noise",
    },
    "accounting": {"PLD, 10,000 equal": "tight epsilon of 10,000 releases"},
    "ledger": {"one durable charge, median": "one durable charge"},
    "publish": {"whole release,": "a signed release of 500,000 people, 100 areas x 2,016 cells"},
    "synth": {"tree, epsilon 1: fit and rows": "synthetic copy of ADULT, processor"},
    "collector": {"reports taken over HTTP": "survey reports taken over HTTP, each on disk"},
    "anonymize": {"discreet: --check": "all disclosure risks of 48,842 rows"},
    "learn": {"boosted, epsilon 1: training": "private boosted trees on Adult, processor"},
}
"""What the README shows, by section: how a figure begins, and what it is called there."""


def number(value: float, unit: str) -> str:
    """Return a figure to three digits, with its unit."""
    if unit in RATES and value >= 1e6:
        text = f"{value / 1e6:.3g} million"
    elif unit in RATES or value >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}" if value >= 0.001 or value == 0 else f"{value:.1e}"
    return f"{text} {unit}"


def line(found: Figure) -> list[str]:
    """Return the cells of one figure."""
    theirs = "" if found.theirs is None else f"{found.beside}: {number(found.theirs, found.unit)}"
    ratio = "" if found.ratio is None else f"{found.ratio:,.{2 if found.ratio < 10 else 0}f}x"
    met = {None: "", True: "met", False: "**missed**"}[found.met]
    return [
        found.what,
        number(found.ours, found.unit),
        theirs,
        ratio,
        f"{found.wanted}: {met}" if met else "",
    ]


def table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return a Markdown table."""
    made = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in made]


def figures_of(kept: dict[str, Any]) -> list[Figure]:
    """Return the figures of one section."""
    return [Figure(**each) for each in kept["figures"]]


def page(results: dict[str, Any]) -> str:
    """Return the whole report."""
    lines = [
        "# Benchmarks",
        "",
        "Written by `python -m benchmarks` from `results.json`. Seconds belong to the machine and its load; ratios were measured in one run and in turn,",
        "so a busy machine slows both sides. Of a time a ratio below 1 is better, of a rate one above 1.",
        "",
    ]
    for section in SECTIONS:
        kept = results.get(section.name)
        if kept is None:
            continue
        lines += [f"## {kept['title']}", ""]
        head = ["what", "ours", "beside it", "ratio", "wanted"]
        lines += [*table(head, map(line, figures_of(kept))), ""]
        if picture(kept) is not None:
            lines += [f"![{kept['title']}: ratios]({section.name}.svg)", ""]
        lines += [f"{where(kept)}", ""]
        lines += [f"**Failed:** {failure}." for failure in kept["failed"]]
        lines += ["", "```", *kept["printed"], "```", ""]
    text = "\n".join(lines)
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"


def where(kept: dict[str, Any]) -> str:
    """Return in one line with what a section was measured."""
    at, size = kept["machine"], "full sizes" if kept["full"] else "quick sizes"
    parts = ", ".join(f"{name} {version}" for name, version in kept["versions"].items())
    return (
        f"{size[0].upper()}{size[1:]}, {kept['seconds']:.0f} s, {at['date']}; {at['processor']}, {at['cores']} cores, "
        f"{at['memory_gib']:.0f} GiB, {at['system']}, load {at['load']} at its end; {parts}."
    )


def picture(kept: dict[str, Any]) -> Chart | None:
    """Return the ratios of a section as bars, or None where it has fewer than two."""
    found = [each for each in figures_of(kept) if each.ratio is not None]
    if len(found) < 2:
        return None
    beside = " and ".join(dict.fromkeys(each.beside for each in found))
    rows = [
        {"what": each.what, "ratio": each.ratio, "said": f"{each.ratio:,.2f}x"} for each in found
    ]
    y = {"field": "what", "type": "nominal", "sort": None, "title": None}
    x = {"field": "ratio", "type": "quantitative", "title": f"times {beside}"}
    spec = {
        "$schema": SCHEMA,
        "width": 360,
        "height": {"step": 24},
        "data": {"values": rows},
        "encoding": {"y": {**y, "axis": {"labelLimit": 360, "grid": False}}, "x": x},
        "layer": [
            {"mark": {"type": "bar", "color": LIGHT["accent"], "opacity": 0.6, "size": 14}},
            {
                "mark": {"type": "text", "align": "left", "dx": 4},
                "encoding": {"text": {"field": "said", "type": "nominal"}},
            },
        ],
    }
    return Chart({**spec, "config": CHART, "background": "white", "padding": 12})


def short(results: dict[str, Any]) -> list[str]:
    """Return the table of the README."""
    rows = []
    for name, wanted in SHORT.items():
        found = figures_of(results[name]) if name in results else []
        for start, called in wanted.items():
            rows += [[called, *line(f)[1:4]] for f in found if f.what.startswith(start)][:1]
    return table(["what", "ours", "beside it", "ratio"], rows)


def write(results: dict[str, Any], folder: Path) -> Path:
    """Write report and pictures; return the report's path."""
    for old in folder.glob("*.svg"):
        if old.stem in {section.name for section in SECTIONS}:
            old.unlink()
    for name, kept in results.items():
        drawn = picture(kept)
        if drawn is not None:
            drawn.save(folder / f"{name}.svg")
    target = folder / "report.md"
    target.write_text(page(results), encoding="utf-8")
    return target


def with_table(text: str, results: dict[str, Any]) -> str:
    """Return a README with its table as the results say."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"README.md has no place for the table: {BEGIN} ... {END}")
    return "\n".join([before + BEGIN, "", *short(results), "", END + after])


def readme(results: dict[str, Any], path: Path) -> None:
    """Write the short table into the README."""
    path.write_text(with_table(path.read_text(encoding="utf-8"), results), encoding="utf-8")
