"""The picture of reconstruction: success against noise, with the two famous thresholds marked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from discreet.attack.outcome import Score
from discreet.report.charts import lines
from discreet.report.look import LIGHT


def noise_sweep(
    people: int, swept: Mapping[float, tuple[Score, Score]], private: Score
) -> dict[str, Any]:
    """Return lines of success by noise on a logarithmic axis, and both thresholds."""
    shown = {most: pair for most, pair in swept.items() if most > 0}
    spec = lines(
        {
            "least squares": [(most, pair[0].success) for most, pair in shown.items()],
            "linear programme": [(most, pair[1].success) for most, pair in shown.items()],
        },
        threshold=private.success,
        mark="against the curator",
        title="share of bits right",
        across="noise of each answer, at most",
        scale="log",
    )
    for layer in spec["layer"][:2]:
        layer["encoding"]["x"]["scale"]["nice"] = False
    spec["layer"] += _upright(people / 401, "n/401", "all 2^n queries")
    spec["layer"] += _upright(math.sqrt(people), "√n", "few queries")
    return spec


def _upright(at: float, name: str, words: str) -> list[dict[str, Any]]:
    """A rule at one place of the axis, with its name: thresholds of noise, not of success."""
    once: dict[str, Any] = {"values": [{}]}
    text = {"type": "text", "align": "left", "dx": 4, "text": f"{name}: {words}"}
    return [
        {
            "data": once,
            "mark": {"type": "rule", "color": LIGHT["quiet"], "strokeDash": [2, 2]},
            "encoding": {"x": {"datum": at}},
        },
        {
            "data": once,
            "mark": {**text, "color": LIGHT["ink"]},
            "encoding": {"x": {"datum": at}, "y": {"value": 186}},
        },
    ]
