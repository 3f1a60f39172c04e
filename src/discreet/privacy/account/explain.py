"""What an epsilon promises, in plain words: which two worlds an answer can hardly tell apart, and by how much.

Every sentence names its two worlds. Numbers shown are rounded up: a promise may look too small, never too large.
`one_sentence` is written again in `server/static/words.js`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.base.numbers import Delta, Epsilon, Number, plain
from discreet.base.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.privacy.account.composition import group_delta, group_epsilon

PRIORS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""What somebody may have believed before, for the table of beliefs."""

INDEPENDENT = "if what they believe about others does not depend on you"
"""What every sentence about beliefs needs; without it, what is learned about others says something about you."""

_LARGEST_EXPONENT = 700.0  # e^700 still is a float; beyond that the promise is empty anyway


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief before, and the range in which it must lie afterwards."""

    before: float
    lowest: float
    highest: float


class WorldPair(Enum):
    """Two worlds that differ in one person: its name, and how many steps from a dataset to a neighbour it takes."""

    TAKING_PART = ("taking part", 1)
    ATTRIBUTE = ("a value of someone who takes part", 2)
    REPLACED = ("a row replaced by any other", 1)
    ANSWER = ("an answer sent by one's own device", 1)

    @property
    def steps(self) -> int:
        """Return how many neighbours lie from one world to the other."""
        return self.value[1]

    @property
    def worlds(self) -> str:
        """Return the sentence part that names both worlds."""
        return _WORLDS[self]


_WORLDS = {
    WorldPair.TAKING_PART: "compared with you not taking part",
    WorldPair.ATTRIBUTE: "compared with any other values in your row (or rows), if you take part",
    WorldPair.REPLACED: "compared with your row (or rows) replaced by any other",
    WorldPair.ANSWER: "compared with anything else you might have answered",
}
_EITHER = (
    "Someone who thought it an even chance whether your row says one thing or another may afterwards "
    "put either at most at"
)
_EVEN = {
    WorldPair.TAKING_PART: "Someone who thought it an even chance that you take part may afterwards put it at most at",
    WorldPair.ATTRIBUTE: _EITHER,
    WorldPair.REPLACED: _EITHER,
    WorldPair.ANSWER: "Someone who thought two answers of yours equally likely may afterwards put either at most at",
}
_OF_RELATION = {
    Neighbours.ADD_REMOVE: (WorldPair.TAKING_PART, WorldPair.ATTRIBUTE),
    Neighbours.REPLACE_ONE: (WorldPair.REPLACED,),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised for two worlds: no event is e^epsilon times likelier in one, but for `delta`.

    Guarantee: if a mechanism is (e, d)-DP for the dataset's neighbours, P(S) <= e^epsilon P'(S) +
        delta for every set S of outputs and both orders of the worlds, with epsilon = steps * e and
        delta = d (1 + e^e) for two steps. Both are reached. For delta = 0 a belief of one world
        against the other, independent of the other rows, stays in `beliefs`. [notes/0105]
    """

    comparison: WorldPair
    epsilon: float
    factor: float
    delta: float
    beliefs: tuple[Belief, ...]

    @classmethod
    def of(cls, comparison: WorldPair, epsilon: Fraction, delta: Fraction) -> Promise:
        """Return what an (epsilon, delta) for neighbours promises for this comparison."""
        power = float(group_epsilon(epsilon, comparison.steps))
        return cls(
            comparison=comparison,
            epsilon=power,
            factor=factor(power),
            delta=float(group_delta(min(epsilon, Fraction(700)), delta, comparison.steps)),
            beliefs=tuple(belief(power, float(prior)) for prior in PRIORS),
        )

    @property
    def heading(self) -> str:
        """Return what its beliefs are about: the two worlds, and how often they go further than that."""
        return f"{self.comparison.worlds}{_but_for(self.delta)}"

    @property
    def even(self) -> float:
        """Return how far a belief of 50% can rise."""
        return belief(self.epsilon, 0.5).highest

    @property
    def sentences(self) -> tuple[str, str]:
        """Return the odds of any answer, and what becomes of an even chance."""
        often, but = times(self.epsilon), _but_for(self.delta)
        least = percent(1 - self.even, up=False)
        odds = (
            f"every possible answer is at most {often} more likely, and at most {often} less likely"
        )
        return (
            f"{_capital(self.comparison.worlds)}, {odds}{but}.",
            f"{_EVEN[self.comparison]} {percent(self.even)} and at least at {least}{but}.",
        )


@dataclass(frozen=True, slots=True)
class EpsilonExplanation:
    """The promise of one epsilon; `factor` is e^epsilon, `truth` the coin of an equal survey.

    `beliefs` are those of the first promise: of taking part, or of a row replaced by any other.
    """

    epsilon: Epsilon
    factor: float
    truth: float
    strength: str
    beliefs: tuple[Belief, ...]
    sentences: tuple[str, ...]
    promises: tuple[Promise, ...]
    short: str

    @property
    def text(self) -> str:
        """Return all sentences as one paragraph."""
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        return self.short


def explain(
    epsilon: Number | Epsilon,
    *,
    total: Number | Epsilon | None = None,
    delta: Number | Delta = 0,
    neighbours: Neighbours | str | None = None,
) -> EpsilonExplanation:
    """Return what `epsilon` promises for one question and, where given, `total` for all of them.

    `neighbours` is what the dataset declares; without it both relations are stated.

    >>> round(explain(1).factor, 3)
    2.718
    """
    one, failure = Epsilon.of(epsilon), Delta.of(delta)
    value = float(one)
    relations = _relations(neighbours)
    promises = promises_of(one, failure, neighbours)
    sentences: list[str] = []
    for relation in relations:
        told = [
            each
            for kind in _OF_RELATION[relation]
            for each in Promise.of(kind, one.value, failure.value).sentences
        ]
        if len(relations) > 1:
            told[0] = f"Under {relation.value} neighbours, {told[0][0].lower()}{told[0][1:]}"
        sentences += told
        if relation is Neighbours.REPLACE_ONE:
            sentences.append("How many people take part is public.")
    sentences += [_ALL_BELIEFS, _coins(value, float(failure.value)), _strength(value)[1]]
    if total is not None:
        sentences.append(_total(Epsilon.of(total), failure, neighbours))
    return EpsilonExplanation(
        epsilon=one,
        factor=factor(value),
        truth=truth_probability(value),
        strength=_strength(value)[0],
        beliefs=promises[0].beliefs,
        sentences=tuple(sentences),
        promises=promises,
        short=one_sentence(one, delta=failure, neighbours=neighbours),
    )


def promises_of(
    epsilon: Epsilon, delta: Delta | None = None, neighbours: Neighbours | str | None = None
) -> tuple[Promise, ...]:
    """Return the promises of an epsilon under these neighbours; under both relations if it is None."""
    failure = Fraction(0) if delta is None else delta.value
    return tuple(
        Promise.of(comparison, epsilon.value, failure)
        for relation in _relations(neighbours)
        for comparison in _OF_RELATION[relation]
    )


def answer_sentences(epsilon: Number | Epsilon) -> tuple[str, ...]:
    """Return what an epsilon promises where each device randomises its own answer.

    The worlds are two answers of one respondent, so one step lies between them.
    """
    one = Epsilon.of(epsilon)
    value = float(one)
    coins = (
        "It is as if you had answered by flipping coins in secret: the truth "
        f"{percent(truth_probability(value))} of the time, otherwise a fair coin's yes or no. "
        "Whatever is seen, you can say that it was the coin."
    )
    odds, even = Promise.of(WorldPair.ANSWER, one.value, Fraction(0)).sentences
    return odds, even, coins, _strength(value)[1]


def one_sentence(
    epsilon: Number | Epsilon,
    *,
    delta: Number | Delta = 0,
    neighbours: Neighbours | str | None = None,
) -> str:
    """Return the promise in one sentence, for a slider or a price tag; one for each relation if both.

    >>> print(one_sentence(1, neighbours="replace-one"))
    Compared with your row (or rows) replaced by any other, anyone's odds change by at most 2.72 times (if what they believe about others does not depend on you). How many people take part is public.
    """
    one, failure = Epsilon.of(epsilon).value, Delta.of(delta).value
    relations = _relations(neighbours)
    parts = []
    for relation in relations:
        told: list[str] = []
        for kind in _OF_RELATION[relation]:
            each = Promise.of(kind, one, failure)
            odds = "by" if told else "anyone's odds change by"
            told.append(
                f"{kind.worlds}, {odds} at most {times(each.epsilon)}{_but_for(each.delta)}"
            )
        words = "; ".join(told)
        under = (
            f"Under {relation.value} neighbours, {words}" if len(relations) > 1 else _capital(words)
        )
        public = (
            " How many people take part is public." if relation is Neighbours.REPLACE_ONE else ""
        )
        parts.append(f"{under} ({INDEPENDENT}).{public}")
    return " ".join(parts)


def beside_facts_sentence(
    epsilon: Number | Epsilon, *, delta: Number | Delta, neighbours: Neighbours | str
) -> str:
    """Return the promise that is left where exact facts fix sums of the rows.

    Only rows with which the facts stay as they are can be compared, so taking part is not hidden.
    """
    (relation,) = _relations(neighbours)
    each = Promise.of(_OF_RELATION[relation][-1], Epsilon.of(epsilon).value, Delta.of(delta).value)
    return (
        "Compared with other values in your row (or rows) with which all exact facts stay as they are, anyone's odds "
        f"change by at most {times(each.epsilon)}{_but_for(each.delta)} ({INDEPENDENT})."
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
    """Return where a belief of probability `before` in one world must lie after the answer was seen.

    `epsilon` is that between the two worlds: for a value of someone who takes part, under add-remove
    neighbours, twice that of the answer.
    """
    up = factor(epsilon)
    return Belief(
        before=before,
        lowest=before / (before + (1 - before) * up),
        highest=before * up / (before * up + 1 - before),
    )


_ALL_BELIEFS = f"This holds however much else they know, {INDEPENDENT}; what is learned about groups is not limited."


def _relations(neighbours: Neighbours | str | None) -> tuple[Neighbours, ...]:
    if neighbours is None:
        return tuple(Neighbours)
    try:
        return (Neighbours(neighbours),)
    except ValueError:
        known = " or ".join(each.value for each in Neighbours)
        raise InvalidInput(f"neighbours are {known}, not '{neighbours}'.") from None


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _but_for(delta: float) -> str:
    return f", except with probability about {_chance(delta)}" if delta else ""


def _chance(delta: float) -> str:
    """Return a small probability with two digits, rounded up, such as 3.8e-9."""
    if delta >= 1:
        return "1"
    mantissa, _, power = f"{delta:.1e}".partition("e")
    tenths, exponent = round(float(mantissa) * 10), int(power)
    if float(f"{tenths}e{exponent - 1}") < delta * (1 - 1e-9):
        tenths += 1
    if tenths == 100:
        tenths, exponent = 10, exponent + 1
    shown = str(tenths // 10) if tenths % 10 == 0 else f"{tenths // 10}.{tenths % 10}"
    return f"{shown}e{exponent}"


def _coins(epsilon: float, delta: float) -> str:
    return (
        f"Two worlds at a factor of {times(epsilon).removesuffix(' times')} are told apart no better than by coins "
        f"flipped in secret: the truth {percent(truth_probability(epsilon))} of the time, otherwise a fair coin's "
        f"yes or no{_but_for(delta)}."
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


def _total(total: Epsilon, delta: Delta, neighbours: Neighbours | str | None) -> str:
    words = one_sentence(total, delta=delta, neighbours=neighbours)
    return (
        f"All questions together may use {plain(total.value)}. {words} {_strength(float(total))[1]}"
    )


def times(epsilon: float) -> str:
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
