"""The course: one folder a lesson, each a text, a thing to move and an exercise graded by computation.

The command, the Course page and the notebooks show it.

Imported by: cli, server, tasks.
"""

from discreet.base.packages import make_callable
from discreet.lab.course.lesson import (
    GradedAnswer,
    Lesson,
    LessonQuestion,
    all_lessons,
    grade,
    lesson_named,
)

__all__ = ["GradedAnswer", "Lesson", "LessonQuestion", "all_lessons", "grade", "lesson_named"]

make_callable(__name__)
