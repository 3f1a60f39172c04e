"""How many rows a bound leaves out, from a noisy histogram of the rows that people have.

Let p_j be the people with more than e_(j-1) and at most e_j rows, and X_j the noise of the count that was paid for.
A person of bin j loses between (e_(j-1) + 1 - b)+ and (e_j - b)+ rows to a bound of b. So the loss lies between
two sums of p_j with known weights, and the noise of such a sum is a weighted sum of independent X_j.

Guarantee: each interval holds with at least 95%. For a weighted sum S of independent noises of variance v,
    P(S >= t) <= min over k of exp(-k t) * prod 1 / (1 - v (cosh(k w_j) - 1)),
    Chernoff's bound with the moment function of discrete Laplace noise; that of Gaussian noise of the same variance is
    smaller, so the kind of noise need not be known. Where the histogram is cut (people beyond are too few to be told
    from noise) was read from the noise, so the bound is taken for all cuts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.arrays import Floats

ALPHA = 0.05
_STEPS = 400
_WINDOW = 4


@dataclass(frozen=True, slots=True)
class RowsLost:
    """Rows that a bound leaves out of the whole table, at 95%: those of people with at most `up_to` rows.

    At most `beyond` people have more; what they lose is in none of these.
    """

    bound: int
    low: int
    likely: int
    high: int
    up_to: int
    beyond: int

    def words(self) -> str:
        """Return the loss in words."""
        if self.beyond and not self.high:
            found = "that leaves out no rows that could be told from noise (paid for)"
        else:
            found = (
                f"that leaves out about {self.likely:,} rows of the whole table "
                f"({self.low:,} to {self.high:,} at 95%, paid for), which are not in the noise"
            )
        if self.beyond:
            rows = "1 row" if self.up_to == 1 else f"{self.up_to:,} rows"
            found += (
                f"; up to {self.beyond:,} people may have more than {rows}, and what "
                "they lose is not in that figure"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "max_rows": self.bound,
            "lost": self.likely,
            "lost_low": self.low,
            "lost_high": self.high,
            "up_to": self.up_to,
            "people_beyond": self.beyond,
        }


@dataclass(frozen=True, slots=True)
class RowsHistogram:
    """Noisy numbers of people by how many rows they have: bin j ends at `ends[j]`, the last has no end."""

    ends: tuple[int, ...]
    people: tuple[float, ...]
    variance: float

    def lost(self, bound: int) -> RowsLost:
        """Return the rows that a bound leaves out, with its interval."""
        people = np.asarray(self.people)
        share = ALPHA / 3 / len(self.ends)  # two ends and the people beyond, for every cut at once
        cut, beyond = self._cut(people, bound, share)
        ends = np.asarray(self.ends[: cut + 1], dtype=float)
        starts = np.concatenate([[1.0], ends[:-1] + 1])
        least, most = np.maximum(starts - bound, 0), np.maximum(ends - bound, 0)
        counted = people[: cut + 1]
        low = float(counted @ least) - spread(least, self.variance, share)
        high = float(counted @ most) + spread(most, self.variance, share)
        likely = float(counted @ (least + most)) / 2
        low, high = max(low, 0.0), max(high, 0.0)
        return RowsLost(
            bound=bound,
            low=int(np.floor(low)),
            likely=round(min(max(likely, low), high)),
            high=int(np.ceil(high)),
            up_to=int(ends[-1]),
            beyond=beyond,
        )

    def _cut(self, people: Floats, bound: int, share: float) -> tuple[int, int]:
        """Return the last bin that is counted, and how many people may stand beyond it.

        It is the last that shows people above the noise, or the end of the last few beyond it that do so
        together; but not below the bound.
        """
        cut = next((j for j, end in enumerate(self.ends) if end >= bound), len(self.ends) - 1)
        for wide in range(_WINDOW):
            sure = spread(np.ones(wide + 1), self.variance, share)
            shows = (
                j
                for j in range(len(self.ends) - 1, cut + wide, -1)
                if people[j - wide : j + 1].sum() > sure
            )
            cut = next(shows, cut)
        noise = spread(np.ones(len(people) - cut - 1), self.variance, share)
        return cut, max(int(np.floor(people[cut + 1 :].sum() + noise)), 0)


def spread(weights: Sequence[float] | Floats, variance: float, risk: float) -> float:  # fmt: skip
    """Return what a weighted sum of independent noises of this variance exceeds with at most `risk`."""
    sizes = np.asarray(weights, dtype=float)
    most = float(sizes.max(initial=0.0))
    if most <= 0 or variance <= 0:
        return 0.0
    edge = float(np.arccosh(1 + 1 / variance)) / most  # where the moments end
    steps = edge * np.linspace(0, 1, _STEPS + 2)[1:-1]
    moments = -np.log1p(-variance * (np.cosh(np.outer(steps, sizes)) - 1)).sum(axis=1)
    return float(((moments - np.log(risk)) / steps).min())
