"""`discreet.course()`: the lessons on privacy, or one of them."""

from __future__ import annotations

from typing import overload

from discreet.lab.course.lesson import Lesson, all_lessons, lesson_named


@overload
def course(lesson: None = None) -> tuple[Lesson, ...]: ...
@overload
def course(lesson: str | int) -> Lesson: ...
def course(lesson: str | int | None = None) -> Lesson | tuple[Lesson, ...]:
    """Return all lessons of the course, or the one of this name or number.

    `discreet.course.grade(LESSON, QUESTION, ANSWER)` says whether an answer is right, and why.

    >>> course("promise").number == course()[course("promise").number - 1].number
    True
    """
    return all_lessons() if lesson is None else lesson_named(str(lesson))
