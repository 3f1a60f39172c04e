"""The course as pages and API: contents, lessons, grading; and a class in one step, for its owner."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Request
from fastapi.responses import FileResponse, RedirectResponse, Response
from markupsafe import Markup
from pydantic import Field, StrictStr

from discreet.base.numbers import Epsilon
from discreet.base.requests.server import ClassFields
from discreet.data.catalog.catalog import Catalog
from discreet.data.catalog.writer import free_name, share_notes, with_analysts
from discreet.errors import UnknownName
from discreet.lab.course.facts import facts_of
from discreet.lab.course.lesson import LIVE, LONGEST, Lesson, all_lessons, lesson_named, syllabus
from discreet.lab.course.lesson import grade as graded
from discreet.server.access.auth import (
    GuardedRoute,
    address_of,
    allow,
    api_router,
    caller,
    everybody,
)
from discreet.server.access.limits import Buckets
from discreet.server.access.tokens import (
    NewToken,
    Role,
    all_classes,
    class_label,
    end_class,
    student_names,
    tell_shares,
)
from discreet.server.bodies import Body, body_of
from discreet.server.feature import EVERYBODY, Feature, Place, own_address, page, to_markup
from discreet.server.workspace import change, context_of
from discreet.show.qr import KEEP, SheetCard, sign_in_sheet

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


class_router = api_router("course")

MOST = 200
"""Students of one class on the page: each needs a picture. The command has no such limit."""
ClassName = Annotated[str, Path(max_length=40)]


_Class: Any = body_of(ClassFields, size={"default": ..., "most": MOST}, epsilon={"default": ...})


class ClassBody(_Class):  # type: ignore[misc]  # its fields are the request's
    """A class: how many students, what each may spend, and of which data set (all unless named)."""

    dataset: StrictStr | None = Field(None, max_length=200)


@class_router.get("/classes")
@allow(Role.OWNER)
def listed(request: Request) -> dict[str, Any]:
    """List the classes there are and were, the latest first; never their tokens."""
    return {"classes": [each.to_json() for each in all_classes(context_of(request).tokens)]}


@class_router.post("/classes", status_code=201)
@allow(Role.OWNER)
def begin(request: Request, wanted: ClassBody) -> dict[str, Any]:
    """Begin a class; the links of its students are shown this once.

    All students are declared or none; the total of a data set limits them together as ever.
    """
    context, by = context_of(request), caller(request).actor
    label, names = class_label(wanted.name), student_names(wanted.name, wanted.size)
    epsilon = Epsilon.of(wanted.epsilon)

    def shared_of(old: Catalog) -> list[str]:
        return list(old.datasets) if wanted.dataset is None else [wanted.dataset]

    def edit(text: str, old: Catalog) -> str:
        return with_analysts(text, old, names, epsilon=epsilon, datasets=shared_of(old))

    changed = change(context.workspace, edit)
    shared = shared_of(changed.before)
    tell_shares(context.access.audit, names, str(wanted.epsilon), shared, by=by)
    made = context.tokens.new_many(
        Role.ANALYST, names, expires_days=wanted.expires_days, label=label, by=by
    )
    cards = [_card(request, each) for each in made]
    title = f"Class {wanted.name}: {wanted.size} students"
    about = f"Each may spend epsilon {float(epsilon):g} of {', '.join(shared)}."
    return {
        "name": wanted.name,
        "title": title,
        "about": about,
        "keep": KEEP,
        "notes": share_notes(changed.after),
        "students": [
            {"name": card.name, "link": card.link, "qr": {"path": card.path, "side": card.side}}
            for card in cards
        ],
        "sheet": sign_in_sheet(title, about, cards),
    }


@class_router.delete("/classes/{name}")
@allow(Role.OWNER)
def end(request: Request, name: ClassName) -> dict[str, Any]:
    """End a class: all its tokens are useless at once and for good; what was spent stays spent."""
    ended = end_class(context_of(request).tokens, name, by=caller(request).actor)
    return {"name": name, "ended": ended}


def _card(request: Request, made: NewToken) -> SheetCard:
    name = made.token.analyst or ""
    return SheetCard.of(name, f"{str(request.base_url).rstrip('/')}/ask?token={made.text}")


page_router = APIRouter(route_class=GuardedRoute, include_in_schema=False)
FEATURE = Feature(
    (router, class_router, page_router),
    places=(Place("Course", "/course", 70, EVERYBODY),),
    set_up=set_up,
)


@page_router.get("/learn")
@everybody
def learn(request: Request) -> Response:
    """Lead to the course, which has taken in what stood here."""
    del request
    return RedirectResponse("/course", 308)


@page_router.get("/course")
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


@page_router.get("/course/teacher")
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


@page_router.get("/course/{name}")
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
