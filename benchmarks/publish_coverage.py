"""How often the published intervals hold the truth, level by level and cell by cell."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.figures import figure
from benchmarks.publish_errors import Subject, counted, noisy, subject_of
from scipy.stats import binom

from discreet.privacy.noise.laws import GaussianLaw, LaplaceLaw
from discreet.privacy.noise.rng import Rng, SystemRng
from discreet.work.publish.reconcile.problem import problem_of
from discreet.work.publish.reconcile.solve import reconcile

ALPHA = 1e-6
"""Chance that a level whose cells are all covered 95 times in 100 is said to have one that is not."""
SUBJECTS = {
    "town": ("town", True),
    "town, Laplace": ("town", False),
    "ma2019.csv": ("ma2019.csv", True),
}
"""What is published, and whether with delta (Gaussian noise) or without (Laplace)."""


@dataclass(frozen=True, eq=False)
class Covered:
    """How many of `runs` intervals of each cell of one level held the truth."""

    level: str
    runs: int
    times: np.ndarray

    @property
    def mean(self) -> float:
        """Return the mean coverage of the level."""
        return float(self.times.mean()) / self.runs

    @property
    def worst(self) -> float:
        """Return the coverage of the cell that was covered least often."""
        return float(self.times.min()) / self.runs

    @property
    def holds(self) -> bool:
        """Return whether no cell lies below 95% by a Bonferroni test, and the mean does not either."""
        chance = binom.cdf(self.times.min(), self.runs, 0.95) * self.times.size
        return bool(chance > ALPHA and self.mean >= 0.95)


def covered(subject: Subject, runs: int, *, delta: bool, rng: Rng) -> list[Covered]:
    """Return the coverage of every level in `runs` releases with the noise of the product."""
    text = subject.spec if delta else subject.spec.replace("delta = 1e-9\n", "")
    family, truth, laws = counted(text, subject.toml)
    times = [np.zeros(cells.shape, dtype=np.int64) for cells in truth]
    width = (GaussianLaw if delta else LaplaceLaw).width95
    for _ in range(runs):
        problem = problem_of(family, noisy(truth, laws, rng), [law.variance for law in laws])
        for seen, exact, result in zip(times, truth, reconcile(problem, width=width), strict=True):
            np.add(
                seen, (result.published.low <= exact) & (exact <= result.published.high), out=seen
            )
    return [Covered(m.name, runs, seen) for m, seen in zip(family.members, times, strict=True)]


def coverage(runs: int) -> None:
    """Print for every level the mean coverage and that of its worst cell."""
    print(f"{runs:,} releases each, epsilon 1; intervals of 95%")
    print(f"{'':<16}{'level':<10}{'cells':>8}{'mean':>10}{'worst cell':>12}")
    for title, (name, delta) in SUBJECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            subject = subject_of(name, Path(folder))
            if subject is None:
                print(f"{title}: ../shared/data is not there")
                continue
            for level in covered(subject, runs, delta=delta, rng=SystemRng()):
                said = "" if level.holds else "  BELOW 95%"
                print(
                    f"{title:<16}{level.level:<10}{level.times.size:>8,}{level.mean:>10.2%}"
                    f"{level.worst:>12.2%}{said}"
                )
                figure(f"coverage, {title}, {level.level}", 100 * level.mean, "%")
