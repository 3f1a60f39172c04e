"""The intersection and homogeneity attacks as k grows."""

from __future__ import annotations

from discreet.course.facts import attack_sweep, facts_json

SIZES = (2, 3, 5, 10, 20, 50)


def facts() -> str:
    """Return both sweeps, run on the town."""
    values = {f"k = {k}": k for k in SIZES}
    people = {"people": 10_000}
    return facts_json(
        {
            name: attack_sweep(
                name, "k", values, label="smallest class of a release:", settings=people, start=2
            )
            for name in ("intersection", "homogeneity")
        }
    )
