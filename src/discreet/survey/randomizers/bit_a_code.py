"""Reports with one independent bit a code: their law, and how they are counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.survey.randomizers.base import Reports, ReportShape, Shares, Tally
from discreet.survey.randomizers.bits import column_sums


class BitACode:
    """What such randomizers share; they say how likely the answer's bit and any other one is set."""

    __slots__ = ()

    codes: int

    @property
    @abstractmethod
    def own(self) -> Fraction:
        """Return how likely a report sets the bit of the answer."""

    @property
    @abstractmethod
    def other(self) -> Fraction:
        """Return how likely a report sets any other bit."""

    @property
    def shape(self) -> ReportShape:
        """Return that a report has one bit a code, the first one foremost."""
        return ReportShape(length=-(-self.codes // 8), spare_bits=-self.codes % 8)

    def law(self, value: int) -> list[Fraction]:
        """Return the probability of every single report, numbered by its bits, the first one foremost."""
        return product_law(
            [self.own if code == value else self.other for code in range(self.codes)]
        )

    def tally(self, reports: Reports) -> Tally:
        """Return how often each bit was set, and after them how many reports there were."""
        return np.append(column_sums(reports, self.codes), len(reports))

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports set the bit of each code."""
        return tally[np.asarray(values, dtype=np.int64)].astype(np.float64)

    def supports(self, reports: Reports, values: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Return which reports set which bits."""
        bits = np.unpackbits(np.asarray(reports), axis=1, count=self.codes)
        return bits[:, np.asarray(values, dtype=np.int64)].astype(np.bool_)


def product_law(ones: Sequence[Fraction]) -> list[Fraction]:
    """Return the probability of every string of independent bits that are set with these probabilities.

    >>> [str(mass) for mass in product_law([Fraction(1, 2), Fraction(1, 4)])]
    ['3/8', '1/8', '3/8', '1/8']
    """
    law = [Fraction(1)]
    for one in ones:
        law = [mass * share for mass in law for share in (1 - one, one)]
    return law
