"""What the commands of `discreet learn` read and say: ratings, and results in words for a terminal."""

from __future__ import annotations

from typing import Any

from discreet.cli.options import comma_list
from discreet.cli.terminal import budget_said, price_said
from discreet.errors import InvalidInput


def viewer_ratings(written: str | None) -> dict[str, float]:
    """Return ITEM=RATING,... as ratings."""
    found: dict[str, float] = {}
    for part in comma_list(written):
        name, equals, value = part.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InvalidInput(f"Write ratings as ITEM=RATING, not '{part[:40]}'.")
    return found


def trained_words(found: dict[str, Any]) -> str:
    """Return a classifier in words for a terminal."""
    right = found["accuracy"]
    price, seconds = price_said(found), f"{found['seconds']:.1f} s"
    done = f"Learned {found['target']} by '{found['model']}' ({price}, {seconds})"
    interval = f"{right['low']:.1%} to {right['high']:.1%}"
    score = f"Right {right['value']:.1%} ({interval}) on {right['on']}"
    lines = [
        f"{done}; kept in {found['out']}.",
        f"{score}; always the most common class: {found['baseline']:.1%}.",
    ]
    return "\n".join([*lines, budget_said(found), *found["notices"]])


def regression_words(found: dict[str, Any]) -> str:
    """Return a regression in words for a terminal."""
    done = f"Learned {found['target']} by '{found['model']}' ({found['seconds']:.1f} s)"
    score = f"Off by {found['baseline']:g} when always saying the mean"
    if found["rmse"] is not None:
        score = f"Off by {found['rmse']['value']:g} (root mean square); {score.lower()}"
    return f"{done}; kept in {found['out']}.\n{score}. Measured on {found['measured_on']}."


def impact_words(found: dict[str, Any]) -> str:
    """Return the curve in words for a terminal."""
    lines = [
        f"epsilon {each['epsilon']:g}: right {each['accuracy']['value']:.1%}, "
        f"subgroups up to {each['gap']:.1%} apart"
        for each in found["points"]
    ]
    return "\n".join([*lines, f"Report: {found['out']} (epsilon {found['cost']['epsilon']:g})."])
