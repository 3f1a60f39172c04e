"""Surveys over HTTP for their owner: begin, look, estimate, close."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import Request

from discreet.errors import DiscreetError, LedgerWriteFailed
from discreet.server.access.audit_log import AuditAction
from discreet.server.access.auth import Id, allow, api_router, tell
from discreet.server.access.tokens import Role
from discreet.server.features.survey.body import EstimateBody, StatedSurvey
from discreet.server.features.survey.shelf import SurveyShelf, shelf_of
from discreet.survey.command import (
    begin_survey,
    begin_wave,
    close_survey,
    described,
    estimate_survey,
)
from discreet.survey.spec.consent import promise_of
from discreet.survey.spec.plan import SurveyPlan
from discreet.survey.spec.read import read_survey

router = api_router("survey")
_log = logging.getLogger("discreet.server")


@router.get("/surveys")
@allow(Role.OWNER, Role.ANALYST)
def surveys(request: Request) -> dict[str, Any]:
    """List the surveys: title, epsilon, number of reports, and whether more are taken."""
    shelf = shelf_of(request)
    return {"surveys": all_listed(shelf)}


@router.post("/surveys/plan")
@allow(Role.OWNER)
def plan(request: Request, stated: StatedSurvey) -> dict[str, Any]:
    """Say what a survey would promise, and how many respondents it needs; nothing is made."""
    del request
    with stated.file() as path:
        found = SurveyPlan.of(read_survey(path))
        return {**described(found, within=stated.within), "promise": promise_of(found)}


@router.post("/surveys", status_code=201)
@allow(Role.OWNER)
def new(request: Request, stated: StatedSurvey) -> dict[str, Any]:
    """Begin a survey; from now on its page is open to everybody who has the link."""
    shelf = shelf_of(request)
    with stated.file() as path:
        found = begin_survey(path, shelf.base, within=stated.within)
    tell(request, AuditAction.SURVEY_BEGUN, survey=stated.name)
    del found["folder"]
    return found


@router.get("/surveys/{name}")
@allow(Role.OWNER, Role.ANALYST)
def one(request: Request, name: Id) -> dict[str, Any]:
    """Return the estimates so far with their intervals, and how many more each question needs."""
    shelf = shelf_of(request)
    return _with_needs(shelf, name, shelf.estimates(name))


@router.post("/surveys/{name}/estimate")
@allow(Role.OWNER, Role.ANALYST)
def estimated(request: Request, name: Id, body: EstimateBody) -> dict[str, Any]:
    """Return the estimates for given words of open questions, or with a cross table of two questions."""
    shelf = shelf_of(request)
    return _with_needs(shelf, name, estimate_survey(name, shelf.base, wanted=body.wanted()))


@router.post("/surveys/{name}/wave", status_code=201)
@allow(Role.OWNER)
def next_wave(request: Request, name: Id) -> dict[str, Any]:
    """Close a survey and begin its next wave, a survey with a name and a page of its own."""
    shelf = shelf_of(request)
    shelf.store(name)
    found = begin_wave(name, shelf.base)
    shelf.forget(name)
    tell(request, AuditAction.SURVEY_CLOSED, survey=name)
    tell(request, AuditAction.SURVEY_BEGUN, survey=found["survey"])
    del found["folder"]
    return found


@router.post("/surveys/{name}/close")
@allow(Role.OWNER)
def closed(request: Request, name: Id) -> dict[str, Any]:
    """Take no more reports; estimates stay. Works on a full disk, too: `columns` is null until it has room."""
    shelf = shelf_of(request)
    found = close_survey(name, shelf.base)
    shelf.forget(name)
    try:
        tell(request, AuditAction.SURVEY_CLOSED, survey=name)
    except LedgerWriteFailed:  # a full disk must not keep a survey open
        _log.warning("closed without a line in the audit log", extra={"facts": {"survey": name}})
    return found


def all_listed(shelf: SurveyShelf) -> list[dict[str, Any]]:
    """Return one line about each survey; one that cannot be read says so and hides no other."""
    found = []
    for name in shelf.names():
        try:
            found.append(listed(shelf, name))
        except DiscreetError as error:
            found.append({"name": name, "title": name, "problem": error.message})
    return found


def listed(shelf: SurveyShelf, name: str) -> dict[str, Any]:
    """Return one line about a survey."""
    store = shelf.store(name)
    return {
        "name": name,
        "title": store.plan.survey.title,
        "epsilon": float(store.plan.survey.epsilon),
        "reports": store.reports(),
        "closed": store.closed,
        "wave": store.plan.wave,
        "waves": store.plan.survey.waves,
    }


def _with_needs(shelf: SurveyShelf, name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    survey_plan = shelf.store(name).plan
    needs = described(survey_plan)
    questions = {
        question: {
            **facts,
            "text": stated.text,
            "kind": str(stated.kind),
            "lower": stated.lower,
            "upper": stated.upper,
            "respondents_needed": needs["questions"][question]["respondents_needed"],
        }
        for stated, (question, facts) in zip(
            survey_plan.survey.questions, found["questions"].items(), strict=True
        )
    }
    return {
        **found,
        "questions": questions,
        "respondents": survey_plan.survey.respondents,
        "within": needs["within"],
        "promise": promise_of(survey_plan),
        "most_reports": survey_plan.survey.most_reports,
        "most_mb": survey_plan.survey.most_mb,
    }
