"""The lessons as a whole: every topic is taught, and each lesson has all its parts."""

import json
import re

import pytest

from discreet.errors import InternalError, UnknownName
from discreet.lab.course.facts import facts_of
from discreet.lab.course.lesson import (
    LIVE,
    all_lessons,
    lesson_named,
    notebook_text,
    read_lesson,
    syllabus,
)

LESSONS = all_lessons()
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)


def untaught(lessons):
    rows = {int(number) for number in syllabus()["rows"]} - {
        row for each in lessons for row in each.rows
    }
    topics = set(syllabus()["subjects"]) - {topic for each in lessons for topic in each.topics}
    return rows | topics


def test_every_row_and_every_subject_has_a_lesson():
    assert sorted(map(int, syllabus()["rows"])) == list(range(1, 26))
    assert untaught(LESSONS) == set()


def test_a_missing_lesson_would_be_noticed():
    assert all(
        untaught([each for each in LESSONS if each is not left_out])
        for left_out in LESSONS
        if left_out.name in {"local", "refusing", "consent"}
    )


def test_lessons_are_in_order():
    assert [lesson.number for lesson in LESSONS] == list(range(1, len(LESSONS) + 1))
    assert len(LESSONS) >= 14
    assert len({lesson.name for lesson in LESSONS}) == len(LESSONS)


@each_lesson
def test_a_lesson_has_all_its_parts(lesson):
    assert lesson.name == lesson.folder.name
    assert 10 <= lesson.minutes <= 20
    assert 350 <= len(lesson.text.split()) <= 1200
    assert lesson.questions
    assert LIVE.search(lesson.text), "there is something to move"
    assert "```python" in lesson.text, "there is something to run"
    assert "What to take away" in lesson.text or lesson.name == "mistakes"


@each_lesson
def test_everything_to_move_is_there(lesson):
    for match in LIVE.finditer(lesson.text):
        name = match["name"] or ""
        page = lesson.folder / f"live{'_' + name if name else ''}.html"
        script = lesson.folder / "live.js"
        place = f'new Stage("{name}"'
        assert (
            name in facts_of(lesson)["sweeps"]
            or page.is_file()
            or place in script.read_text(encoding="utf-8")
        ), name


@each_lesson
def test_figures_lie_between_0_and_1_and_say_what_they_are(lesson):
    for sweep in facts_of(lesson)["sweeps"].values():
        assert len(sweep["steps"]) >= 4
        assert 0 <= sweep["start"] < len(sweep["steps"])
        assert sweep["measure"]
        for bar in (bar for step in sweep["steps"] for bar in step["bars"]):
            values = [bar[key] for key in ("value", "low", "high", "baseline")]
            assert all(-1e-9 <= value <= 1.0001 for value in values if value is not None)


@each_lesson
def test_the_notebook_is_that_of_the_lesson(lesson):
    assert lesson.notebook.read_text(encoding="utf-8") == notebook_text(lesson), "make course"


@each_lesson
def test_scripts_and_markup_obey_the_policy(lesson):
    for path in (*lesson.folder.glob("*.js"), *lesson.folder.glob("*.html")):
        text = path.read_text(encoding="utf-8")
        assert (
            re.findall(
                r"https?://|innerHTML|outerHTML|insertAdjacentHTML|eval\(|<script|\sstyle=|\son[a-z]+=",
                text,
            )
            == []
        )
        assert len(text.splitlines()) <= 250


@each_lesson
def test_facts_that_depend_on_no_chance_are_worked_out_anew(lesson):
    if lesson.name not in {"consent", "mistakes", "noise"}:
        pytest.skip(
            "these figures come from dice or take long; scripts/course.py --facts writes them"
        )
    from importlib import import_module

    made = import_module(f"discreet.lab.course.lessons.{lesson.name}").facts()
    assert json.loads(made) == facts_of(lesson)


def test_a_lesson_by_name_and_number():
    assert lesson_named("1") is lesson_named("linkage")
    with pytest.raises(UnknownName):
        lesson_named("nowhere")
    with pytest.raises(UnknownName):
        lesson_named("linkage").question("nothing")


def test_a_lesson_without_front_matter_is_our_mistake(tmp_path):
    path = tmp_path / "lesson.md"
    path.write_text("No front matter.")
    with pytest.raises(InternalError):
        read_lesson(path)
