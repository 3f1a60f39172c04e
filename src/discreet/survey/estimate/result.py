"""The estimates of a whole survey, question by question, and the object that `--json` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from discreet.survey.estimate.planning import (
    TOO_WIDE,
    expected_error,
    in_units,
    poisoning_gain,
)
from discreet.survey.estimate.request import EstimateRequest, values_of
from discreet.survey.estimate.shares import estimate_mean, norm_sub, shares_from
from discreet.survey.estimate.shuffle import ASSUMES, shuffled_epsilon
from discreet.survey.randomizers.base import MeanRandomizer, ShareRandomizer, Tally
from discreet.survey.randomizers.numbers.lattice import NumberRange
from discreet.survey.sketch.prefix_tree import PrefixTree
from discreet.survey.spec.choose import ChosenRandomizer
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.survey import QuestionKind, SurveyQuestion

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
