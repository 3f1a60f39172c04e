"""`discreet course`: the lessons in order, the text of one, and an answer that is graded."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.command import Json
from discreet.cli.terminal import say
from discreet.errors import InvalidInput


def course(
    lesson: Annotated[
        str | None, typer.Argument(help="The name or number of a lesson; all of them unless given.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option("--answer", help="Grade this answer to a question.")
    ] = None,
    question: Annotated[
        str, typer.Option("--question", help="The question's name; the first unless given.")
    ] = "",
    notebook: Annotated[
        Path | None, typer.Option("--notebook", help="Write the lesson's notebook to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """List the lessons, print one, or grade an answer (exit status 1 when it is not right).

    Example: discreet course randomized_response --question epsilon --answer "ln(3)"
    """
    if lesson is None:
        if answer is not None or notebook is not None:
            raise InvalidInput("Name a lesson.", hint="'discreet course' lists them all.")
        _list(json=json)
    elif answer is not None:
        _grade(lesson, question, answer, json=json)
    elif notebook is not None:
        _write(lesson, notebook)
    else:
        _print(lesson, json=json)


def _list(*, json: bool) -> None:
    from discreet.lab.course.lesson import all_lessons

    lessons = all_lessons()
    if json:
        say(json_text.dumps({"lessons": [lesson.to_json() for lesson in lessons]}))
        return
    for each in lessons:
        say(f"{each.number:>2}  {each.name:<20} {each.title}")
        say(f"    {'':<20} {each.summary}")
    say("\nTry: discreet course linkage      (with things to move: discreet demo, then Course)")


def _write(name: str, path: Path) -> None:
    from discreet.lab.course.lesson import lesson_named, notebook_text

    lesson = lesson_named(name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(notebook_text(lesson))
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.") from None
    say(f"{lesson.title}: written to {path}.")


def _print(name: str, *, json: bool) -> None:
    from discreet.lab.course.lesson import lesson_named

    lesson = lesson_named(name)
    if json:
        told = [{"name": q.name, "text": q.text, "kind": q.kind.value} for q in lesson.questions]
        more = {"number": lesson.number, "text": lesson.plain_text, "questions": told}
        say(json_text.dumps(lesson.to_json() | more))
        return
    say(f"# {lesson.number}. {lesson.title}\n\n{lesson.plain_text}\n\n## Exercise\n")
    for question in lesson.questions:
        say(f"{question.name}: {question.text}")
        say(f"  discreet course {lesson.name} --question {question.name} --answer '...'\n")


def _grade(name: str, question: str, answer: str, *, json: bool) -> None:
    from discreet.lab.course.lesson import grade, lesson_named

    lesson = lesson_named(name)
    asked = lesson.question(question)
    found = grade(lesson.name, asked.name, answer)
    if json:
        about = {"lesson": lesson.name, "question": asked.name}
        say(json_text.dumps(about | found.to_json()))
    else:
        said = found.words.removeprefix("Yes: ").removeprefix("Yes. ")
        say(f"{'Right' if found.right else 'Not yet'}: {said}")
    if not found.right:
        raise typer.Exit(1)
