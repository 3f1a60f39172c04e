"""What the lab's pages show: knobs as sliders, scores as bars in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.attack.registry import Knob
from discreet.server.features.lab.outcomes import Shown


def knob_view(knob: Knob, value: Any) -> dict[str, Any]:
    """Return one setting as the form shows it."""
    now = knob.default if value is None else value
    return {
        "name": knob.name,
        "words": knob.words,
        "value": now,
        "choices": list(knob.choices),
        "low": "" if knob.low is None else f"{knob.low:g}",
        "high": "" if knob.high is None else f"{knob.high:g}",
        "step": "any" if knob.step is None else f"{knob.step:g}",
        "slides": knob.low is not None and knob.high is not None,
        "whole": isinstance(knob.default, int),
    }


def outcome_view(shown: Shown) -> dict[str, Any]:
    """Return an outcome as the page shows it: two scores side by side, each beside its baseline."""
    found = shown.outcome
    private = found["private"]
    return {
        "knew": found["knew"],
        "released": found["released"],
        "did": found["did"],
        "lesson": found["lesson"],
        "person": shown.person,
        "words": shown.words,
        "private_words": shown.private_words,
        "bars": [
            _bar("on this release", found),
            *([] if private is None else [_bar("on the private version", private)]),
        ],
    }


def _bar(name: str, score: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "shown": f"{100 * score['success']:.1f}".removesuffix(".0"),
        "width": f"{100 * score['success']:.2f}%",
        "low": f"{100 * score['low']:.2f}%",
        "span": f"{100 * max(0.0, score['high'] - score['low']):.2f}%",
        "baseline": f"{100 * score['baseline']:.2f}%",
    }
