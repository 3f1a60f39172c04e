"""The first page, signing in and out, and the files that all pages load."""

from __future__ import annotations

import hmac
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Form, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from discreet.server.access.auth import GuardedRoute, end_session, everybody, maybe_caller
from discreet.server.access.sign_in import (
    drop_cookie,
    form,
    own_form,
    own_path,
    set_cookie,
    token_of,
)
from discreet.server.access.tokens import Role
from discreet.server.feature import HERE, Feature, add_page_problems, message, page, places
from discreet.server.features.frame.charts import chart_bundle
from discreet.server.workspace import context_of

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

START_COOKIE = "discreet_start"
YEAR = 365 * 24 * 3600

_STARTS = {
    "protecting": ("/data", "Protecting data", "Bring a file, say who is protected, set a budget."),
    "asking": ("/ask", "Asking", "Write SQL, see the noise and the price, then the answer."),
    "teaching": (
        "/course",
        "Teaching",
        "Lessons to move with your hands, exercises, attacks that fail.",
    ),
}


class _Assets(StaticFiles):
    """The package's own files; browsers ask each time whether they have changed."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        """Return the file, to be kept but checked."""
        response = super().file_response(*arguments, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response


def set_up(app: FastAPI) -> None:
    """Answer browsers with pages when something is wrong, and serve the assets."""
    add_page_problems(app)
    app.mount("/static", _Assets(directory=HERE / "static"), name="static")


@router.get("/")
@everybody
def front(request: Request) -> Response:
    """Lead to the place chosen at the first visit; ask where to begin; or ask for a token."""
    who = maybe_caller(request)
    if who is None:
        return form(request, "sign_in.html", problem="")
    open_to = {place.path for place in places(who.role)}
    if who.role is Role.REVIEWER:
        return RedirectResponse("/budget", 303)
    start = _STARTS.get(request.cookies.get(START_COOKIE, ""))
    if start is not None and start[0] in open_to:
        return RedirectResponse(start[0], 303)
    choices = [
        {"word": word, "name": name, "sentence": sentence}
        for word, (path, name, sentence) in _STARTS.items()
        if path in open_to
    ]
    return page(request, "welcome.html", "Welcome", choices=choices)


@router.get("/start/{word}")
@everybody
def start(word: str) -> Response:
    """Remember where this browser begins, and go there."""
    if word not in _STARTS:
        return RedirectResponse("/", 303)
    response = RedirectResponse(_STARTS[word][0], 303)
    response.set_cookie(
        START_COOKIE, word, max_age=YEAR, path="/", samesite="strict", httponly=True
    )
    return response


@router.post("/sign-in")
@everybody
def sign_in(
    request: Request,
    token: Annotated[str, Form()] = "",
    nonce: Annotated[str, Form()] = "",
    to: Annotated[str, Form()] = "/",
) -> Response:
    """Exchange a token for a session, with or without JavaScript."""
    context = context_of(request)
    if not own_form(request, nonce):
        problem = "The form was not one of this browser, or its cookies are off. Try again here."
        return form(request, "sign_in.html", status=403, problem=problem)
    found = token_of(request, token.strip(), way="page")
    if found is None:
        problem = (
            "This token is unknown, expired or revoked. Check that it was copied whole, "
            "or ask the owner for a new one."
        )
        return form(request, "sign_in.html", status=401, problem=problem)
    response = RedirectResponse(own_path(to), 303)
    set_cookie(response, context, context.sessions.new(found))
    return response


@router.post("/sign-out")
@everybody
def sign_out(request: Request, csrf: Annotated[str, Form()] = "") -> Response:
    """End the session, if the form is the session's own."""
    who = maybe_caller(request)
    response = RedirectResponse("/", 303)
    if who is None or who.csrf is None:
        return response
    if not hmac.compare_digest(csrf.encode(), who.csrf.encode()):
        sentence = "The form was not one of this session. Nothing was changed."
        return message(request, "You are still signed in", sentence, status=403)
    end_session(request)
    drop_cookie(response, context_of(request))
    return response


@router.get("/static/charts.js")
@everybody
def charts(request: Request) -> Response:
    """Return the chart library from our own origin."""
    bundle = chart_bundle(context_of(request).settings.state_folder)
    return FileResponse(
        bundle, media_type="text/javascript", headers={"Cache-Control": "max-age=86400"}
    )


FEATURE = Feature((router,), set_up=set_up)
