"""Exact amounts as whole numbers of a decimal unit, the form in which bills are added up."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.core.cost import Cost

Amounts: TypeAlias = tuple[int, ...]

COMPONENTS = 4
"""epsilon, delta, rho, rho_delta."""

CEILING = 10**17
"""Where a bill saturates: at least ten times every limit, and small enough for 64-bit sums."""

DIGITS = 15
"""A limit is at least 10^15 units, so amounts with that many digits below it are exact."""

_WITHOUT_LIMIT = (Fraction(1), Fraction(1, 10**9), Fraction(1), Fraction(1, 10**9))


@dataclass(frozen=True, slots=True)
class AmountResolution:
    """How finely each component is counted, as a number of decimal digits.

    Guarantee: an amount with at most DIGITS decimal digits below its limit is counted exactly, in
    any number of additions; a finer one is rounded up, never down.
    """

    digits: tuple[int, int, int, int]

    @classmethod
    def of(
        cls, epsilon: Fraction, delta: Fraction, rho: Fraction, rho_delta: Fraction
    ) -> AmountResolution:
        """Return the resolution for these limits; a limit of 0 is counted at a usual fineness."""
        first, second, third, fourth = (
            _digits(limit or usual)
            for limit, usual in zip((epsilon, delta, rho, rho_delta), _WITHOUT_LIMIT, strict=True)
        )
        return cls((first, second, third, fourth))

    def amounts(self, cost: Cost) -> Amounts:
        """Return `cost` in whole units, rounded up; what cannot be expressed is the ceiling."""
        parts = (cost.epsilon, cost.delta, cost.rho, cost.rho_delta)
        return tuple(
            CEILING if part is None else min(CEILING, _ceil(part, digits))
            for part, digits in zip(parts, self.digits, strict=True)
        )

    def cost(self, amounts: Amounts) -> Cost:
        """Return the exact cost that `amounts` stand for; a saturated bill is None, or above."""
        epsilon, delta, rho, rho_delta = (
            Fraction(amount, 1) / 10**digits if digits >= 0 else Fraction(amount * 10**-digits)
            for amount, digits in zip(amounts, self.digits, strict=True)
        )
        return Cost(
            epsilon=None if amounts[0] >= CEILING else epsilon,
            delta=delta,
            rho=None if amounts[2] >= CEILING else rho,
            rho_delta=rho_delta,
        )


def _digits(limit: Fraction) -> int:
    digits = DIGITS
    while limit * Fraction(10) ** digits < 10**DIGITS:
        digits += 1
    while limit * Fraction(10) ** (digits - 1) >= 10**DIGITS:
        digits -= 1
    return digits


def _ceil(value: Fraction, digits: int) -> int:
    if digits >= 0:
        scale: int = 10**digits
        return -(-value.numerator * scale // value.denominator)
    coarse: int = 10**-digits
    return -(-value.numerator // (value.denominator * coarse))
