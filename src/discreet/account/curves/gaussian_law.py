"""The privacy-loss law of continuous Gaussian noise, as atoms that dominate it.

The line is cut into blocks. Inside a block the odds P/Q lie between those at its ends; all of its mass is
moved to the two ends so that P and Q both keep theirs, which spreads the odds and can only help the
attacker (the convexity behind notes/0008, lemma 2).
"""

from __future__ import annotations

import math

import numpy as np

from discreet.account.curves.pld_laws import Atoms
from discreet.core.arrays import Floats

REACH = 13.0
"""Standard deviations around both centres that are cut into blocks; 10^-37 lies beyond."""

BLOCKS = 12_000


def gaussian_atoms(shift: float) -> Atoms:
    """Return a law that dominates N(0, 1) against N(shift, 1), in both directions by symmetry."""
    if not shift:
        return Atoms(np.zeros(1), np.ones(1))
    edges = np.linspace(-REACH, REACH + shift, BLOCKS + 1)
    under_p, under_q = _masses(edges), _masses(edges - shift)
    losses = shift * shift / 2 - shift * edges  # ln P/Q at each edge, falling
    high, low = losses[:-1], losses[1:]
    # p_low e^-low + p_high e^-high = q and p_low + p_high = p, written from the upper end.
    narrow = -np.expm1(low - high)
    at_low = (under_q * np.exp(low) - under_p * np.exp(low - high)) / narrow
    at_low = np.clip(at_low, 0.0, under_p)
    masses = np.concatenate((under_p - at_low, at_low))
    return Atoms(np.concatenate((high, low)), masses, infinite=1e-36, mass_error=1e-7)


def _masses(edges: Floats) -> Floats:
    """Return the standard normal mass of each block: from the nearer tail, so that nothing cancels."""
    upper = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in np.abs(edges).tolist()])
    left, right = upper[:-1], upper[1:]
    both = np.where(edges[:-1] >= 0, left - right, right - left)
    across = (edges[:-1] < 0) & (edges[1:] > 0)
    return np.asarray(np.where(across, 1 - left - right, both))
