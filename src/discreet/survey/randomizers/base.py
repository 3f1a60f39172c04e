"""What every randomizer is made of: coins of a device, reports, exact ratios, numbers, and its `Mechanism`.

`Draws` are random bytes as a device draws them: 32-bit words, exact uniform integers and dyadic coins.
`Randomizer` makes a report from a value and random bytes, and tallies reports.
Probabilities of coins are whole parts of 2^32, rounded towards privacy, and their ratios are exact.
`NumberRange` moves numbers between two bounds to a finite lattice by unbiased rounding.
`Mechanism` is what a survey may name: over which answers it works, and the size at which it is audited.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats, Integers
from discreet.errors import InternalError, InvalidInput
from discreet.privacy.noise.certified import exp_bounds
from discreet.privacy.noise.rng import Rng

WORD = 1 << 32
"""How many values a word has; a coin's probability is a whole number of these parts."""
HALF = WORD // 2


class ByteSource(Protocol):
    """Whatever yields uniform random bytes, in order."""

    def take(self, count: int) -> bytes:
        """Return the next `count` bytes."""
        ...


class Draws:
    """Words, uniform integers and coins read off a source of bytes.

    Guarantee: exact. A coin compares one word with a whole number of 2^32 parts; a uniform integer
        rejects the words beyond the last full multiple, so that every value is equally likely.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def word(self) -> int:
        """Return 4 bytes as one number, the most significant byte first."""
        return int.from_bytes(self._source.take(4), "big")

    def coin(self, parts: int) -> bool:
        """Return True with probability parts / 2^32."""
        return self.word() < parts

    def below(self, count: int) -> int:
        """Return a uniform integer of 0 .. count - 1; nothing is drawn where there is no choice."""
        if count == 1:
            return 0
        limit = WORD - WORD % count
        while True:
            word = self.word()
            if word < limit:
                return word % count


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


Made = TypeVar("Made", bound=Randomizer)

LEAST_EPSILON = Fraction(1, 1000)
_BITS = 128


@lru_cache(maxsize=4096)
def truthful_parts(epsilon: Fraction, others: Fraction) -> int:
    """Return the greatest T with T / (2^32 - T) <= e^epsilon / others.

    T parts of 2^32 go to the favoured outcomes, the rest to the others; `others` says how many times
    as many of those there are. Rounded down: never above the claim.

    >>> round(truthful_parts(Fraction(2), Fraction(1)) / WORD, 6)          # e^2 / (1 + e^2)
    0.880797
    """
    _, high = exp_bounds(-min(epsilon, Fraction(64)), _BITS)
    share = 1 / (1 + others * Fraction(high, 1 << _BITS))
    return min(int(WORD * share), WORD - 1)


def lying_parts(epsilon: Fraction) -> int:
    """Return the least Q with (2^32 - Q) / Q <= e^epsilon: how often a bit is turned over."""
    return WORD - truthful_parts(epsilon, Fraction(1))


def check_epsilon(epsilon: Fraction) -> Fraction:
    """Return `epsilon`, or refuse one that is too small for 32-bit coins to tell anything."""
    if epsilon < LEAST_EPSILON:
        raise InvalidInput(
            "An epsilon below 0.001 for one question tells nothing.",
            hint="Raise the survey's epsilon, ask fewer questions or allow fewer changes.",
        )
    return epsilon


def check_ratio(ratio: Fraction, epsilon: Fraction) -> None:
    """Refuse to go on unless `ratio` is certainly at most e^epsilon and tells something.

    Guarantee: 1 / ratio is compared with a certified upper bound of e^-epsilon, in whole numbers.
    """
    _, high = exp_bounds(-min(epsilon, Fraction(64)), _BITS)
    if ratio * Fraction(high, 1 << _BITS) > 1:
        raise InternalError("A randomizer would tell more than it claims.")
    if ratio <= 1:
        raise InvalidInput(
            "This many answers at so small an epsilon tell nothing.",
            hint="Raise epsilon or list fewer options.",
        )


def checked(made: Made, epsilon: Fraction) -> Made:
    """Return a randomizer whose `worst_ratio` is certainly at most e^epsilon (`check_ratio`)."""
    check_ratio(made.worst_ratio, epsilon)
    return made


def coins(parts: int, count: int, rng: Rng) -> Bits:
    """Return `count` coins that are True with probability exactly parts / 2^32.

    One byte decides all but one coin in 256; those that tie with the first byte of `parts` draw the
    other three.
    """
    first, rest = parts >> 24, parts & 0xFFFFFF
    drawn = _bytes(count, rng)
    found: Bits = drawn < first
    tied = np.flatnonzero(drawn == first)
    found[tied] = (words32(tied.size, rng) >> np.uint32(8)) < rest
    return found


def _bytes(count: int, rng: Rng) -> npt.NDArray[np.uint8]:
    return rng.words(-(-count // 8)).view(np.uint8)[:count]


def words32(count: int, rng: Rng) -> npt.NDArray[np.uint32]:
    """Return `count` numbers of 32 fresh bits."""
    return rng.words(-(-count // 2)).view(np.uint32)[:count]


def checked_code(value: int, codes: int) -> int:
    """Return the number of an option; anything else, which would be told as it is, is refused."""
    if not isinstance(value, int) or not 0 <= value < codes:
        raise InvalidInput("No option has this number.")
    return value


def checked_codes(values: Sequence[Any] | npt.NDArray[Any], codes: int) -> Integers:
    """Return the numbers of options as an array; anything else is refused."""
    found = np.asarray(values)
    if found.size and (found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= codes):
        raise InvalidInput("No option has this number.")
    return found.astype(np.int64)


def smallest_type(cells: int) -> type[np.unsignedinteger]:
    """Return the narrowest unsigned type that holds 0 .. cells - 1."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if cells <= 1 << (8 * np.dtype(kind).itemsize):
            return kind
    return np.uint64


STEPS = 2048
"""Positions 0 .. 2,048 stand for the numbers from the lower to the upper bound."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The declared bounds of a number question.

    Rounding is preparation: whichever position a number gets, what follows hides positions. Doubles
    are the same on every device, so that reports are too.
    """

    lower: float
    upper: float
    steps: int = field(default=STEPS, init=False)

    @classmethod
    def of(cls, lower: float, upper: float) -> NumberRange:
        """Return the bounds, or refuse those without an inside."""
        width = upper - lower
        if not (math.isfinite(lower) and math.isfinite(upper) and 0 < width < math.inf):
            raise InvalidInput("A number question needs lower below upper, both finite.")
        return cls(lower, upper)

    def scaled(self, value: float) -> float:
        """Return where a number lies, in steps from the lower bound; outside means at the bound."""
        held = min(max(value, self.lower), self.upper)
        return (held - self.lower) / (self.upper - self.lower) * STEPS

    def position(self, value: float, draws: Draws) -> int:
        """Return the step below or the step above, by one coin, so that the mean is kept."""
        scaled = self.scaled(value)
        below = math.floor(scaled)
        return below + draws.coin(math.floor((scaled - below) * WORD))

    def positions(self, values: Any, rng: Rng) -> Integers:
        """Return `position` for many numbers."""
        held = np.clip(np.asarray(values, dtype=np.float64), self.lower, self.upper)
        scaled = (held - self.lower) / (self.upper - self.lower) * STEPS
        below = np.floor(scaled)
        up = words32(held.size, rng) < np.floor((scaled - below) * WORD)
        return np.asarray(below.astype(np.int64) + up)


AnyRandomizer: TypeAlias = ShareRandomizer | MeanRandomizer


UNIT = NumberRange(0.0, 1.0)


class AnswerDomain(Enum):
    """What an answer is, before it is randomised."""

    TWO = "two options"
    OPTIONS = "any number of options"
    NUMBERS = "a number between two bounds"
    WORDS = "any word"


@dataclass(frozen=True, slots=True)
class AnswerSpace:
    """The public sizes of a question's answers: how many options, which range, how large a sketch."""

    codes: int = 0
    span: NumberRange = UNIT
    rows: int = 0
    buckets: int = 0
    levels: int = 0


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One randomizer by the name that surveys, devices and results use.

    `make(space, epsilon)` returns it for the answers of a question. `audited`: small answers, so that a million
    reports show the worst event. `kept`: every report is a blur of bits that are kept, which are what is audited.
    """

    name: str
    over: AnswerDomain
    make: Callable[[AnswerSpace, Fraction], AnyRandomizer]
    audited: AnswerSpace
    kept: bool = False
