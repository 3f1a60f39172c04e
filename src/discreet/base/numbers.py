"""Exact privacy amounts, and certified bounds of exp, log and square root.

What was written is what is charged, and rounding has a direction.

The bounds are exact fractions rounded in a stated direction. They stand on Python's `decimal`, whose exp, ln and
sqrt are correctly rounded at the precision of the context; one step outwards with next_plus or next_minus then
bounds the true value. The argument itself is first rounded in the same direction, which is safe because all three
functions increase.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
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


DIGITS = 40
"""Significant digits of every bound."""

LEAST = Fraction(1, 10**400)
"""Upper bounds of positive numbers never go below this, so that no fraction grows without limit."""

_FLOOR_EXPONENT = Decimal(-921)  # exp(-921) is just below 10^-399
_CEILING_EXPONENT = Decimal(10_000)  # e^10000 has 4,343 digits; nobody needs a larger promise


def _context(rounding: str) -> Context:
    # The least exponent matters: next_minus(0) must not be a number with a billion digits.
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return Context(prec=DIGITS, rounding=rounding, Emin=-450, Emax=9999, traps=traps)


_DOWN = _context(ROUND_FLOOR)
_UP = _context(ROUND_CEILING)


def decimal_down(value: Fraction) -> Decimal:
    """Return a decimal of `DIGITS` digits that is not above `value`."""
    return _DOWN.divide(Decimal(value.numerator), Decimal(value.denominator))


def decimal_up(value: Fraction) -> Decimal:
    """Return a decimal of `DIGITS` digits that is not below `value`."""
    return _UP.divide(Decimal(value.numerator), Decimal(value.denominator))


def exp_upper(exponent: Fraction) -> Fraction:
    """Return a fraction that is not below e^exponent.

    >>> e = Fraction("2.71828182845904523536028747135266249775724709")
    >>> exp_lower(Fraction(1)) < e < exp_upper(Fraction(1))
    True
    """
    argument = decimal_up(exponent)
    if argument < _FLOOR_EXPONENT:
        return LEAST * 100
    if argument > _CEILING_EXPONENT:
        raise OverflowError("e to a power above 10,000 is not computed")
    return Fraction(_UP.next_plus(_UP.exp(argument)))


def exp_lower(exponent: Fraction) -> Fraction:
    """Return a non-negative fraction that is not above e^exponent."""
    argument = decimal_down(exponent)
    if argument < _FLOOR_EXPONENT:
        return Fraction(0)
    argument = min(argument, _CEILING_EXPONENT)
    return Fraction(_DOWN.next_minus(_DOWN.exp(argument)))


def log_upper(value: Fraction) -> Fraction:
    """Return a fraction that is not below the natural logarithm of a positive `value`."""
    return Fraction(_UP.next_plus(_UP.ln(decimal_up(value))))


def log_lower(value: Fraction) -> Fraction:
    """Return a fraction that is not above the natural logarithm of a positive `value`."""
    return Fraction(_DOWN.next_minus(_DOWN.ln(decimal_down(value))))


def sqrt_lower(value: Fraction) -> Fraction:
    """Return a non-negative fraction that is not above the square root of `value`."""
    root = _DOWN.next_minus(_DOWN.sqrt(decimal_down(value)))
    return Fraction(max(root, Decimal(0)))


def tanh_upper(value: Fraction) -> Fraction:
    """Return a fraction in [0, 1] that is not below tanh(value), for a value of at least 0."""
    if value > 100:
        return Fraction(1)
    # tanh(x) = (u - 1) / (u + 1) with u = e^(2x), which grows with u.
    square = _UP.next_plus(_UP.exp(decimal_up(2 * value)))
    ratio = _UP.divide(_UP.subtract(square, Decimal(1)), _DOWN.add(square, Decimal(1)))
    return min(Fraction(1), Fraction(ratio))
