"""How near people are to the rows of a table: the nearest row, and the table's density around them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.attack.membership.auc import auc_score
from discreet.attack.outcome import Score
from discreet.core.arrays import Floats

WIDTH = 0.25
"""Width of the kernel, in columns that differ: rows farther away than a few of them hardly count."""
_ROWS_A_CHUNK = 64
ScaledRows = tuple[Floats, npt.NDArray[np.int32]]


def membership_scores(
    copy: pa.Table, members: pa.Table, others: pa.Table, panel: pa.Table
) -> dict[str, Score]:
    """Return the AUC of two scores: nearness to the copy, and its density over the panel's.

    The panel are other people of the same population, whom the adversary knows: what is common
    everywhere is no sign of membership.
    """
    scaled = Scaled([copy, members, others, panel])
    near, dense = [], []
    for people in (members, others):
        rows = scaled.rows(people)
        nearest, density = nearness(rows, scaled.rows(copy))
        near.append(-nearest)
        dense.append(density - nearness(rows, scaled.rows(panel))[1])
    return {
        "nearest row": auc_score(near[0], near[1]),
        "density ratio": auc_score(dense[0], dense[1]),
    }


class Scaled:
    """Turns rows of these tables into numbers such that two differ by at most 1 in each column."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        self._ranges: dict[str, tuple[float, float]] = {}
        self._values: dict[str, pa.Array] = {}
        for field in tables[0].schema:
            is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
            kind = pa.float64() if is_number else pa.string()
            column = pa.chunked_array(
                [part for table in tables for part in table[field.name].cast(kind).chunks]
            )
            if is_number:
                ends = pc.min_max(column).as_py()
                low = float(ends["min"] or 0)
                self._ranges[field.name] = (low, max(float(ends["max"] or 0) - low, 1e-9))
            else:
                self._values[field.name] = pc.unique(column)

    def rows(self, table: pa.Table) -> ScaledRows:
        """Return numbers in [0, 1] (NaN where missing) and codes of everything else."""
        numbers = [
            (table[name].cast(pa.float64()).to_numpy() - low) / width
            for name, (low, width) in self._ranges.items()
        ]
        codes = [
            pc.index_in(pc.cast(table[name], pa.string()), values).to_numpy()
            for name, values in self._values.items()
        ]
        many = table.num_rows
        return (
            np.stack(numbers, axis=1) if numbers else np.empty((many, 0)),
            np.stack(codes, axis=1).astype(np.int32) if codes else np.empty((many, 0), np.int32),
        )


def nearness(people: ScaledRows, table: ScaledRows) -> tuple[Floats, Floats]:
    """Return for each person the distance to the nearest row, and the table's log density there."""
    nearest, density = [], []
    for distances in _distances(people, table):
        closest = distances.min(axis=1)
        nearest.append(closest)
        weights = np.exp((closest[:, None] - distances) / WIDTH)
        density.append(np.log(weights.mean(axis=1)) - closest / WIDTH)
    return np.concatenate(nearest), np.concatenate(density)


def _distances(people: ScaledRows, table: ScaledRows) -> Iterator[Floats]:
    """Yield, for some people at a time, Gower's distance to every row, not divided by the columns."""
    for start in range(0, len(people[0]), _ROWS_A_CHUNK):
        some = slice(start, start + _ROWS_A_CHUNK)
        total = np.zeros((len(people[0][some]), len(table[0])))
        for j in range(people[0].shape[1]):
            mine, theirs = people[0][some, j][:, None], table[0][None, :, j]
            both = np.isnan(mine) & np.isnan(theirs)
            # A missing value is as far from any known one as two values can be.
            total += np.where(both, 0.0, np.nan_to_num(np.abs(mine - theirs), nan=1.0))
        for j in range(people[1].shape[1]):
            total += people[1][some, j][:, None] != table[1][None, :, j]
        yield total
