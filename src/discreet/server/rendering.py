"""Pages from templates, with the frame that all of them share; and failures as pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from discreet.errors import DiscreetError, NotSignedIn
from discreet.server.access.auth import API, maybe_caller, recognise
from discreet.server.feature import places
from discreet.server.problems import status_of

HERE = Path(__file__).parent
THEME_COOKIE = "discreet_theme"

_TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_HEADINGS = {
    403: "This is not open to you",
    404: "There is no such page",
    503: "Not possible right now",
}

Handler = Callable[[Request, Exception], Awaitable[Response]]


def page(
    request: Request, template: str, title: str, *, status: int = 200, **shown: Any
) -> Response:
    """Return a template inside the frame; `shown` are the names that the template uses."""
    who = maybe_caller(request)
    theme = request.cookies.get(THEME_COOKIE, "")
    text = _TEMPLATES.get_template(template).render(
        title=title,
        here=request.url.path,
        theme=theme if theme in ("light", "dark") else "",
        csrf="" if who is None else who.csrf or "",
        me=None if who is None else {"name": who.analyst or who.role.value, "role": who.role.value},
        places=places(None if who is None else who.role),
        **shown,
    )
    return HTMLResponse(text, status)


def message(request: Request, heading: str, sentence: str, *, status: int) -> Response:
    """Return a page that says one thing and leads back."""
    return page(request, "message.html", heading, status=status, heading=heading, sentence=sentence)


def add_page_problems(app: FastAPI) -> None:
    """Answer browsers that look for a page with a page, when something is wrong."""
    for kind in (DiscreetError, HTTPException):
        plain: Handler = app.exception_handlers[kind]  # type: ignore[assignment]  # ours, and async
        app.add_exception_handler(kind, _shown(plain))


def _shown(plain: Handler) -> Handler:
    async def handle(request: Request, error: Exception) -> Response:
        wants = "text/html" in request.headers.get("accept", "")
        if not wants or request.url.path.startswith(API) or isinstance(error, NotSignedIn):
            return await plain(request, error)
        await run_in_threadpool(recognise, request)
        if isinstance(error, DiscreetError):
            status, sentence = status_of(error), str(error)
        else:
            assert isinstance(error, HTTPException), "registered for these two"
            status, sentence = error.status_code, "Perhaps the address was cut or is an old one."
        return message(request, _HEADINGS.get(status, "Not done"), sentence, status=status)

    return handle
