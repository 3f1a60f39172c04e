"""Disparate impact: how often a model is right for each subgroup, against the epsilon it was trained with.

Noise hides small groups first. The report shows what that costs whom: one line a subgroup, with the gap
between those served best and worst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.report import Document, Figure, Grid, Paragraph, Section, lines

FEWEST_ROWS = 30
"""Test rows that a subgroup must have to be called the worst served."""

MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class ImpactPoint:
    """One training: its epsilon, how often it was right, and for whom."""

    epsilon: float
    accuracy: Mapping[str, Any]
    baseline: float
    subgroups: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(cls, epsilon: float, facts: Mapping[str, Any]) -> ImpactPoint:
        """Return the point that a tested model's facts say."""
        return cls(epsilon, facts["accuracy"], facts["baseline"], facts.get("subgroups", {}))

    @property
    def gap(self) -> float:
        """Return how far apart the subgroups of one column are, where that is farthest."""
        spans = [
            [item["value"] for item in values.values() if item.get("rows", 0) >= FEWEST_ROWS]
            for values in self.subgroups.values()
        ]
        return max((max(each) - min(each) for each in spans if each), default=0.0)

    def to_json(self) -> dict[str, Any]:
        """Return the point as the command prints it."""
        return {
            "epsilon": self.epsilon,
            "accuracy": dict(self.accuracy),
            "baseline": self.baseline,
            "gap": round(self.gap, 6),
            "subgroups": {column: dict(values) for column, values in self.subgroups.items()},
        }


def impact_report(target: str, table: str, points: list[ImpactPoint]) -> Document:
    """Return the curves: everything on them was paid for, or comes from rows declared public."""
    ordered = sorted(points, key=lambda each: each.epsilon)
    columns = sorted({column for each in ordered for column in each.subgroups})
    sections = [Section("All together", (_overall(ordered), Paragraph(_said(ordered[-1]))))]
    sections += [Section(column, _of_column(column, ordered)) for column in columns]
    return Document(
        f"{target}: who is served how well, at which epsilon",
        f"models of {table}, one for each epsilon; tested on {ordered[-1].accuracy.get('on', '')}",
        None,
        tuple(sections),
    )


def _overall(points: list[ImpactPoint]) -> Figure:
    series = {
        "right": [(each.epsilon, each.accuracy["value"]) for each in points],
        "largest gap between subgroups": [(each.epsilon, each.gap) for each in points],
        "always the most common class": [(each.epsilon, each.baseline) for each in points],
    }
    spec = lines(series, title="share of rows", across="epsilon", scale="log")
    return Figure("Right, and the gap", spec, "Share of right predictions against epsilon.")


def _said(last: ImpactPoint) -> str:
    each = [
        (item["value"], column, value)
        for column, values in last.subgroups.items()
        for value, item in values.items()
        if item.get("rows", 0) >= FEWEST_ROWS
    ]
    if not each:
        return "No subgroup has enough test rows to be compared."
    share, column, value = min(each)
    return (
        f"At epsilon {last.epsilon:g} the model is right {last.accuracy['value']:.1%} of the time; it "
        f"serves {column} = {value} worst, with {share:.1%}."
    )


def _of_column(column: str, points: list[ImpactPoint]) -> tuple[Any, ...]:
    known = points[-1].subgroups.get(column, {})
    largest = sorted(known, key=lambda value: -known[value].get("rows", 0))[:MOST_LINES]
    series = {
        value: [
            (each.epsilon, each.subgroups[column][value]["value"])
            for each in points
            if value in each.subgroups.get(column, {})
        ]
        for value in largest
    }
    rows = [
        (each.epsilon, value, item["value"], item["low"], item["high"], item.get("rows"))
        for each in points
        for value, item in each.subgroups.get(column, {}).items()
    ]
    headers = ("epsilon", "value", "right", "low", "high", "rows")
    spec = lines(series, title="right", across="epsilon", scale="log")
    return (
        Figure(column, spec, f"Share of right predictions by {column}, the largest groups."),
        Grid.of(headers, rows, "With 95% intervals", shares=(2, 3, 4)),
    )
