"""Lessons as they lie in their folders: front matter (TOML between lines of +++), text, exercise, things to move."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.core.display.lines import ShownInLines, ShownLines
from discreet.course.exercise import LessonQuestion
from discreet.errors import InternalError, UnknownName

FOLDER = Path(__file__).parent / "lessons"
TOPICS = Path(__file__).parent / "topics.toml"
LIVE = re.compile(r"^\{\{live(?: (?P<name>[a-z_]+))?\}\}$", re.MULTILINE)
"""A line that stands where something can be moved: {{live}} is live.html, {{live two}} is live_two.html."""
_FRONT = re.compile(r"\A\+\+\+\n(?P<facts>.*?)^\+\+\+\n(?P<text>.*)\Z", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, repr=False)
class Lesson(ShownInLines):
    """One lesson: its place in the course, its name and title, what it is about, and its text.

    `rows` are the rows of `topics.toml` that it teaches.
    """

    number: int
    name: str
    title: str
    summary: str
    minutes: int
    topics: tuple[str, ...]
    rows: tuple[int, ...]
    text: str
    folder: Path

    @property
    def questions(self) -> tuple[LessonQuestion, ...]:
        """Return the questions of its exercise, imported when asked for."""
        found: tuple[LessonQuestion, ...] = import_module(
            f"discreet.course.lessons.{self.folder.name}.exercise"
        ).QUESTIONS
        return found

    def question(self, name: str = "") -> LessonQuestion:
        """Return a question by its name; the first one unless named."""
        for question in self.questions:
            if name in ("", question.name):
                return question
        known = ", ".join(question.name for question in self.questions)
        raise UnknownName(
            f"The lesson '{self.name}' has no question '{name}'.", hint=f"It has: {known}."
        )

    @property
    def plain_text(self) -> str:
        """Return the text for a terminal: without the places of things that only a browser moves."""
        return re.sub(r"\n{3,}", "\n\n", LIVE.sub("", self.text)).strip()

    @property
    def notebook(self) -> Path:
        """Return where its notebook lies."""
        return self.folder / "notebook.ipynb"

    def to_json(self) -> dict[str, Any]:
        """Return the lesson as `discreet course --json` lists it."""
        return {"name": self.name, "title": self.title, "topics": list(self.topics)}

    def lines(self) -> ShownLines:
        """Return what a person reads: not the whole text."""
        return [(f"lesson {self.number}", f"{self.name}: {self.title}"), ("about", self.summary)]


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return every lesson, in the order of the course; read once."""
    found = [read_lesson(path) for path in FOLDER.glob("*/lesson.md")]
    return tuple(sorted(found, key=lambda lesson: lesson.number))


def lesson_named(name: str) -> Lesson:
    """Return the lesson of this name or number.

    >>> lesson_named("promise").name == lesson_named(str(lesson_named("promise").number)).name
    True
    """
    for lesson in all_lessons():
        if name in (lesson.name, str(lesson.number)):
            return lesson
    raise UnknownName("There is no lesson of this name.", hint="'discreet course' lists them all.")


def read_lesson(path: Path) -> Lesson:
    """Return a lesson from its file."""
    match = _FRONT.match(path.read_text(encoding="utf-8"))
    if match is None:
        raise InternalError(f"the lesson {path.parent.name} has no front matter between +++")
    facts = tomllib.loads(match["facts"])
    return Lesson(
        **facts | {"topics": tuple(facts["topics"]), "rows": tuple(facts["rows"])},
        text=match["text"].strip() + "\n",
        folder=path.parent,
    )


@cache
def syllabus() -> Mapping[str, Any]:
    """Return `topics.toml`: the rows that a course on privacy must teach, and its subjects."""
    return tomllib.loads(TOPICS.read_text(encoding="utf-8"))
