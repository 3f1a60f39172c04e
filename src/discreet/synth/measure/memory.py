"""A counter over rows in memory: for benchmarks, tests and tables that are already codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.synth.encoding.shape import Codes, Columns, Counts, Shape


class MemoryCounter:
    """Exact marginals of a matrix of codes."""

    def __init__(self, codes: Codes, shape: Shape) -> None:
        self._columns = [
            np.ascontiguousarray(codes[:, i]).astype(np.int64) for i in range(shape.width)
        ]
        self._shape = shape

    def marginals(self, wanted: Sequence[Columns]) -> list[Counts]:
        """Return the exact counts of several marginals."""
        return [self._marginal(columns) for columns in wanted]

    def _marginal(self, columns: Columns) -> Counts:
        sizes = self._shape.of(columns)
        place = np.zeros(len(self._columns[0]), dtype=np.int64)
        for column, size in zip(columns, sizes, strict=True):
            place *= size
            place += self._columns[column]
        return np.bincount(place, minlength=self._shape.cells(columns)).reshape(sizes)
