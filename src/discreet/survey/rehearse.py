"""A rehearsal: simulated devices answer, and the estimates are what the survey would have shown.

Nobody is protected here: whoever runs it holds the answers. Every device throws coins
of its own; the reports are drawn in bulk by the same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.noise.rng import Rng
from discreet.survey.answers import AnswerColumn, read_answers, read_candidates
from discreet.survey.estimate.cross import cross_result
from discreet.survey.estimate.request import EstimateRequest
from discreet.survey.estimate.result import QuestionTally, survey_result
from discreet.survey.randomizers.base import Reports
from discreet.survey.randomizers.simulated_coins import KeystreamRng
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import read_survey
from discreet.survey.spec.survey import QuestionKind, Survey, SurveyQuestion

_KEYSTREAM = KeystreamRng()


def rehearse_survey(
    survey: Path, answers: Path, *, wanted: EstimateRequest | None = None, rng: Rng = _KEYSTREAM
) -> dict[str, Any]:
    """Return the estimates of a survey whose devices are simulated on a file of answers."""
    plan = SurveyPlan.of(read_survey(survey))
    columns = read_answers(answers, plan.survey)
    chosen = wanted or EstimateRequest()
    words = candidates_of(
        plan.survey, lambda question: survey.parent / question.candidates, chosen, columns
    )
    settled = replace(chosen, candidates=words)
    reports = [
        choice.randomizer.encode_many(column.values, rng)
        for choice, column in zip(plan.choices, columns, strict=True)
    ]
    tallies = [
        QuestionTally(len(each), choice.randomizer.tally(each))
        for choice, each in zip(plan.choices, reports, strict=True)
    ]
    given, alike = _given(columns)
    found = survey_result(plan, given, tallies, settled, alike=alike)
    if settled.cross:
        found["cross"] = cross_result(plan, settled, _pairs(plan, settled.cross, columns, reports))
    return {**found, "rehearsal": True}


def _given(columns: Sequence[AnswerColumn]) -> tuple[int, int]:
    """Return how many answered anything, and the fewest who answered the same questions."""
    answered = np.stack([column.answered for column in columns], axis=1)
    some = answered[answered.any(axis=1)]
    counts = np.unique(some, axis=0, return_counts=True)[1]
    return len(some), int(counts.min(initial=len(some)))


def _pairs(
    plan: SurveyPlan,
    names: tuple[str, str],
    columns: Sequence[AnswerColumn],
    reports: Sequence[Reports],
) -> tuple[Reports, Reports]:
    """Return the reports of those who answered both questions."""
    first, second = (plan.question_index(name) for name in names)
    both = columns[first].answered & columns[second].answered
    return (
        reports[first][both[columns[first].answered]],
        reports[second][both[columns[second].answered]],
    )


def candidates_of(
    survey: Survey,
    words_of: Callable[[SurveyQuestion], Path],
    wanted: EstimateRequest,
    columns: Sequence[AnswerColumn] | None = None,
) -> dict[str, Sequence[str]]:
    """Return the words that open questions are read for: given, from the named file, or as rehearsed."""
    found: dict[str, Sequence[str]] = {}
    for index, question in enumerate(survey.questions):
        if question.kind is not QuestionKind.OPEN:
            continue
        if question.name in wanted.candidates:
            found[question.name] = wanted.candidates[question.name]
        elif question.candidates:
            found[question.name] = read_candidates(words_of(question), question.name)
        elif columns is not None and question.mechanism != "prefix-tree":
            found[question.name] = sorted(set(columns[index].values))
    return found
