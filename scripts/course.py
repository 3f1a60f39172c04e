"""Write what is made from the lessons: notebooks, and with --facts [LESSON...] the figures that the product works out."""

from __future__ import annotations

import sys
import time
from importlib import import_module

from discreet.lab.course.lesson import Lesson, all_lessons
from discreet.lab.course.lesson import notebook_text


def write_facts(lesson: Lesson) -> None:
    """Run a lesson's `facts`, if it has any, and keep what it found."""
    begun = time.monotonic()
    module = import_module(f"discreet.lab.course.lessons.{lesson.folder.name}")
    if not hasattr(module, "facts"):
        return
    (lesson.folder / "facts.json").write_text(module.facts(), encoding="utf-8")
    print(f"{lesson.name}: facts in {time.monotonic() - begun:.0f} s")


def main(arguments: list[str]) -> None:
    """Write all notebooks; with --facts also the figures, of the named lessons or of all."""
    wanted = set(arguments[1:])
    for lesson in all_lessons():
        if arguments[:1] == ["--facts"] and (not wanted or lesson.name in wanted):
            write_facts(lesson)
        lesson.notebook.write_text(notebook_text(lesson), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
