"""The respondent's page: a survey's document and the page's words in one small page; no frame, no cookie."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from discreet.server.access.auth import API, GuardedRoute, Id, everybody
from discreet.server.features.survey.shelf import shelf_of
from discreet.server.rendering import page

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

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


@router.get("/s/worker.js")
@everybody
def worker(request: Request) -> Response:
    """Hand out the script that keeps the page for a reload offline; from here it may answer for /s/ only."""
    del request
    script = files("discreet.server").joinpath("static", "survey", "worker.js")
    return Response(script.read_bytes(), media_type="text/javascript")


@router.get("/s/{name}")
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
