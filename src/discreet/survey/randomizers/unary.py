"""Optimised unary encoding (OUE): one bit an option; the true one is a fair coin, the others rarely set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy.typing as npt

from discreet.errors import InvalidInput
from discreet.privacy.noise.rng import Rng
from discreet.survey.randomizers.base import (
    HALF,
    WORD,
    AnswerDomain,
    AnswerSpace,
    Draws,
    Mechanism,
    Reports,
    check_epsilon,
    checked,
    checked_code,
    checked_codes,
    coins,
    lying_parts,
)
from discreet.survey.randomizers.bits import BitReports, packed, random_bits

MOST_CODES = 1 << 16


@dataclass(frozen=True, slots=True)
class UnaryEncoding(BitReports):
    """Bit i of a report is set with probability 1/2 where i is the answer, else with lie / 2^32.

    Guarantee: two answers differ in the laws of two bits; the ratio is at most (1/2) (1 - q) / (q (1/2)) =
        (1 - q) / q, at most e^epsilon. [Wang, Blocki, Li & Jha 2017; docs/notes/0042-survey.md]
    """

    codes: int
    lie: int
    name: ClassVar[str] = "unary"
    hash_variance: ClassVar[float] = 0.0

    @classmethod
    def of(cls, codes: int, epsilon: Fraction) -> UnaryEncoding:
        """Return unary encoding over `codes` codes at `epsilon`."""
        if not 2 <= codes <= MOST_CODES:
            raise InvalidInput("Unary encoding needs between 2 and 65,536 options.")
        return checked(cls(codes, lying_parts(check_epsilon(epsilon))), epsilon)

    @property
    def own(self) -> Fraction:
        """Return how likely the bit of the answer is set."""
        return Fraction(1, 2)

    @property
    def other(self) -> Fraction:
        """Return how likely any other bit is set."""
        return Fraction(self.lie, WORD)

    @property
    def worst_ratio(self) -> Fraction:
        """Return the greatest ratio of the probabilities of one report under two values."""
        return (1 - self.other) / self.other

    def encode(self, value: int, draws: Draws) -> bytes:
        """Return the report of one code: a coin a bit, in order."""
        value = checked_code(value, self.codes)
        bits = [draws.coin(HALF if code == value else self.lie) for code in range(self.codes)]
        return packed(bits)

    def encode_many(self, values: Sequence[Any] | npt.NDArray[Any], rng: Rng) -> Reports:
        """Return a report for each code, by the same law."""
        codes = checked_codes(values, self.codes)
        own = coins(HALF, codes.size, rng)
        return random_bits(self.lie, codes, own, self.codes, rng)


MECHANISM = Mechanism(
    "unary",
    AnswerDomain.OPTIONS,
    lambda space, epsilon: UnaryEncoding.of(space.codes, epsilon),
    audited=AnswerSpace(codes=5),
)
