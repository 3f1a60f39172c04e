"""What a benchmark found, kept for the report as well as printed: one JSON line for each figure.

A benchmark calls `figure` beside its `print`. Alone it prints only; under `python -m benchmarks` the
lines go to the file that DISCREET_BENCH_FIGURES names, and from there into the report.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

PLACE = "DISCREET_BENCH_FIGURES"
RATES = ("a second",)


@dataclass(frozen=True)
class Figure:
    """One measured figure; `beside` names what was measured in the same run, `theirs` its figure."""

    what: str
    ours: float
    unit: str
    beside: str = ""
    theirs: float | None = None
    wanted: str = ""
    met: bool | None = None
    paired: float | None = None
    """The median of the ratios of pairs that were measured in turn: what `met` is about then."""

    @property
    def ratio(self) -> float | None:
        """Ours as a multiple of theirs: of a time less is better, of a rate more."""
        if self.paired is not None:
            return self.paired
        return self.ours / self.theirs if self.theirs else None


def figure(
    what: str,
    ours: float,
    unit: str,
    *,
    beside: str = "",
    theirs: float | None = None,
    wanted: str = "",
    met: bool | None = None,
    paired: float | None = None,
) -> None:
    """Keep one figure where a report is being made."""
    place = os.environ.get(PLACE)
    if place:
        kept = Figure(what, float(ours), unit, beside, theirs, wanted, met, paired)
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(kept)) + "\n")


def read(path: Path) -> list[Figure]:
    """Return the figures of a file, in their order."""
    if not path.exists():
        return []
    return [Figure(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
