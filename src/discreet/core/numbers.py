"""Exact privacy amounts: what was written is what is charged, and rounding has a direction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Self, TypeAlias

from discreet.errors import InvalidInput

Number: TypeAlias = int | float | str | Decimal | Fraction
"""What users may write for an amount. A float means the decimal that it prints as."""

MAX_EXPONENT = 400  # refuses 1e999999999, whose exact form would fill the memory


def least_whole(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """Return the least number from `low` on that is enough, `high` where none below it is.

    Of any size, which bisect's are not. What is enough stays so for larger numbers.

    >>> least_whole(0, 10**30, lambda number: number**2 >= 10**50)
    10000000000000000000000000
    """
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return high


def to_fraction(value: Number, *, name: str = "value") -> Fraction:
    """Return exactly the number that was written; a float means its shortest decimal.

    >>> to_fraction(0.1), to_fraction("1e-9"), to_fraction("1/3")
    (Fraction(1, 10), Fraction(1, 1000000000), Fraction(1, 3))
    """
    written: object = value
    if isinstance(written, bool):
        raise InvalidInput(f"{name} must be a number, not {written}.")
    if isinstance(written, Integral):
        return Fraction(int(written))
    if isinstance(written, Rational):
        return Fraction(int(written.numerator), int(written.denominator))
    if isinstance(written, str) and "/" in written:
        numerator, _, denominator = written.partition("/")
        bottom = _decimal(denominator, name)
        if not bottom:
            raise InvalidInput(f"{name} cannot be divided by zero: '{written}'.")
        return Fraction(_decimal(numerator, name)) / Fraction(bottom)
    # repr() of a float is the shortest decimal that reads back as that float, which is what was
    # written; numpy's floats print themselves differently, so go through float() first.
    text = repr(float(written)) if isinstance(written, Real) else str(written)
    return Fraction(_decimal(text, name))


def read_fraction(text: str) -> Fraction:
    """Return the fraction that `str` wrote, in half the time of `Fraction(text)`.

    >>> read_fraction("-2/3"), read_fraction("7")
    (Fraction(-2, 3), Fraction(7, 1))
    """
    top, _, bottom = text.partition("/")
    return Fraction(int(top), int(bottom or 1))


def _decimal(text: str, name: str) -> Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        raise InvalidInput(f"{name} must be a number, not '{text[:40]}'.") from None
    if not number.is_finite():
        raise InvalidInput(f"{name} must be a finite number, not {number}.")
    if number and abs(number.adjusted()) > MAX_EXPONENT:
        raise InvalidInput(f"{name} is out of any sensible range.")
    return number


def round_up(value: Fraction, *, digits: int) -> Fraction:
    """Return the least multiple of 10^-digits that is not below `value`."""
    scale = 10**digits
    return Fraction(-((-value.numerator * scale) // value.denominator), scale)


def round_down(value: Fraction, *, digits: int) -> Fraction:
    """Return the greatest multiple of 10^-digits that is not above `value`."""
    scale = 10**digits
    return Fraction(value.numerator * scale // value.denominator, scale)


def plain(value: Fraction, *, significant: int = 12) -> str:
    """Return a short decimal for people and JSON; exact when it has few digits.

    >>> plain(Fraction(1, 4)), plain(Fraction(10)), plain(Fraction(1, 10**9))
    ('0.25', '10', '1e-9')
    """
    return _short(value, significant, ROUND_HALF_EVEN)


def plain_below(value: Fraction) -> str:
    """Return a short decimal that is not above `value`: of what is left, so that it fits if it is asked.

    >>> plain_below(Fraction(2, 3)), plain_below(Fraction(1, 4)), plain_below(Fraction(1, 10**9))
    ('0.666666666666', '0.25', '1e-9')
    """
    return _short(value, 12, ROUND_DOWN)


def _short(value: Fraction, significant: int, rounding: str) -> str:
    if not value:
        return "0"
    digits = Context(prec=significant, rounding=rounding)
    approximation = digits.divide(Decimal(value.numerator), Decimal(value.denominator))
    short = f"{approximation:.{significant}g}"
    mantissa, _, exponent = short.partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


SMALLEST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**30), Fraction(10**30)
"""What may be written; beyond these nothing is protected, or nothing is told."""


@dataclass(frozen=True, order=True, slots=True)
class _Amount(ABC):
    """An amount of privacy, held exactly; only amounts of one kind are compared."""

    value: Fraction

    @classmethod
    def of(cls, written: Number | Self) -> Self:
        """Return the amount exactly as written, or refuse it with a sentence."""
        if isinstance(written, cls):
            return cls(written.value)
        name = cls.__name__.lower()
        value = to_fraction(written, name=name)  # type: ignore[arg-type]  # mypy keeps cls in it
        cls._check(value)
        return cls(value)

    @staticmethod
    @abstractmethod
    def _check(value: Fraction) -> None:
        """Refuse what an amount of this kind cannot be."""

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return plain(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


class Epsilon(_Amount):
    """A positive, finite privacy loss, held exactly.

    >>> Epsilon.of("0.1") + Epsilon.of(0.2)
    Epsilon(0.3)
    """

    __slots__ = ()

    @staticmethod
    def _check(value: Fraction) -> None:
        hint = "A usual value for one question lies between 0.01 and 1."
        if value <= 0:
            raise InvalidInput(f"epsilon must be greater than 0, not {plain(value)}.", hint=hint)
        if not SMALLEST_EPSILON <= value <= LARGEST_EPSILON:
            raise InvalidInput("An epsilon lies between 1e-30 and 1e30.", hint=hint)

    def __add__(self, other: Epsilon) -> Epsilon:
        return Epsilon(self.value + other.value)


class Delta(_Amount):
    """A probability of failure in [0, 1), held exactly."""

    __slots__ = ()

    @staticmethod
    def _check(value: Fraction) -> None:
        if not 0 <= value < 1:
            raise InvalidInput(
                f"delta must be at least 0 and below 1, not {plain(value)}.",
                hint="It is the chance that the promise fails: far below one in the population.",
            )


class Rho(_Amount):
    """A non-negative amount of zero-concentrated differential privacy, held exactly."""

    __slots__ = ()

    @staticmethod
    def _check(value: Fraction) -> None:
        if value < 0:
            raise InvalidInput(f"rho must not be negative, not {plain(value)}.")


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things with its noun.

    >>> counted(1, "charge"), counted(1200, "charge"), counted(2, "copy", "copies")
    ('1 charge', '1,200 charges', '2 copies')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
