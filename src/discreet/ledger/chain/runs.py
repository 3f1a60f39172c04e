"""Charges that were made together stand side by side in the chain; half of such a run is no history."""

from __future__ import annotations

from typing import Any

SHORTEST_RUN = 2
"""Charges that were made together are at least so many; one alone is no run."""


def run_after(run: int | None, position: int, together: Any) -> int | None:
    """Return where the run of charges ends that goes on after the entry at `position`, None if none does.

    `run` is where the run ends that was open before it, `together` what the entry says: where its own
    begins and how many they are, None for every entry that is no part of one.

    Guarantee: raises ValueError unless every run is whole, unbroken and as long as all of it say.
    """
    if together is None:
        if run is not None:
            raise ValueError("a run of charges is broken off")
        return None
    first, many = together
    end = first + many
    started = position == first if run is None else run == end
    if not started or many < SHORTEST_RUN or position >= end:
        raise ValueError("a charge is not where its run says")
    return end if position + 1 < end else None
