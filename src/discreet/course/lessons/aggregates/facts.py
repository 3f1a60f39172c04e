"""Reconstruction as the noise of each answer grows."""

from __future__ import annotations

from discreet.course.facts import attack_sweep, facts_json


def facts() -> str:
    """Return the sweep, run on the town."""
    noise = {f"{n:g} of the root of n": n for n in (0.05, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)}
    settings = {"people": 512, "lp_people": 32}
    sweep = attack_sweep(
        "reconstruction", "noise", noise, label="noise of each answer:", settings=settings, start=2
    )
    return facts_json({"noise": sweep})
