"""A lesson as a Jupyter notebook: its text and its Python, and a cell for each question."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from discreet.course.lesson import LIVE, Lesson

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
        yield "code", f'from discreet.course import grade\n\nanswer = "?"\n{asked}'


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
