"""The owner's pages: the surveys there are, one survey as reports come in, and the same for a projector."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.report.qr import qr_path
from discreet.server.access.auth import GuardedRoute, Id, allow
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import Feature, Place
from discreet.server.features.survey import collector, respondent, routes
from discreet.server.features.survey.intake import intake_of
from discreet.server.features.survey.routes import all_listed, listed
from discreet.server.features.survey.shelf import shelf_of
from discreet.server.rendering import page
from discreet.survey.spec.consent import promise_of

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (collector.router, routes.router, router, respondent.router),
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


@router.get("/surveys")
@allow(Role.OWNER, Role.ANALYST)
def surveys(request: Request) -> Response:
    """Show the surveys there are, and a form for a new one."""
    shelf = shelf_of(request)
    return page(request, "surveys.html", "Survey", surveys=all_listed(shelf), example=EXAMPLE)


@router.get("/surveys/{name}")
@allow(Role.OWNER, Role.ANALYST)
def one_survey(request: Request, name: Id) -> Response:
    """Show one survey: estimates as reports come in, what it promises, and its link."""
    return _shown(request, name, "survey.html")


@router.get("/surveys/{name}/projector")
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
