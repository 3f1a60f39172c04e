"""The course over HTTP: its lessons, the files of one, and an answer that is graded; for everybody."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import FastAPI, Path, Request
from fastapi.responses import FileResponse, Response
from pydantic import Field, StrictStr

from discreet.course.grading import LONGEST
from discreet.course.grading import grade as graded
from discreet.course.lesson import all_lessons, lesson_named
from discreet.errors import UnknownName
from discreet.server.access.auth import address_of, api_router, everybody
from discreet.server.access.limits import Buckets
from discreet.server.plain_json import Body

router = api_router("course")

GRADED_A_SECOND, GRADED_AT_ONCE = 5.0, 60
"""Answers of one network address: a class may sit behind one."""
LessonName = Annotated[str, Path(pattern=r"^[a-z_]{1,40}$")]
_FILE = re.compile(r"[a-z_]+\.(js|json|ipynb)")
_KINDS = {
    "js": "text/javascript",
    "json": "application/json",
    "ipynb": "application/x-ipynb+json",
}


class GivenAnswer(Body):
    """An answer to one question of a lesson."""

    question: StrictStr = Field(max_length=40)
    answer: StrictStr = Field(max_length=LONGEST)


def set_up(app: FastAPI) -> None:
    """Begin to count the answers of each address."""
    app.state.graded = Buckets(GRADED_A_SECOND, GRADED_AT_ONCE)


@router.get("/course")
@everybody
def lessons(request: Request) -> dict[str, Any]:
    """List the lessons in the order of the course."""
    del request
    return {"lessons": [lesson.to_json() for lesson in all_lessons()]}


@router.get("/course/{name}/{file}")
@everybody
def lesson_file(request: Request, name: LessonName, file: str) -> Response:
    """Return what a browser loads with a lesson: its scripts, its figures, its notebook."""
    del request
    lesson = lesson_named(name)
    match = _FILE.fullmatch(file)
    path = lesson.folder / file
    if match is None or not path.is_file():
        raise UnknownName("This lesson has no such file.")
    headers = {"Cache-Control": "no-cache"}
    shown = f"{lesson.name}.ipynb" if match[1] == "ipynb" else None
    return FileResponse(path, media_type=_KINDS[match[1]], headers=headers, filename=shown)


@router.post("/course/{name}/grade")
@everybody
def grade(request: Request, name: LessonName, given: GivenAnswer) -> dict[str, Any]:
    """Say whether an answer is right, and why; worked out on a made-up town of the course's own.

    Guarantee: neither the server's data sets nor its ledger are at hand here: nothing can be read or spent.
        A statement is planned in a child with limits, few at a time; whoever comes meanwhile is told to
        come again, at once (note 0067).
    """
    request.app.state.graded.take(address_of(request))
    return graded(name, given.question, given.answer).to_json()
