"""Charges that were made together stand side by side in the chain; half of such a run is no history."""

from __future__ import annotations

from typing import Any

SHORTEST_RUN = 2
"""Charges that were made together are at least so many; one alone is no run."""


def run_after(run: tuple[int, int] | None, position: int, together: Any) -> tuple[int, int] | None:
    """Return the run of charges that goes on after the entry at `position`, None if none does.

    A run is where it begins and how many they are: `run` the one that was open before the entry,
    `together` what the entry says of its own, None for every entry that is no part of one.

    Guarantee: raises ValueError unless every run is whole, unbroken and as long as all of it say.
    """
    if together is None:
        if run is not None:
            raise ValueError("a run of charges is broken off")
        return None
    first, many = together
    end = first + many
    started = position == first if run is None else run == (first, many)
    if not started or many < SHORTEST_RUN or position >= end:
        raise ValueError("a charge is not where its run says")
    return (first, many) if position + 1 < end else None
