"""How far a standard deviation really moves, beside the claim."""

from __future__ import annotations

import statistics

from discreet.course.facts import Sweep, SweepBar, SweepStep, facts_json


def facts() -> str:
    """Return the sweep over n."""
    steps = []
    for n in (4, 10, 30, 100, 1_000):
        moved = statistics.pstdev([1.0] + [0.0] * (n - 1))
        bars = (SweepBar("it moves by", moved), SweepBar("the claim: 1/n", 1 / n))
        steps.append(SweepStep(f"{n:,} numbers", bars, f"{moved * n:.1f} times as far as claimed."))
    return facts_json(
        {"": Sweep("how many numbers:", "how far the standard deviation moves", tuple(steps), 2)}
    )
