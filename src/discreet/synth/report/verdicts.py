"""Verdicts: which kinds of questions a synthetic table supports, and by how much it is off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from discreet.synth.report.quality import Quality
from discreet.synth.report.quality_marginals import TableDistance

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
