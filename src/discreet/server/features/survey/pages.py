"""Surveys: begin, look, estimate, close; the owner's pages, the projector's and the respondent's."""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from discreet.base.requests.unpaid import EstimateFields
from discreet.errors import DiscreetError, InvalidInput, LedgerWriteFailed
from discreet.server.access.audit_log import AuditAction
from discreet.server.access.auth import API, GuardedRoute, Id, allow, api_router, everybody, tell
from discreet.server.access.tokens import Role
from discreet.server.bodies import Body, body_of
from discreet.server.feature import Feature, Place, page
from discreet.server.features.survey import collector
from discreet.server.features.survey.collector import SurveyShelf, intake_of, shelf_of
from discreet.server.workspace import context_of
from discreet.show.qr import qr_path
from discreet.survey.command import (
    begin_survey,
    begin_wave,
    close_survey,
    described,
    estimate_survey,
)
from discreet.survey.plan import SurveyPlan, promise_of
from discreet.survey.results import EstimateRequest
from discreet.survey.specification import read_survey

MOST_WORDS = 5_000


class StatedSurvey(Body):
    """A survey to be looked at or begun."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$")]
    toml: Annotated[str, Field(max_length=200_000)]
    within: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @contextmanager
    def file(self) -> Iterator[Path]:
        """Lend the text as a file of the survey's name; a refusal does not tell where it lay."""
        with tempfile.TemporaryDirectory(prefix="discreet-survey-") as folder:
            path = Path(folder) / f"{self.name}.toml"
            path.write_text(self.toml, encoding="utf-8")
            try:
                _name_no_files(path)
                yield path
            except InvalidInput as error:
                said = error.message.replace(str(path), path.name)
                raise InvalidInput(said, hint=error.hint) from None


def _name_no_files(path: Path) -> None:
    """Refuse a survey that names a file: whoever sends a survey may not read what lies on the server."""
    if any(question.candidates for question in read_survey(path).questions):
        raise InvalidInput(
            "A survey that is begun here cannot name a file of candidates.",
            hint="Leave 'candidates' out, and write the words on the survey's page.",
        )


_Fields: Any = body_of(EstimateFields)


class EstimateBody(_Fields):  # type: ignore[misc]  # its fields are the request's
    """What estimates are wanted for: words by open question, shares that add up, two questions to cross."""

    candidates: dict[str, Annotated[list[str], Field(max_length=MOST_WORDS)]] = Field({})

    def wanted(self) -> EstimateRequest:
        """Return the same as the survey's own value; a word that no device could tell is refused."""
        return EstimateRequest.of(**self.given(EstimateFields))


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


respondent_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

LANGUAGES = ("en", "de", "fr")
"""The files of `words/`; the first is for everybody else."""


@lru_cache
def words_in(language: str) -> dict[str, Any]:
    """Return everything that the page says, in one language."""
    folder = files("discreet.server.features.survey").joinpath("words")
    text = folder.joinpath(f"{language}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def language_of(accepted: str) -> str:
    """Return the first language of an Accept-Language header that there are words in.

    >>> language_of("it, en-GB;q=0.7")
    'en'
    """
    for part in accepted.split(","):
        named = part.partition(";")[0].strip().lower()[:2]
        if named in LANGUAGES:
            return named
    return LANGUAGES[0]


@respondent_router.get("/s/worker.js")
@everybody
def worker(request: Request) -> Response:
    """Hand out the script that keeps the page for a reload offline; from here it may answer for /s/ only."""
    del request
    script = files("discreet.server").joinpath("static", "survey", "worker.js")
    return Response(script.read_bytes(), media_type="text/javascript")


@respondent_router.get("/s/{name}")
@everybody
def respond(request: Request, name: Id) -> Response:
    """Show a survey to a respondent; answers are randomised in the browser."""
    store = shelf_of(request).store(name)
    chosen = language_of(request.headers.get("accept-language", ""))
    words = words_in(chosen)
    offered = [words, *(words_in(each) for each in LANGUAGES if each != chosen)]
    return page(
        request,
        "survey_respond.html",
        store.plan.survey.title,
        words=words,
        words_text=json.dumps(offered, ensure_ascii=False),
        document=store.plan.document.decode(),
        address=f"{API}/surveys/{name}/reports",
        closed=store.closed,
    )


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (collector.router, router, page_router, respondent_router),
    places=(Place("Survey", "/surveys", 40),),
    larger=collector.larger_bodies,
    limited=lambda connection: intake_of(connection).trouble(),
)

EXAMPLE = """title = "Smoking at our school"
epsilon = 2.0             # promised to each respondent, for the whole survey
respondents = 90          # how many you expect
[questions.smokes]
kind = "yes-no"
text = "Do you smoke?"
[questions.hours]
kind = "number"
text = "How many hours did you sleep last night?"
lower = 0
upper = 12
"""


@page_router.get("/surveys")
@allow(Role.OWNER, Role.ANALYST)
def surveys_page(request: Request) -> Response:
    """Show the surveys there are, and a form for a new one."""
    shelf = shelf_of(request)
    return page(request, "surveys.html", "Survey", surveys=all_listed(shelf), example=EXAMPLE)


@page_router.get("/surveys/{name}")
@allow(Role.OWNER, Role.ANALYST)
def one_survey(request: Request, name: Id) -> Response:
    """Show one survey: estimates as reports come in, what it promises, and its link."""
    return _shown(request, name, "survey.html")


@page_router.get("/surveys/{name}/projector")
@allow(Role.OWNER, Role.ANALYST)
def projector(request: Request, name: Id) -> Response:
    """Show one survey to a room: the link, and numbers that settle."""
    return _shown(request, name, "survey_projector.html")


def _shown(request: Request, name: str, template: str) -> Response:
    shelf = shelf_of(request)
    plan = shelf.store(name).plan
    link = f"{str(request.base_url).rstrip('/')}/s/{name}"
    path, side = qr_path(link)
    return page(
        request,
        template,
        plan.survey.title,
        survey=listed(shelf, name),
        questions=[
            {"name": question.name, "text": question.text, "kind": str(question.kind)}
            for question in plan.survey.questions
        ],
        expected=plan.survey.respondents,
        most={"reports": plan.survey.most_reports, "mb": plan.survey.most_mb},
        intake=intake_of(request).trouble(),
        promise=promise_of(plan),
        link=link,
        qr={"path": path, "side": side},
        only_here=context_of(request).settings.loopback,
        encrypted=context_of(request).settings.tls,
    )
