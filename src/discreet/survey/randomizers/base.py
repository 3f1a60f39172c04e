"""What every randomizer is: a report from a value and random bytes, and its tally."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Floats, Integers
from discreet.noise.rng import Rng
from discreet.survey.randomizers.device_coins import Draws

Report: TypeAlias = int | bytes
"""What leaves a device for one question: a whole number, or a string of bits."""
Reports: TypeAlias = npt.NDArray[Any]
"""Many reports of one question: unsigned integers, or one row of bytes each."""
Tally: TypeAlias = Integers
"""What estimates need of many reports; tallies of parts add up to the tally of the whole."""
Shares: TypeAlias = Floats


@dataclass(frozen=True, slots=True)
class ReportShape:
    """Which reports are possible: numbers below `cells`, or exactly `length` bytes (see `accepts`)."""

    cells: int = 0
    length: int = 0
    rows: int = 0
    spare_bits: int = 0

    def accepts(self, report: object) -> bool:
        """Return whether this could be a report; anything else a collector refuses."""
        if self.cells:
            whole = isinstance(report, int) and not isinstance(report, bool)
            return whole and 0 <= report < self.cells  # type: ignore[operator]  # an int, as asked
        if not isinstance(report, bytes) or len(report) != self.length:
            return False
        if self.rows and int.from_bytes(report[:2], "big") >= self.rows:
            return False
        return not report[-1] & ((1 << self.spare_bits) - 1)


class Randomizer(Protocol):
    """One randomizer with its numbers fixed.

    Guarantee: for every two values and every report the probabilities differ by a factor of at most
        `worst_ratio`, which is at most e^epsilon; both are checked in whole numbers when it is built.
    """

    @property
    def name(self) -> str:
        """Return the name that surveys, devices and results use."""
        ...

    @property
    def shape(self) -> ReportShape:
        """Return which reports are possible."""
        ...

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        ...

    def encode(self, value: Any, draws: Draws) -> Report:
        """Return the report of one value, reading `draws` in the order that the format fixes."""
        ...

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each value, by the same law."""
        ...

    def tally(self, reports: Reports) -> Tally:
        """Return what estimates need of these reports."""
        ...


def device_settings(randomizer: Any) -> dict[str, int]:
    """Return the whole numbers that a device needs besides the question: the fields that are."""
    found: dict[str, int] = {}
    for each in fields(randomizer):
        value = getattr(randomizer, each.name)
        if is_dataclass(value):
            found |= device_settings(value)
        elif isinstance(value, int):
            found[each.name] = value
    return found


class ShareRandomizer(Randomizer, Protocol):
    """A randomizer whose reports support values: the own one more often than any other.

    A report supports its own value with probability `own`, and every other value with probability
    `other`; so (supporters / n - other) / (own - other) is an unbiased share.
    """

    @property
    def own(self) -> Fraction:
        """Return how likely a report supports the value it came from."""
        ...

    @property
    def other(self) -> Fraction:
        """Return how likely a report supports any one other value."""
        ...

    @property
    def hash_variance(self) -> float:
        """Return the greatest variance of a share that fixed public hashes may add."""
        ...

    def supporters(self, tally: Tally, values: Sequence[Any]) -> Shares:
        """Return how many reports support each of `values`."""
        ...


class ListedRandomizer(ShareRandomizer, Protocol):
    """One of which each single report can be asked, as cross tables do."""

    def supports(self, reports: Reports, values: Sequence[Any]) -> Bits:
        """Return, for each report and each value, whether the one supports the other."""
        ...


@runtime_checkable
class MeanRandomizer(Randomizer, Protocol):
    """A randomizer of numbers between two bounds, which it moves to 0 .. 1."""

    def unbiased(self) -> Shares:
        """Return, for each possible report, the number whose expectation is the value (as 0 .. 1)."""
        ...

    def variances(self) -> Shares:
        """Return the variance of that number for values at each position of the lattice."""
        ...


class NumberReports:
    """What randomizers share whose reports are numbers: how they are counted."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> ReportShape:
        """Return which reports are possible."""

    def tally(self, reports: Reports) -> Tally:
        """Return how often each report occurs."""
        return np.bincount(reports, minlength=self.shape.cells).astype(np.int64)
