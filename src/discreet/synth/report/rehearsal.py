"""A rehearsal: the method run again on its own synthetic rows, to see what it loses. Free."""

from __future__ import annotations

from math import comb

import numpy as np

from discreet.synth.measure.memory import MemoryCounter
from discreet.synth.report.quality import Lens, Quality, compare
from discreet.synth.report.subject import Subject

MOST_ROWS = 200_000
"""More rows would take longer and say no more."""
MOST_WORK = 200_000_000
"""Pairs of columns times rows: beyond this a rehearsal takes minutes, and is left out."""


def rehearse(subject: Subject, lens: Lens) -> Quality | None:
    """Return the quality of a second synthesis, of the synthetic rows; None without `refit`.

    The same method, budget and number of rows, with fresh noise. What it loses of the synthetic
    data is an estimate of what it lost of the real data. It cannot see dependence that the first
    run did not catch, so it is a lower estimate; reports say so.

    Guarantee: post-processing. Only the fitted model and public facts are used.
    """
    if subject.refit is None or work(subject) > MOST_WORK:
        return None
    dice = np.random.default_rng()  # no guarantee hangs on these dice: the model is paid for
    rows = subject.rows
    shape = lens.shape
    stage = MemoryCounter(subject.model.sample(min(rows, MOST_ROWS), dice=dice), shape)
    again = subject.refit(stage)
    second = again.sample(min(rows, MOST_ROWS), dice=dice)
    return compare(stage, MemoryCounter(second, shape), lens)


def work(subject: Subject) -> int:
    """Return how much a rehearsal would count: a public number."""
    return comb(subject.encoding.shape.width, 2) * min(subject.rows, MOST_ROWS)
