"""The estimates of a whole survey, question by question, as `--json` prints them, and what may be asked of them.

Statistics on what is noisy already: no guarantee hangs on this file. Cross tables are the shares of pairs of answers
to two questions, from their independent reports. Amplification by shuffling is the central epsilon of shuffled
reports, if someone trusted mixes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.requests.fields import given
from discreet.base.requests.unpaid import EstimateFields
from discreet.errors import InvalidInput
from discreet.survey.estimators import (
    TOO_WIDE,
    Estimated,
    estimate_mean,
    expected_error,
    in_units,
    norm_sub,
    parts_of,
    poisoning_gain,
    shares_from,
)
from discreet.survey.mechanisms import ChosenRandomizer
from discreet.survey.plan import SurveyPlan
from discreet.survey.randomizers.base import (
    ListedRandomizer,
    MeanRandomizer,
    NumberRange,
    Reports,
    ShareRandomizer,
    Shares,
    Tally,
)
from discreet.survey.randomizers.count_mean import word_bytes
from discreet.survey.randomizers.prefix_tree import PrefixTree
from discreet.survey.specification import QuestionKind, SurveyQuestion


@dataclass(frozen=True)
class EstimateRequest(EstimateFields):
    """What is wanted, checked: words of open questions, shares that add up, a cross table of two questions.

    `repeats`: how often one device may have given. Its reports are copies of each other, so that many
    reports are as good as one.
    """

    repeats: int = 1

    if TYPE_CHECKING:
        cross: tuple[str, str] | None = None

    @classmethod
    def of(cls, **words: Any) -> EstimateRequest:
        """Return what is wanted from the fields of `EstimateFields`; a word that no device could tell is refused."""
        asked = EstimateFields(**words)
        pair = tuple(asked.cross or ())
        if pair and (len(pair) != 2 or pair[0] == pair[1]):
            raise InvalidInput("Write --cross as two questions, such as smokes,grade.")
        spelled = {
            question: list(dict.fromkeys(word_bytes(word).decode() for word in found))
            for question, found in asked.candidates.items()
        }
        return cls(**given(asked) | {"candidates": spelled, "cross": pair or None})

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1 or (1 + self.confidence) / 2 == 1:  # rounded, too
            raise InvalidInput("A confidence must lie between 0 and 1, such as 0.95.")


def values_of(
    question: SurveyQuestion, wanted: EstimateRequest
) -> tuple[Sequence[str], Sequence[Any]]:
    """Return the answers that are estimated, as labels and as the randomizer takes them."""
    if question.kind is QuestionKind.OPEN:
        words = wanted.candidates.get(question.name, ())
        return words, words
    return question.options, range(len(question.options))


_TAIL = 1e-12
_HALVINGS = 24
_RUNS = 60

ASSUMES = (
    "Only if a party that everyone trusts mixes the reports and removes their ids before anybody else "
    "sees them; against the collector itself the promise is the local epsilon."
)


def shuffled_epsilon(epsilon: float, reports: int, *, delta: float) -> float:
    """Return an epsilon such that the multiset of `reports` reports is (epsilon, delta)-DP.

    Guarantee: every report of another respondent is, with probability e^-epsilon0, an independent fair
        draw between the two reports that must be told apart; so the pair to compare is (A + D, C - A + 1 - D)
        and its mirror image, C ~ Bin(n - 1, e^-epsilon0), A ~ Bin(C, 1/2), D ~ Bernoulli of
        e^epsilon0 / (1 + e^epsilon0) [Feldman, McMillan & Talwar 2021, theorem 3.1]. The hockey-stick
        divergence of these is summed over C; what is cut off is added to delta. Never above epsilon0.

    >>> round(shuffled_epsilon(1.0, 100_000, delta=1e-6), 3)
    0.015
    """
    if reports < 2 or epsilon > 40:
        return epsilon
    truth = 1 / (1 + math.exp(-epsilon))
    pairs = [(mass, *_pair(n, truth)) for n, mass in _clones(reports - 1, math.exp(-epsilon))]
    low, high = 0.0, epsilon
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        found = sum(
            mass * float(np.maximum(first - math.exp(middle) * second, 0.0).sum())
            for mass, first, second in pairs
        )
        low, high = (low, middle) if found + _TAIL <= delta else (middle, high)
    return high


def _clones(others: int, share: float) -> list[tuple[int, float]]:
    """Return numbers of clones with their probabilities, rounded towards fewer clones.

    Fewer clones hide less, so a run of numbers counts as its least one.
    """
    mean, spread = others * share, math.sqrt(others * share * (1 - share))
    low = max(0, int(mean - 10 * spread - 10))
    high = min(others, int(mean + 10 * spread + 40))
    numbers = np.arange(low, high + 1)
    starts = np.arange(0, numbers.size, max(1, numbers.size // _RUNS))
    masses = np.add.reduceat(_binomial(others, numbers, share), starts)
    return [(int(numbers[at]), float(mass)) for at, mass in zip(starts, masses, strict=True)]


def _pair(count: int, truth: float) -> tuple[Floats, Floats]:
    """Return the two laws to be told apart for a given number of clones."""
    spread = math.sqrt(count) / 2
    low = max(0, int(count / 2 - 10 * spread - 10))
    high = min(count, int(count / 2 + 10 * spread) + 10)
    coin = _binomial(count, np.arange(low, high + 1), 0.5)
    before, after = np.append(0.0, coin), np.append(coin, 0.0)
    return truth * before + (1 - truth) * after, truth * after + (1 - truth) * before


def _binomial(n: int, k: Integers, share: float) -> Floats:
    """Return binomial probabilities at consecutive k that hold all but 1e-15 of the whole."""
    if share >= 1:
        return np.where(k == n, 1.0, 0.0)
    later = k[1:].astype(np.float64)
    steps = np.log((n - later + 1) / later) + math.log(share) - math.log1p(-share)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    weights = np.exp(logs - logs.max())
    return np.asarray(weights / weights.sum())


CONFIDENCE = 0.95
SHUFFLE_DELTA = 1e-6
_NOTHING = {"value": None, "low": None, "high": None}


@dataclass(frozen=True, slots=True)
class QuestionTally:
    """What is kept of the reports to one question: how many there are, and their tally."""

    answers: int
    tally: Tally


def survey_result(
    plan: SurveyPlan,
    reports: int,
    tallies: Sequence[QuestionTally],
    wanted: EstimateRequest,
    *,
    alike: int,
) -> dict[str, Any]:
    """Return the estimates of all questions as `discreet survey rehearse|estimate --json` prints them.

    `alike`: how many donations answer the same questions, of the fewest that do. Which questions are
    answered stays visible after mixing, so a report hides among those only; and several copies of one
    report hide less than one, so where devices may give again mixing is not counted on.
    """
    survey = plan.survey
    questions = {
        question.name: question_result(question, choice, tally, wanted)
        for question, choice, tally in zip(survey.questions, plan.choices, tallies, strict=True)
    }
    hidden = alike if wanted.repeats == 1 else 1
    central = shuffled_epsilon(float(survey.epsilon), hidden, delta=SHUFFLE_DELTA)
    return {
        "survey": survey.name,
        "title": survey.title,
        "reports": reports,
        "repeats": wanted.repeats,
        "epsilon": float(survey.epsilon),
        "question_epsilon": float(survey.question_epsilon),
        "questions": questions,
        "shuffled": {"epsilon": central, "delta": SHUFFLE_DELTA, "assumes": ASSUMES},
        "warnings": [
            *_repeated(wanted.repeats),
            *(f"{name}: {each['warning']}" for name, each in questions.items() if each["warning"]),
        ],
    }


def _repeated(repeats: int) -> list[str]:
    if repeats == 1:
        return []
    said = f"A device may have given up to {repeats:,} times. Shares and means are those of reports"
    return [f"{said}; intervals allow for copies, and are up to {repeats**0.5:.2g} times as wide."]


def question_result(
    question: SurveyQuestion,
    choice: ChosenRandomizer,
    tally: QuestionTally,
    wanted: EstimateRequest,
) -> dict[str, Any]:
    """Return the estimates of one question, its mechanism, and how far they can be trusted."""
    found: dict[str, Any] = {
        "mechanism": choice.randomizer.name,
        "why": choice.why,
        "answers": tally.answers,
    }
    if isinstance(choice.randomizer, MeanRandomizer):
        found["mean"] = _mean(question, choice.randomizer, tally, wanted)
    else:
        found["estimates"] = _discovered_or_shares(question, choice.randomizer, tally, wanted)
    error = expected_error(choice.randomizer, tally.answers // wanted.repeats)
    found["error95"] = max(in_units(question, error), _widest(found, wanted))
    found["fake"] = in_units(question, poisoning_gain(choice.randomizer) / max(1, tally.answers))
    found["warning"] = _warning(question, tally.answers, error, wanted)
    return found


def _widest(found: dict[str, Any], wanted: EstimateRequest) -> float:
    """Return how far the intervals of a question reach, 0 where none is one of 95%.

    Shares that were made consistent are not in the middle of their intervals, and that of a mean follows from the reports.
    """
    every = [found["mean"]] if "mean" in found else list(found["estimates"].values())
    known = [each for each in every if each["value"] is not None]
    if wanted.confidence > CONFIDENCE:
        return 0.0
    reaches = (max(each["value"] - each["low"], each["high"] - each["value"]) for each in known)
    return max(reaches, default=0.0)


def _warning(question: SurveyQuestion, answers: int, error: float, wanted: EstimateRequest) -> str:
    listed = question.mechanism != "prefix-tree"
    if question.kind is QuestionKind.OPEN and listed and not wanted.candidates.get(question.name):
        said = (
            f"An open question is read for words that are given: --candidates {question.name}=FILE"
        )
        return f'{said}, or on its page. With mechanism = "prefix-tree" it would find them itself.'
    if not answers or error > TOO_WIDE:
        return f"{answers:,} answers are too few: the intervals say next to nothing."
    return ""


def _mean(
    question: SurveyQuestion,
    randomizer: MeanRandomizer,
    tally: QuestionTally,
    wanted: EstimateRequest,
) -> dict[str, Any]:
    if not tally.answers:
        return dict(_NOTHING)
    span = NumberRange.of(question.lower, question.upper)
    found = estimate_mean(
        randomizer, tally.tally, span, confidence=wanted.confidence, repeats=wanted.repeats
    )
    return asdict(found)


def _discovered_or_shares(
    question: SurveyQuestion,
    randomizer: ShareRandomizer,
    tally: QuestionTally,
    wanted: EstimateRequest,
) -> dict[str, Any]:
    if not isinstance(randomizer, PrefixTree):
        return _shares(question, randomizer, tally, wanted)
    told = wanted.candidates.get(question.name)
    words = {word: word for word in told} if told else randomizer.discover(tally.tally)
    whole = QuestionTally(int(randomizer.deepest(tally.tally).sum()), tally.tally)
    return _shares(question, randomizer, whole, wanted, (list(words), list(words.values())))


def _shares(
    question: SurveyQuestion,
    randomizer: ShareRandomizer,
    tally: QuestionTally,
    wanted: EstimateRequest,
    asked: tuple[Sequence[str], Sequence[Any]] | None = None,
) -> dict[str, Any]:
    labels, values = asked or values_of(question, wanted)
    if not tally.answers or not values:
        return {label: dict(_NOTHING) for label in labels}
    found = shares_from(
        randomizer,
        randomizer.supporters(tally.tally, values),
        reports=tally.answers,
        confidence=wanted.confidence,
        repeats=wanted.repeats,
    )
    told = found.value
    if wanted.consistent and question.kind is not QuestionKind.OPEN:
        told = norm_sub(found.value)
    return {
        label: {"value": float(value), "low": float(low), "high": float(high)}
        for label, value, low, high in zip(
            labels, told, np.minimum(found.low, told), np.maximum(found.high, told), strict=True
        )
    }


MOST_PAIRS = 10_000
_ROWS = 1 << 16  # different pairs of reports that are looked at in one go


def cross_table(
    first: tuple[ListedRandomizer, Reports, Sequence[Any]],
    second: tuple[ListedRandomizer, Reports, Sequence[Any]],
    *,
    counts: Integers | None = None,
    confidence: float = 0.95,
    repeats: int = 1,
) -> Estimated[Shares]:
    """Return the share of each pair of values (first down, second across); `counts` says how often each pair of reports occurs.

    Given the answers, the two reports are independent, so the product of their unbiased indicators is
    an unbiased indicator of the pair. The variance is that of the products, at least that of one pair
    with share 0; up to `repeats` pairs may be copies of one.
    """
    (one, one_reports, one_values), (two, two_reports, two_values) = first, second
    if len(one_values) * len(two_values) > MOST_PAIRS:
        raise InvalidInput(f"A cross table has at most {MOST_PAIRS:,} cells.")
    weights = np.ones(len(one_reports)) if counts is None else counts.astype(np.float64)
    total = float(weights.sum())
    if total < 1:
        raise InvalidInput("Nobody has answered both questions yet.")
    sums = np.zeros((2, len(one_values), len(two_values)))
    for start in range(0, len(weights), _ROWS):
        part = slice(start, start + _ROWS)
        left = _indicators(one, one_reports[part], one_values)
        right = _indicators(two, two_reports[part], two_values)
        sums[0] += (left * weights[part, None]).T @ right
        sums[1] += (left**2 * weights[part, None]).T @ right**2
    value = sums[0] / total
    spread = np.maximum(sums[1] / total - value**2, _least(one) * _least(two))
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(
        spread * repeats / total + one.hash_variance + two.hash_variance
    )
    return Estimated(value, value - reach, value + reach)


def _indicators(randomizer: ListedRandomizer, reports: Reports, values: Sequence[Any]) -> Shares:
    """Return numbers whose expectations are 1 for the own value and 0 for any other."""
    own, other = float(randomizer.own), float(randomizer.other)
    return np.asarray((randomizer.supports(reports, values) - other) / (own - other))


def _least(randomizer: ListedRandomizer) -> float:
    own, other = float(randomizer.own), float(randomizer.other)
    return min(own * (1 - own), other * (1 - other)) / (own - other) ** 2


def cross_result(
    plan: SurveyPlan,
    wanted: EstimateRequest,
    reports: tuple[Reports, Reports],
    counts: Integers | None = None,
) -> dict[str, Any]:
    """Return the cross table that is wanted as `--json` prints it: first question, second, share."""
    assert wanted.cross is not None
    if wanted.cross[0] == wanted.cross[1]:
        raise InvalidInput("A cross table needs two different questions.")
    sides, labels = [], []
    for name, told in zip(wanted.cross, reports, strict=True):
        index = plan.question_index(name)
        randomizer: Any = plan.choices[index].randomizer
        if isinstance(randomizer, MeanRandomizer) or parts_of(randomizer) > 1:
            raise InvalidInput("A cross table needs two questions with answers from a list.")
        shown, values = values_of(plan.survey.questions[index], wanted)
        if not values:
            raise InvalidInput(f"A cross table needs the words that '{name}' is read for.")
        sides.append((randomizer, told, values))
        labels.append(shown)
    found = cross_table(
        sides[0],
        sides[1],
        counts=counts,
        confidence=wanted.confidence,
        repeats=wanted.repeats,
    )
    return {
        "questions": list(wanted.cross),
        "estimates": {
            row: {
                column: {
                    "value": float(found.value[i, j]),
                    "low": float(found.low[i, j]),
                    "high": float(found.high[i, j]),
                }
                for j, column in enumerate(labels[1])
            }
            for i, row in enumerate(labels[0])
        },
    }
