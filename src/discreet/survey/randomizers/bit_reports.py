"""Reports with one independent bit a code: how they are counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.arrays import Bits
from discreet.survey.randomizers.base import Reports, ReportShape, Shares, Tally
from discreet.survey.randomizers.bits import column_sums


class BitReports:
    """What such randomizers share."""

    __slots__ = ()

    codes: int

    @property
    def shape(self) -> ReportShape:
        """Return that a report has one bit a code, the first one foremost."""
        return ReportShape(length=-(-self.codes // 8), spare_bits=-self.codes % 8)

    def tally(self, reports: Reports) -> Tally:
        """Return how often each bit was set, and after them how many reports there were."""
        return np.append(column_sums(reports, self.codes), len(reports))

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports set the bit of each code."""
        return tally[np.asarray(values, dtype=np.int64)].astype(np.float64)

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return which reports set which bits."""
        bits = np.unpackbits(np.asarray(reports), axis=1, count=self.codes)
        return bits[:, np.asarray(values, dtype=np.int64)].astype(np.bool_)
