"""Many privacy-loss laws side by side: their moments, and how they are brought onto one grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.account.curves.pld_laws import Atoms
from discreet.core.arrays import Floats


@dataclass(frozen=True, slots=True)
class StackedLaws:
    """Laws laid end to end: atom by atom the loss and the logarithm of its mass; `starts` says where
    each law begins and `counts` how often it occurs."""

    losses: Floats
    logs: Floats
    starts: npt.NDArray[np.intp]
    counts: Floats

    @classmethod
    def of(cls, laws: tuple[tuple[Atoms, int], ...]) -> StackedLaws:
        """Return the stack of all laws, without atoms of no mass."""
        losses, logs, sizes = [], [], []
        for atoms, _ in laws:
            positive = atoms.masses > 0
            losses.append(atoms.losses[positive])
            logs.append(np.log(atoms.masses[positive]))
            sizes.append(int(positive.sum()))
        starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.intp)
        counts = np.array([count for _, count in laws], dtype=np.float64)
        return cls(np.concatenate(losses), np.concatenate(logs), starts, counts)

    def log_moments(self, tilt: float) -> Floats:
        """Return, law by law, ln of the sum of mass * e^(tilt * loss)."""
        exponents = self.logs + tilt * self.losses
        tops = np.maximum.reduceat(exponents, self.starts)
        sums = np.add.reduceat(np.exp(exponents - self._spread(tops)), self.starts)
        result: Floats = tops + np.log(sums)
        return result

    def log_moment(self, tilt: float) -> float:
        """Return ln of the moment of the summed loss."""
        return float(np.dot(self.counts, self.log_moments(tilt)))

    def tilted(self, tilt: float) -> Floats:
        """Return all masses, tilted so that each law sums to one."""
        exponents = self.logs + tilt * self.losses - self._spread(self.log_moments(tilt))
        result: Floats = np.exp(exponents)
        return result

    def spread(self, tilt: float) -> tuple[float, float]:
        """Return mean and standard deviation of the summed loss under the tilted laws."""
        masses = self.tilted(tilt)
        means = np.add.reduceat(masses * self.losses, self.starts)
        deviations = self.losses - self._spread(means)
        variances = np.add.reduceat(masses * deviations * deviations, self.starts)
        return float(np.dot(self.counts, means)), float(np.dot(self.counts, variances)) ** 0.5

    def range(self) -> tuple[float, float]:
        """Return the least and the greatest value of the summed loss."""
        low = np.minimum.reduceat(self.losses, self.starts)
        high = np.maximum.reduceat(self.losses, self.starts)
        return float(np.dot(self.counts, low)), float(np.dot(self.counts, high))

    def on_grid(self, step: float) -> StackedLaws:
        """Return the laws on multiples of `step`; `losses` then are whole numbers of steps.

        Guarantee: each atom is split between its two neighbours so that its mass under P and under Q
            stays what it was; the new pair dominates the old one (note 0008, lemma 2).
        """
        below = np.floor(self.losses / step)
        rest = np.clip(self.losses - below * step, 0.0, step)
        upper = np.clip(np.expm1(-rest) / np.expm1(-step), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            logs = np.stack((self.logs + np.log1p(-upper), self.logs + np.log(upper)), axis=1)
        indices = np.stack((below, below + 1), axis=1)
        return StackedLaws(indices.ravel(), logs.ravel(), 2 * self.starts, self.counts)

    def _spread(self, values: Floats) -> Floats:
        sizes = np.diff(np.append(self.starts, len(self.losses)))
        result: Floats = np.repeat(values, sizes)
        return result
