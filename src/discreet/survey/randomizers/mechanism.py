"""What a survey may name: a mechanism, over which answers it works, and the size at which it is audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from discreet.survey.randomizers.base import MeanRandomizer, ShareRandomizer
from discreet.survey.randomizers.numbers.lattice import NumberRange

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
