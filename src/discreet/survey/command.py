"""What `discreet survey` does, one function a use: begin, estimate and close; rehearsing is in `rehearse`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.engine.base import Engine
from discreet.survey.collect.columns import ColumnReports
from discreet.survey.collect.store import SurveyStore
from discreet.survey.estimate.cross import cross_result
from discreet.survey.estimate.planning import (
    expected_error,
    in_units,
    once_epsilon,
    poisoning_gain,
    respondents_needed,
)
from discreet.survey.estimate.request import EstimateRequest
from discreet.survey.estimate.result import survey_result
from discreet.survey.rehearse import candidates_of
from discreet.survey.spec.consent import ConsentFacts
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import read_survey

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
