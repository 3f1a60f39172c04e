"""Reports that are strings of bits, checked and added up where they lie: the SQL for it, and what it found.

A string is read as words of 64 bits, and a word is added up by 32 sums of two bits each: one in the low half
of a number, one in the high half. What an engine returns is as large as the survey's tally, whatever the
number of reports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Integers
from discreet.engine.dialect.functions import function
from discreet.survey.randomizers.base import ReportShape, Tally

MOST_BESIDE = 1 << 31
"""Reports whose bits can be added up two in a number without one sum reaching the other."""
_BYTES, _BITS, _HALF = 8, 64, 32  # of a word
_ROW_BYTES = 2


@dataclass(frozen=True, slots=True)
class BitColumn:
    """A column of strings of bits in a dialect of SQL."""

    name: str
    shape: ReportShape
    dialect: str

    @property
    def possible(self) -> str:
        """Return the condition that a string is one that a device can make: `ReportShape.accepts`."""
        asked = [f"octet_length({self.name}) = {self.shape.length}"]
        if self.shape.rows:
            asked.append(f"{self._number('1', _ROW_BYTES)} < {self.shape.rows}")
        if self.shape.spare_bits:
            last = self._number(str(self.shape.length), 1)
            asked.append(f"({last} & {(1 << self.shape.spare_bits) - 1}) = 0")
        return " AND ".join(asked)

    def sums(self, held: str, reports: int) -> str:
        """Return the SELECT of how often each bit is set among the `reports` strings of a SELECT.

        One row a row of the sketch (`part`) and word of the string (`place`), with how many reports
        there are (`times`) and the sums s0, s1, ...: what `tally` takes.
        """
        part = self._number("1", _ROW_BYTES) if self.shape.rows else "0"
        word = self._number(f"{self._start + 1} + {_BYTES} * place", _BYTES)
        places = ", ".join(f"({place})" for place in range(self._words))
        ones = sum(1 << at for at in range(0, _BITS, _apart(reports)))
        shifted = [
            function("shift_right", self.dialect, "word", str(at)) for at in range(_apart(reports))
        ]
        sums = ", ".join(
            f"CAST(SUM({each} & {ones}) AS BIGINT) AS s{at}" for at, each in enumerate(shifted)
        )
        return (
            f"SELECT part, place, COUNT(*) AS times, {sums} FROM ("
            f"SELECT {part} AS part, place, {word} AS word FROM ({held}) AS held "
            f"CROSS JOIN (VALUES {places}) AS places(place)) AS words GROUP BY part, place"
        )

    def tally(self, found: pa.Table, reports: int) -> Tally:
        """Return what `sums` found: for each row how often each bit was set, and last its reports."""
        part, place, times = (whole(found[name]) for name in ("part", "place", "times"))
        apart = _apart(reports)
        sums = np.array(
            [whole(found[f"s{at}"]) for at in range(apart)]
        )  # the last bit of a word first
        bits = np.concatenate([sums & (2**_HALF - 1), sums >> _HALF]) if apart == _HALF else sums
        table = np.zeros((max(1, self.shape.rows), self._words, _BITS), dtype=np.int64)
        table[part, place] = bits[::-1].T
        missing = _BITS * self._words - 8 * (self.shape.length - self._start)
        table[:, -1] = np.roll(
            table[:, -1], -missing, axis=1
        )  # a word of fewer bytes ends like others
        width = _BITS * self._words - missing - self.shape.spare_bits
        tally = np.zeros((len(table), width + 1), dtype=np.int64)
        tally[:, :-1] = table.reshape(len(table), -1)[:, :width]
        tally[part, -1] = times
        return tally if self.shape.rows else tally[0]

    @property
    def _start(self) -> int:
        return _ROW_BYTES if self.shape.rows else 0

    @property
    def _words(self) -> int:
        return -(-(self.shape.length - self._start) // _BYTES)

    def _number(self, place: str, count: int) -> str:
        return function("whole_of_bytes", self.dialect, self.name, place, str(count))


def _apart(reports: int) -> int:
    """Return how many bits of a number one sum has for itself."""
    return _HALF if reports < MOST_BESIDE else _BITS


def whole(column: pa.ChunkedArray) -> Integers:
    """Return a column of whole numbers, whatever type an engine gives to them."""
    return np.array(column.to_pylist(), dtype=np.int64)
