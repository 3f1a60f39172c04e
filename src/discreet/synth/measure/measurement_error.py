"""What the laws of the noise say about the error of measured tables: no row is read for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from discreet.synth.encoding.shape import Columns, Shape
from discreet.synth.measure.private_marginals import Counter, Measured

SURE = "0.95"
_CANTELLI = sqrt(19)
"""P(X >= mean + k sd) <= 1 / (1 + k^2), which is 0.05 for k^2 = 19: holds for every law."""
TOO_NOISY = 0.1
"""Where noise alone moves a tenth of the rows of a one-column table, little can be said."""


@dataclass(frozen=True, slots=True)
class Implied:
    """The error of one measured table, in parts of all rows.

    `half_width`: noise of one cell at 95%, in rows. `noise`: expected total variation of the noise
    alone. `fit`: distance of the synthetic table from the noisy one. `bound`: with probability of
    at least 95% the synthetic table is no further than this from the real one.
    """

    columns: Columns
    cells: int
    half_width: int
    noise: float
    fit: float
    bound: float


def implied(measured: Measured, synthetic: Counter, rows: int, drawn: int) -> Implied:
    """Return what is known about one table from its noisy counts and the law of their noise.

    `rows` is the estimated size of the real table, `drawn` that of the synthetic one.

    Guarantee: |real - synthetic| <= |noisy - synthetic| + |noise| in L1; the second part has a known
        law whatever the data are, and Cantelli's inequality bounds it. (docs/notes/0024)
    """
    found = synthetic.marginals([measured.columns])[0] * (rows / max(drawn, 1))
    distance = float(np.abs(measured.values - found).sum())
    cells = found.size
    mean = measured.law.mean_size
    spread = sqrt(cells * max(measured.variance - mean**2, 0.0))
    noise = cells * mean
    return Implied(
        measured.columns,
        cells,
        measured.law.half_width(SURE),
        min(1.0, noise / (2 * rows)),
        min(1.0, distance / (2 * rows)),
        min(1.0, (distance + noise + _CANTELLI * spread) / (2 * rows)),
    )


def whole(measured: Sequence[Measured], shape: Shape) -> list[Measured]:
    """Return the tables that were measured code by code, not by merged groups of codes."""
    return [each for each in measured if each.values.shape == shape.of(each.columns)]


def too_small(measured: Sequence[Measured], rows: int) -> str | None:
    """Return a warning if the noise drowns the tables of single columns; None if it does not.

    From noisy n, laws and public sizes alone.
    """
    singles = [each for each in measured if len(each.columns) == 1] or list(measured)
    if not singles:
        return None
    moved = [each.values.size * each.law.mean_size / 2 for each in singles]
    part = float(np.mean(moved)) / rows
    if part <= TOO_NOISY:
        return None
    needed = int(np.ceil(float(np.mean(moved)) / TOO_NOISY / 100) * 100)
    return (
        f"About {rows:,} rows are too few for this epsilon: the noise alone moves "
        f"{min(part, 1):.0%} of the rows of a one-column table. It takes about {needed:,} rows, a "
        "larger epsilon, or columns with fewer values."
    )
