"""Lessons as they lie in their folders (front matter, text, exercise, notebook), what an exercise is, and grading.

An answer is written as people write it (`ln(3)/2`, several numbers, letters), and checked by computation.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import operator
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from discreet.base.display import ShownInLines, ShownLines
from discreet.base.event import Composed, Pure
from discreet.errors import DiscreetError, InternalError, InvalidInput, TooManyRequests, UnknownName
from discreet.privacy.account.tally import tally


class AnswerKind(StrEnum):
    """How an answer is written."""

    NUMBER = "number"
    NUMBERS = "numbers"
    LETTERS = "letters"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """What the checker found: whether the answer is right, and why, in a sentence or two."""

    right: bool
    words: str

    def to_json(self) -> dict[str, Any]:
        """Return the two as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class LessonQuestion:
    """One question. `check` works out whether an answer is right: it gets a number, a list of numbers, a set
    of letters or the text of a statement, and computes with the product's own functions.

    `solution` is one answer that `check` accepts and `why` the way to it; both are for teachers.
    """

    name: str
    text: str
    check: Callable[[Any], GradedAnswer]
    solution: str
    why: str
    hint: str = ""
    kind: AnswerKind = AnswerKind.NUMBER


def close_to(truth: float, given: float, *, within: float = 0.005) -> bool:
    """Return whether a number is right up to a share of its size: half of a percent unless said.

    >>> close_to(1.0986, 1.1), close_to(1.0986, 1.2)
    (True, False)
    """
    return abs(given - truth) <= within * max(abs(truth), 1e-12)


def judged(right: bool, yes: str, no: str) -> GradedAnswer:
    """Return the verdict with the words that fit."""
    return GradedAnswer(right, yes if right else no)


def near(
    truth: Callable[[], float | Fraction], yes: str, no: str, *, within: float = 0.005
) -> Callable[[float], GradedAnswer]:
    """Return the check of a number against the one that is worked out, up to a share of its size.

    `yes` shows what was worked out where it says so, as in `str.format`: "Yes: {:.3f}."
    """

    def check(given: float) -> GradedAnswer:
        found = float(truth())
        return judged(close_to(found, given, within=within), yes.format(found), no)

    return check


def judged_letters(
    truths: Sequence[bool], given: frozenset[str], why: Sequence[str]
) -> GradedAnswer:
    """Return whether exactly the statements that hold were named; `truths` were worked out, A first.

    A wrong answer is told the first statement that was misjudged, and what is true of it.
    """
    for place, (holds, reason) in enumerate(zip(truths, why, strict=True)):
        letter = chr(ord("A") + place)
        if holds is not (letter in given):
            said = "holds" if holds else "does not hold"
            return GradedAnswer(False, f"{letter} {said}: {reason}")
    beyond = sorted(given - {chr(ord("A") + place) for place in range(len(truths))})
    if beyond:
        return GradedAnswer(False, f"There is no statement {beyond[0]}.")
    return GradedAnswer(True, "Right, every one of them.")


def total_epsilon(amounts: Iterable[Fraction]) -> Fraction:
    """Return the epsilon of releases one after the other, about the same people.

    >>> total_epsilon([Fraction(1, 2), Fraction(1, 4)])
    Fraction(3, 4)
    """
    return tally(Composed(tuple(Pure(amount) for amount in amounts))).epsilon


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
            f"discreet.lab.course.lessons.{self.folder.name}"
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


LONGEST = 2_000
_LONGEST_SUM = 200
_NAMES = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "ln": math.log,
    "log": math.log,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "tanh": math.tanh,
    "abs": abs,
}
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


def number_of(text: str) -> float:
    """Return the value of a number or of a little arithmetic; floats only, so that nothing grows.

    >>> round(number_of("ln(3) / 2"), 4), number_of("1,024"), number_of("3/4"), number_of("25 %")
    (0.5493, 1024.0, 0.75, 0.25)
    """
    written = text.strip().replace("^", "**").replace("\u2212", "-")
    if not written or len(written) > _LONGEST_SUM:
        raise InvalidInput("Write a number, such as 0.75, 3/4 or ln(3).")
    part = written.endswith("%")
    written = re.sub(r"(?<=\d),(?=\d{3}(\D|$))", "", written.removesuffix("%").strip())
    try:
        value = _value(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(
            "This is not a number that can be worked out.",
            hint="Numbers with a decimal point, + - * / ^, ln, exp and sqrt will do.",
        )
    return value / 100 if part else value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            return _BINARY[type(sign)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(inner))
    raise ValueError("not arithmetic")


def numbers_of(text: str) -> list[float]:
    """Return several numbers, set apart by commas, semicolons or spaces.

    A comma before three digits belongs to its number, except behind a decimal point.

    >>> numbers_of("2004.2, 1,006 ; 998.2"), numbers_of("2004.2,1006.0,998.2"), numbers_of("100,40,50")
    ([2004.2, 1006.0, 998.2], [2004.2, 1006.0, 998.2], [100.0, 40.0, 50.0])
    """
    apart = re.sub(r"(\.\d+),", r"\1 ", text.strip())
    parts = [part for part in re.split(r"[;\s]+|,(?!\d{3}(?!\d))", apart) if part.strip(",")]
    if not 0 < len(parts) <= 20:
        raise InvalidInput("Write the numbers one after the other, with spaces between them.")
    return [number_of(part.strip(",")) for part in parts]


def letters_of(text: str) -> frozenset[str]:
    """Return the letters that were named; `none` names none of them.

    >>> sorted(letters_of("a, C")), sorted(letters_of("none"))
    (['A', 'C'], [])
    """
    if text.strip().lower() == "none":
        return frozenset()
    found = frozenset(text.upper()) - frozenset(" ,;.\n\t")
    if not found or any(not "A" <= letter <= "Z" for letter in found):
        raise InvalidInput("Write letters, such as A C; or none.")
    return found


def sql_of(text: str) -> str:
    """Return the text of a statement."""
    if not text.strip():
        raise InvalidInput("Write a SELECT.")
    return text.strip()


READERS: dict[AnswerKind, Callable[[str], Any]] = {
    AnswerKind.NUMBER: number_of,
    AnswerKind.NUMBERS: numbers_of,
    AnswerKind.LETTERS: letters_of,
    AnswerKind.SQL: sql_of,
}


def grade(lesson: str, question: str, answer: str | float) -> GradedAnswer:
    """Return whether an answer to a lesson's question is right, and why.

    Guarantee: no data set and no ledger but those of a made-up town of the course's own are touched
        (`course.practice_town`); a statement is planned by the product and never reaches an engine as written.

    >>> grade("randomized_response", "epsilon", "ln(3)").right
    True
    """
    asked = lesson_named(lesson).question(question)
    written = str(answer)
    if len(written) > LONGEST:
        raise InvalidInput(f"An answer has at most {LONGEST:,} characters.")
    try:
        return asked.check(READERS[asked.kind](written))
    except TooManyRequests:
        raise
    except DiscreetError as error:  # a refusal of the product is part of the lesson
        return GradedAnswer(False, str(error))


_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((/[^)]*)\)")


def notebook_text(lesson: Lesson) -> str:
    """Return the file of a lesson's notebook; the same lesson gives the same bytes."""
    cells = [
        _cell(f"{lesson.name}-{place}", kind, source)
        for place, (kind, source) in enumerate(_parts(lesson))
    ]
    made = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _parts(lesson: Lesson) -> Iterator[tuple[str, str]]:
    yield "markdown", f"# {lesson.number}. {lesson.title}\n\n*{lesson.summary}*"
    text = LIVE.sub(
        f"*(In the browser there is something to move here: open `/course/{lesson.name}` of `discreet demo`.)*",
        lesson.text,
    )
    for place, part in enumerate(_PYTHON.split(text)):
        if part.strip():
            code = place % 2 == 1
            yield "code" if code else "markdown", part if code else _LINK.sub(r"](#)", part)
    yield (
        "markdown",
        "## Exercise\n\nWrite your answer between the quotes; it is worked out, not compared.",
    )
    for question in lesson.questions:
        hint = f"\n\n*{question.hint}*" if question.hint else ""
        yield "markdown", f"**{question.name}.** {question.text}{hint}"
        asked = f'print(grade("{lesson.name}", "{question.name}", answer).words)'
        yield "code", f'from discreet.lab.course import grade\n\nanswer = "?"\n{asked}'


def _cell(name: str, kind: str, source: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "cell_type": kind,
        "id": hashlib.sha256(name.encode()).hexdigest()[:8],
        "metadata": {},
        "source": source.strip("\n").splitlines(keepends=True),
    }
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    return made
