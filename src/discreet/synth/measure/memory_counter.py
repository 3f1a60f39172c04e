"""A counter over rows in memory: for benchmarks, tests and tables that are already codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.synth.encoding.shape import Codes, Columns, Counts, Shape, joint_codes


class MemoryCounter:
    """Exact marginals of a matrix of codes."""

    def __init__(self, codes: Codes, shape: Shape) -> None:
        self._codes = codes[:, : shape.width].astype(np.int64, order="F")  # read by column
        self._shape = shape

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals."""
        return [self._marginal(columns) for columns in wanted]

    def _marginal(self, columns: Columns) -> Counts:
        place = joint_codes(self._codes, columns, self._shape.sizes)
        counts = np.bincount(place, minlength=self._shape.cells(columns))
        return counts.reshape(self._shape.of(columns))
