"""What an epsilon promises, in plain words: odds, coin flips, and what somebody may come to believe.

Everything is said "compared with you not taking part". Numbers shown are rounded to the careful side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.numbers import Epsilon, Number, plain

PRIORS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""What somebody may have believed before, for the table of beliefs."""

_LARGEST_EXPONENT = 700.0  # e^700 still is a float; beyond that the promise is empty anyway


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief before, and the range in which it must lie afterwards."""

    before: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class EpsilonExplanation:
    """The promise of one epsilon; `factor` is e^epsilon, `truth` the coin of an equal survey."""

    epsilon: Epsilon
    factor: float
    truth: float
    strength: str
    beliefs: tuple[Belief, ...]
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return all sentences as one paragraph."""
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        return self.text


def explain(
    epsilon: Number | Epsilon, *, total: Number | Epsilon | None = None
) -> EpsilonExplanation:
    """Return what `epsilon` promises for one question and, where given, `total` for all of them.

    >>> round(explain(1).factor, 3)
    2.718
    """
    one = Epsilon.of(epsilon)
    value = float(one)
    sentences = [_odds(value), _belief(value), _coins(value), _strength(value)[1]]
    if total is not None:
        sentences.append(_total(Epsilon.of(total)))
    return EpsilonExplanation(
        epsilon=one,
        factor=factor(value),
        truth=truth_probability(value),
        strength=_strength(value)[0],
        beliefs=tuple(belief(value, float(prior)) for prior in PRIORS),
        sentences=tuple(sentences),
    )


def one_sentence(epsilon: Epsilon) -> str:
    """Return the promise in one sentence, for a slider or a price tag."""
    return (
        f"Compared with you not taking part, anyone's odds change by at most "
        f"{_times(float(epsilon))}."
    )


def factor(epsilon: float) -> float:
    """Return e^epsilon, the most by which any outcome becomes more or less likely."""
    return math.exp(min(epsilon, _LARGEST_EXPONENT))


def truth_probability(epsilon: float) -> float:
    """Return how often a coin-flip survey of this epsilon would tell the truth: tanh(epsilon/2).

    >>> round(truth_probability(math.log(3)), 6)      # the classic two coins
    0.5
    """
    return math.tanh(epsilon / 2)


def belief(epsilon: float, before: float) -> Belief:
    """Return where a belief of probability `before` must lie after the answer was seen."""
    up = factor(epsilon)
    return Belief(
        before=before,
        lowest=before / (before + (1 - before) * up),
        highest=before * up / (before * up + 1 - before),
    )


def _odds(epsilon: float) -> str:
    return (
        f"Compared with you not taking part, every possible answer is at most {_times(epsilon)} "
        f"more likely, and at most {_times(epsilon)} less likely."
    )


def _belief(epsilon: float) -> str:
    even = belief(epsilon, 0.5)
    return (
        "Somebody who thought it an even chance that something is true of you may afterwards put it "
        f"at most at {percent(even.highest)} and at least at {percent(1 - even.highest, up=False)}, "
        "however much else they know."
    )


def _coins(epsilon: float) -> str:
    truth = truth_probability(epsilon)
    return (
        "It is as if you had answered by flipping coins in secret: the truth "
        f"{percent(truth)} of the time, otherwise a fair coin's yes or no. "
        "Whatever is seen, you can say that it was the coin."
    )


def _strength(epsilon: float) -> tuple[str, str]:
    for limit, name, sentence in _STRENGTHS:
        if epsilon <= limit:
            return name, sentence
    return (
        "next to nothing",
        "In the worst case this promises next to nothing: what is true of you may be all but certain.",
    )


_STRENGTHS = (
    (0.1, "very strong", "This is very strong protection: your part in it hardly shows."),
    (1.0, "strong", "This is strong protection."),
    (3.0, "moderate", "This is moderate protection."),
    (
        8.0,
        "weak",
        "This is weak in the worst case: somebody who knows much already may become nearly sure.",
    ),
)


def _total(total: Epsilon) -> str:
    value = float(total)
    return (
        f"All questions together may use {plain(total.value)}: over all of them the factor is at "
        f"most {_times(value)}, and an even chance becomes at most "
        f"{percent(belief(value, 0.5).highest)}. {_strength(value)[1]}"
    )


def _times(epsilon: float) -> str:
    """Return e^epsilon as text, rounded up."""
    number = factor(epsilon)
    if number < 10:
        return f"{math.ceil(number * 100 - 1e-9) / 100:.2f} times"
    if number < 1e6:
        return f"{math.ceil(number - 1e-9):,} times"
    return "more than a million times"


def percent(share: float, *, up: bool = True) -> str:
    """Return a percentage rounded away from comfort, never a false 0 or 100."""
    hundred = share * 100
    if hundred > 99.99:
        return "more than 99.99%"
    if hundred < 0.01:
        return "less than 0.01%"
    digits = 2 if hundred > 99 or hundred < 1 else 0
    scale = 10**digits
    rounded = math.ceil(hundred * scale - 1e-9) if up else math.floor(hundred * scale + 1e-9)
    return f"{rounded / scale:.{digits}f}%"
