"""What a lesson shows step by step: figures that the product itself has worked out, kept beside the lesson.

`scripts/course.py` runs each lesson's `facts()` and writes `facts.json`, because some take a minute.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from discreet.lab.attacks.attacks import Outcome, Score, attack_named, score_words
from discreet.lab.course.lesson import Lesson


@dataclass(frozen=True, slots=True)
class SweepBar:
    """One bar of a step: its name, its value, its interval, and what guessing would give, all from 0 to 1."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    baseline: float | None = None


@dataclass(frozen=True, slots=True)
class SweepStep:
    """One place of the slider: what it is called, its bars, and a sentence."""

    label: str
    bars: tuple[SweepBar, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A row of steps under one slider. `measure` says what the bars are, in words."""

    label: str
    measure: str
    steps: tuple[SweepStep, ...]
    start: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return plain values, rounded to what a picture shows."""
        rounded: dict[str, Any] = json.loads(
            json.dumps(asdict(self)), parse_float=lambda text: round(float(text), 4)
        )
        return rounded


def attack_sweep(
    name: str,
    knob: str,
    values: Mapping[str, Any],
    *,
    label: str,
    settings: Mapping[str, Any] | None = None,
    start: int = 0,
    released: str = "on what was released",
    private: str = "on the private version",
    told: Callable[[Outcome], str] = attrgetter("person"),
) -> Sweep:
    """Return an attack of the red team, run on the made-up town once for each value of one of its knobs.

    `told` says what stands behind the score: what it means for one person, unless named.
    """
    attack, steps, measure = attack_named(name), [], ""
    for shown, value in values.items():
        outcome = attack.run({**(settings or {}), knob: value})
        bars = [_bar(released, outcome.score)]
        if outcome.private is not None:
            bars.append(_bar(private, outcome.private))
        measure = outcome.score.measure
        steps.append(
            SweepStep(shown, tuple(bars), f"{score_words(outcome.score)} {told(outcome)}".strip())
        )
    return Sweep(label, measure, tuple(steps), start)


def _bar(name: str, score: Score) -> SweepBar:
    return SweepBar(name, score.success, score.low, score.high, score.baseline)


def facts_json(sweeps: Mapping[str, Sweep], data: Mapping[str, Any] | None = None) -> str:
    """Return what a lesson's facts.json holds: its sweeps by name, and other figures."""
    told = {"sweeps": {k: v.to_json() for k, v in sweeps.items()}, "data": dict(data or {})}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


@cache
def facts_of(lesson: Lesson) -> Mapping[str, Any]:
    """Return the kept facts of a lesson; a lesson without any has none."""
    path = lesson.folder / "facts.json"
    if not path.is_file():
        return {"sweeps": {}, "data": {}}
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def epsilons(values: Sequence[float]) -> dict[str, float]:
    """Return epsilons by what a slider calls them.

    >>> epsilons([0.1, 1.0])
    {'ε 0.1': 0.1, 'ε 1': 1.0}
    """
    return {f"ε {value:g}": value for value in values}
