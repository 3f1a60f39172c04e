"""The Course pages: contents like a book's, one page a lesson, and what teachers need."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from discreet.catalog.declare.analysts import free_name
from discreet.course.facts import facts_of
from discreet.course.lesson import LIVE, Lesson, all_lessons, lesson_named, syllabus
from discreet.server.access.auth import GuardedRoute, allow, everybody
from discreet.server.access.tokens import Role
from discreet.server.context import context_of
from discreet.server.feature import EVERYBODY, Feature, Place
from discreet.server.features.course import class_routes, routes
from discreet.server.features.course.class_routes import MOST
from discreet.server.features.course.routes import LessonName
from discreet.server.markdown import own_address, to_markup
from discreet.server.rendering import page

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (routes.router, class_routes.router, router),
    places=(Place("Course", "/course", 70, EVERYBODY),),
    set_up=routes.set_up,
)


@router.get("/learn")
@everybody
def learn(request: Request) -> Response:
    """Lead to the course, which has taken in what stood here."""
    del request
    return RedirectResponse("/course", 308)


@router.get("/course")
@everybody
def contents(request: Request) -> Response:
    """Show all lessons, and where each subject is taught."""
    lessons = all_lessons()
    by_topic = [
        {"name": name, "lessons": [each for each in lessons if int(number) in each.rows]}
        for number, name in syllabus()["rows"].items()
    ]
    return page(
        request,
        "course.html",
        "Course",
        lessons=lessons,
        by_topic=by_topic,
        minutes=sum(lesson.minutes for lesson in lessons),
    )


@router.get("/course/teacher")
@allow(Role.OWNER)
def teacher(request: Request) -> Response:
    """Show every solution, and a form that gives a class its tokens."""
    context = context_of(request)
    with context.workspace.curator() as curator:
        datasets = curator.share_report()["datasets"]
        free = free_name("student", curator.catalog.analysts)
    return page(
        request,
        "course_teacher.html",
        "For teachers",
        lessons=all_lessons(),
        datasets=[(name, facts["epsilon"]) for name, facts in datasets.items()],
        most=MOST,
        free=free,
        only_here=context.settings.loopback,
        encrypted=context.settings.tls,
    )


@router.get("/course/{name}")
@everybody
def one(request: Request, name: LessonName, projector: bool = False) -> Response:
    """Show one lesson; `projector` makes it large, for a room."""
    lesson = lesson_named(name)
    lessons = all_lessons()
    place = lessons.index(lesson)
    return page(
        request,
        "course_lesson.html",
        lesson.title,
        lesson=lesson,
        pieces=_pieces(lesson),
        count=len(lessons),
        script=(lesson.folder / "live.js").is_file(),
        projector=projector,
        before=lessons[place - 1] if place else None,
        after=lessons[place + 1] if place + 1 < len(lessons) else None,
    )


def _pieces(lesson: Lesson) -> list[dict[str, Any]]:
    """Return text and things to move in turn: markup of our own, sweeps over steps, or an empty place."""
    found: list[dict[str, Any]] = []
    at = 0
    for match in LIVE.finditer(lesson.text):
        found.append(_text(lesson.text[at : match.start()]))
        found.append(_live(lesson, match["name"] or ""))
        at = match.end()
    found.append(_text(lesson.text[at:]))
    return found


def _text(text: str) -> dict[str, Any]:
    return {"kind": "text", "body": to_markup(text, own_address)}


def _live(lesson: Lesson, name: str) -> dict[str, Any]:
    ending = f"_{name}" if name else ""
    sweep = facts_of(lesson)["sweeps"].get(name)
    if sweep is not None:
        return {"kind": "sweep", "id": f"sweep{ending}", "sweep": sweep}
    file = lesson.folder / f"live{ending}.html"
    if file.is_file():  # a file of the package, not of a user
        return {"kind": "text", "body": Markup(file.read_text(encoding="utf-8"))}  # noqa: S704
    return {"kind": "place", "id": f"live-{name}" if name else "live"}
