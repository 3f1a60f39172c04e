"""Sections of a report and verdicts: which queries a synthetic table supports, and by how much it is off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from discreet.base.arrays import Floats
from discreet.show import DocumentBlock, Figure, Grid, Paragraph, Section, bars, heat, pairs
from discreet.work.synth.report.quality import Coefficients, Prediction, Quality, TableDistance

WELL, ROUGHLY, BADLY = "well", "roughly", "badly"

TABLES = (0.03, 0.10)
"""Total variation distance up to which a table counts as kept well, and roughly."""
GROUPS = (0.05, 0.25)
"""Relative error of a group's size."""
SLOPES = (0.05, 0.15)
"""Difference of a regression coefficient, in standard deviations."""
HITS = (0.01, 0.05)
"""Accuracy that a model loses by learning from the synthetic rows."""


@dataclass(frozen=True, slots=True)
class Supported:
    """One kind of question, how far off answers are, and the verdict.

    `ways` is how many columns at once the question needs.
    """

    kind: str
    measure: str
    typical: float
    worst: float
    verdict: str
    ways: int


def verdict(value: float, limits: tuple[float, float]) -> str:
    """Return the word for an error.

    >>> verdict(0.04, TABLES)
    'roughly'
    """
    if not isfinite(value):
        return "not seen"
    return WELL if value <= limits[0] else ROUGHLY if value <= limits[1] else BADLY


def supports(quality: Quality) -> tuple[Supported, ...]:
    """Return every kind of question with its error and verdict."""
    found = [
        _tables("counts by one column", quality.ones, 1),
        _tables("counts by two columns", quality.pairs, 2),
        _tables("counts by three columns", quality.triples, 3),
    ]
    below = ""
    for group in quality.groups:
        kind = f"groups {_size(group.above, below)}"
        word = verdict(group.relative, GROUPS)
        found.append(
            Supported(kind, "relative error of the size", group.relative, float("nan"), word, 2)
        )
        below = f"{group.above:.1%}"
    if quality.coefficients is not None:
        off = np.abs(quality.coefficients.first - quality.coefficients.second)
        typical = float(off.mean())
        found.append(
            Supported(
                f"linear regression of {quality.coefficients.target}",
                "difference of a coefficient",
                typical,
                quality.coefficients.worst,
                verdict(typical, SLOPES),
                2,
            )
        )
    if quality.prediction is not None:
        lost = max(0.0, quality.prediction.from_first - quality.prediction.from_second)
        found.append(
            Supported(
                f"predicting {quality.prediction.target}",
                "accuracy lost",
                lost,
                lost,
                verdict(lost, HITS),
                1 + len(quality.prediction.given),
            )
        )
    return tuple(found)


def _tables(kind: str, found: Sequence[TableDistance], ways: int) -> Supported:
    distances = [each.tvd for each in found]
    typical = float(np.mean(distances)) if distances else float("nan")
    worst = max(distances, default=float("nan"))
    word = verdict(typical, TABLES)
    return Supported(kind, "share of rows in a wrong cell", typical, worst, word, ways)


def _size(above: float, below: str) -> str:
    if not below:
        return f"of more than {above:.0%} of the rows"
    return f"of at most {below}" if above == 0 else f"of {above:.1%} to {below}"


COLUMNS = 30
"""Columns in pictures; further ones are in the tables only."""
BARS = 40
"""Bars of one histogram; neighbours are put together where a column has more codes."""
ROWS = 20
LESS = "Amber cells are below zero"
AT_BEST = (
    "At best: some of these tables were not measured. What their columns have to do with each other "
    "is the model's guess, and nobody can say how good it is without looking or paying."
)


def support_section(
    quality: Quality, note: str, measured: Mapping[int, tuple[int, int]] | None = None
) -> Section:
    """Return which kinds of questions are supported, and by how much answers are off.

    `measured` says for one, two and three columns how many of the compared tables were measured:
    what was not cannot be judged without the real rows, and its verdict says so.
    """
    rows: list[tuple[str | int | float, ...]] = []
    for each in supports(quality):
        word, covered = each.verdict, ""
        if measured is not None:
            some, every = measured.get(each.ways, (0, 0))
            covered = f"{some:,} of {every:,}" if every else "-"
            known = (every and some == every) or word == BADLY
            word = word if known else f"at best {word}"
        row = (each.kind, each.measure, each.typical, each.worst, word)
        rows.append(row if measured is None else (*row, covered))
    headers = ("questions", "measure", "typical", "worst", "supported")
    grid = Grid.of(
        headers if measured is None else (*headers, "tables measured"),
        rows,
        "well: tables off by at most 3% of the rows, groups by 5% of their size, coefficients by "
        "0.05, accuracy by 1%; roughly: at most 10%, 25%, 0.15, 5%."
        + ("" if measured is None else f" {AT_BEST}"),
    )
    return Section("What it supports, and by how much", (Paragraph(note), grid))


def histogram_section(quality: Quality, names: tuple[str, str]) -> Section:
    """Return one pair of histograms for each column, in parts of all rows."""
    lens = quality.lens
    figures = [
        histogram(lens.shape.names[i], lens.labels[i], first, second, names=names)
        for i, (first, second) in enumerate(quality.histograms[:COLUMNS])
    ]
    return Section("Columns side by side", tuple(figures))


def histogram(
    name: str,
    labels: Sequence[str],
    first: Floats,
    second: Floats,
    *,
    names: tuple[str, str],
    half: Floats | None = None,
) -> Figure:
    """Return two histograms of one column; `half` are the half widths around the first."""
    starts, words = _bins(labels)
    one = np.add.reduceat(first, starts)
    two = np.add.reduceat(second, starts)
    around = None
    if half is not None:
        wide = np.sqrt(np.add.reduceat(half**2, starts))
        around = [(float(a - h), float(a + h)) for a, h in zip(one, wide, strict=True)]
    spec = pairs(
        words,
        [float(value) for value in one],
        [float(value) for value in two],
        names=names,
        intervals=around,
        title="part of rows",
    )
    return Figure(name, spec, f"{names[0]} and {names[1]}, in parts of all rows.")


def single(name: str, labels: Sequence[str], values: Floats) -> Figure:
    """Return the histogram of one column of which nothing was measured by itself."""
    starts, words = _bins(labels)
    found = [float(value) for value in np.add.reduceat(values, starts)]
    spec = bars(words, found, title="part of rows")
    return Figure(name, spec, "synthetic, in parts of all rows; not measured by itself.")


def _bins(labels: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return where each bar begins and what it is called."""
    width = -(-len(labels) // BARS)
    starts = list(range(0, len(labels), width))
    return starts, [_joined(labels[start : start + width]) for start in starts]


def _joined(labels: Sequence[str]) -> str:
    if len(labels) == 1:
        return labels[0]
    return f"{labels[0].split(' to ')[0]} … {labels[-1].split(' to ')[-1]}"


def dependence_section(quality: Quality, names: tuple[str, str]) -> Section:
    """Return heat maps of Cramér's V of both sides and of their difference."""
    first, second = quality.dependence
    words = "Cramér's V: 0 where two columns are independent, 1 where one gives the other."
    names_of = quality.lens.shape.names
    less = f"{names[1]} minus {names[0]}"
    blocks = (
        Paragraph(words),
        dependence_map(names[0], first, names_of),
        dependence_map(names[1], second, names_of),
        dependence_map(
            less, second - first, names_of, f"{LESS}: {names[1]} lost dependence there."
        ),
    )
    return Section("Which columns hang together", blocks)


def dependence_map(
    title: str, values: Floats, columns: Sequence[str], caption: str = "Darker is stronger."
) -> Figure:
    """Return one heat map of a square of numbers; NaN is left blank."""
    shown = [str(name) for name in columns[:COLUMNS]]
    cells = [
        [float(v) if np.isfinite(v) else None for v in row[:COLUMNS]] for row in values[:COLUMNS]
    ]
    most = None if np.nanmin(values, initial=0.0) < 0 else 1.0
    return Figure(title, heat(shown, shown, cells, most=most), caption)


def error_section(quality: Quality, note: str) -> Section:
    """Return the error of one-, two- and three-way tables, and the worst of them by name."""
    kinds = {
        "one column": quality.ones,
        "two columns": quality.pairs,
        "three columns": quality.triples,
    }
    kinds = {name: found for name, found in kinds.items() if found}
    distances = [np.array([each.tvd for each in found]) for found in kinds.values()]
    spec = bars(
        list(kinds),
        [float(d.mean()) for d in distances],
        low=[float(np.quantile(d, 0.05)) for d in distances],
        high=[float(np.quantile(d, 0.95)) for d in distances],
        title="total variation distance",
    )
    rows = [
        (name, len(found), float(d.mean()), float(d.max()), max(each.worst for each in found))
        for (name, found), d in zip(kinds.items(), distances, strict=True)
    ]
    grid = Grid.of(
        ("tables by", "compared", "mean distance", "worst distance", "worst single cell"),
        rows,
        "Distances are total variation: the part of the rows that would have to move to another "
        "cell. The last column is the largest difference of one cell, in parts of all rows.",
        shares=(2, 3, 4),
    )
    figure = Figure("", spec, "Mean error of tables; the rules span 5% to 95% of them.")
    worst = _worst([*quality.pairs, *quality.triples], quality.lens.shape.names)
    return Section("Error of tables", (Paragraph(note), figure, grid, worst))


def _worst(found: Sequence[TableDistance], names: Sequence[str]) -> Grid:
    order = sorted(found, key=lambda each: -each.tvd)[:10]
    rows = [(", ".join(names[i] for i in each.columns), each.tvd, each.worst) for each in order]
    return Grid.of(
        ("columns", "distance", "worst cell"), rows, "The ten worst tables.", shares=(1, 2)
    )


def model_section(quality: Quality, names: tuple[str, str]) -> Section:
    """Return regression coefficients and the accuracy of a classifier."""
    blocks: list[DocumentBlock] = []
    if quality.coefficients is not None:
        blocks += [_regression(quality.coefficients, names)]
    if quality.prediction is not None:
        blocks += [_prediction(quality.prediction, names)]
    if not blocks:
        blocks.append(
            Paragraph("There is no column of numbers and none with a short list of values.")
        )
    return Section("What models learn from it", tuple(blocks))


def _regression(found: Coefficients, names: tuple[str, str]) -> Grid:
    rows = [
        (name, float(a), float(b), float(b - a))
        for name, a, b in zip(found.names, found.first, found.second, strict=True)
    ]
    return Grid.of(
        ("coefficient", names[0], names[1], "difference"),
        rows[: ROWS + 1],
        f"Least squares for {found.target} on the columns that it hangs on most. Numbers are in "
        "standard deviations; categories are compared with their commonest value.",
    )


def _prediction(found: Prediction, names: tuple[str, str]) -> Grid:
    rows = [
        (f"learned from {names[0]}", found.from_first),
        (f"learned from {names[1]}", found.from_second),
        ("always the commonest value", found.guessing),
    ]
    return Grid.of(
        ("classifier", "right"),
        rows,
        f"Logistic regression for {found.target} by {', '.join(found.given)}. Both are tested on "
        f"{names[0]}: for the first these are the rows that it learned from.",
        shares=(1,),
    )


def tail_section(quality: Quality, names: tuple[str, str]) -> Section:
    """Return how well small groups are kept."""
    ways = "two-column" if quality.pairs else "one-column"
    rows, below = [], "100%"
    for group in quality.groups:
        size = f"{group.above:.1%} to {below}" if group.above else f"up to {below}"
        rows.append((size, group.cells, group.relative, group.absolute))
        below = f"{group.above:.1%}"
    grid = Grid.of(
        ("part of all rows", "groups", "typical error of the size", "mean error, of all rows"),
        rows,
        f"Groups are the cells of the {ways} tables of {names[0]}. "
        f"{quality.invented:.2%} of the rows of {names[1]} lie in cells that are empty there.",
        shares=(2, 3),
    )
    return Section("Small groups and tails", (grid,))
