"""What `discreet survey` does, one function a use: rehearse, begin, estimate and close.

In a rehearsal simulated devices answer, and the estimates are what the survey would have shown. Nobody is protected
there: whoever runs it holds the answers. Every device throws coins of its own; the reports are drawn in bulk by the
same laws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.engines.base import Engine
from discreet.privacy.noise.rng import Rng
from discreet.survey.answers import AnswerColumn, read_answers, read_candidates
from discreet.survey.columns import ColumnReports
from discreet.survey.estimators import (
    expected_error,
    in_units,
    once_epsilon,
    poisoning_gain,
    respondents_needed,
)
from discreet.survey.plan import ConsentFacts, SurveyPlan
from discreet.survey.randomizers.base import Reports
from discreet.survey.randomizers.bits import KeystreamRng
from discreet.survey.results import EstimateRequest, QuestionTally, cross_result, survey_result
from discreet.survey.specification import QuestionKind, Survey, SurveyQuestion, read_survey
from discreet.survey.store import SurveyStore

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


_USUAL_ERROR = 0.05


def begin_survey(toml: Path, base: Path, *, within: float = _USUAL_ERROR) -> dict[str, Any]:
    """Return what a new survey asks and promises, after making it below `base`."""
    described(SurveyPlan.of(read_survey(toml)), within=within)  # refused before anything is made
    store = SurveyStore.create(toml, base)
    return {**described(store.plan, within=within), "folder": str(store.folder)}


def begin_wave(name: str, base: Path) -> dict[str, Any]:
    """Return the name and number of a survey's next wave, after making it and closing the one before.

    It is a survey of its own: NAME-wave-2, with a page and a link of its own, asked of everybody again.
    """
    before = SurveyStore.open(name, base)
    store = before.next_wave()
    before.close()
    return {
        "survey": store.plan.survey.name,
        "id": store.plan.id.hex(),
        "title": store.plan.survey.title,
        "wave": store.plan.wave,
        "waves": store.plan.survey.waves,
        "folder": str(store.folder),
    }


def described(plan: SurveyPlan, *, within: float = _USUAL_ERROR) -> dict[str, Any]:
    """Return each question's mechanism, why it was chosen, and how many respondents it needs."""
    survey = plan.survey
    return {
        "survey": survey.name,
        "id": plan.id.hex(),
        "title": survey.title,
        "epsilon": float(survey.epsilon),
        "wave": plan.wave,
        "waves": survey.waves,
        "question_epsilon": float(survey.question_epsilon),
        "protection": str(ConsentFacts.of(plan).protection),
        "within": within,
        "most_reports": survey.most_reports,
        "most_mb": survey.most_mb,
        "questions": {
            question.name: {
                "mechanism": choice.randomizer.name,
                "why": choice.why,
                "respondents_needed": respondents_needed(choice.randomizer, within),
                "poisoning_gain": poisoning_gain(choice.randomizer),
                "epsilon_once": once_epsilon(choice.randomizer),
                "expected_error": (
                    in_units(question, expected_error(choice.randomizer, survey.respondents))
                    if survey.respondents
                    else None
                ),
            }
            for question, choice in zip(survey.questions, plan.choices, strict=True)
        },
    }


def estimate_survey(
    name: str,
    base: Path,
    *,
    wanted: EstimateRequest | None = None,
    columns: tuple[Engine, str] | None = None,
) -> dict[str, Any]:
    """Return the estimates of a survey from the reports so far.

    `columns` are an engine and its table with the columns q0, q1, ... that `close_survey` writes: reports
    that lie elsewhere, of several collectors or too many for one file.
    """
    store = SurveyStore.open(name, base)
    chosen = wanted or EstimateRequest()
    words = candidates_of(store.plan.survey, store.words_of, chosen)
    settled = replace(chosen, candidates=words, repeats=store.repeats)
    held: SurveyStore | ColumnReports = (
        store if columns is None else ColumnReports(*columns, store.plan)
    )
    found = survey_result(
        store.plan, held.reports(), held.tallies(), settled, alike=held.least_alike()
    )
    if settled.cross:
        reports, counts = held.pairs(settled.cross)
        found["cross"] = cross_result(store.plan, settled, reports, counts)
    return {**found, "closed": store.closed, "refused": held.refused()}


def close_survey(name: str, base: Path) -> dict[str, Any]:
    """Return how many donations there are, after closing the survey to more.

    `columns` is None where the disk has no room for the file of columns: close it again to write it.
    """
    store = SurveyStore.open(name, base)
    columns = store.close()
    if columns is None:
        return {"survey": name, "closed": True, "reports": None, "refused": None, "columns": None}
    return {
        "survey": name,
        "closed": True,
        "reports": store.reports(),
        "refused": store.refused(),
        "columns": str(columns),
    }
