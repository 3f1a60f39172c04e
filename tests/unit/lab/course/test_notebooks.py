"""Every notebook runs: its code cells one after the other, in this process."""

import json

import pytest

from discreet.lab.course import all_lessons


@pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.name)
def test_every_cell_runs(lesson, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    all_cells = json.loads(lesson.notebook.read_text(encoding="utf-8"))["cells"]
    cells = ["".join(cell["source"]) for cell in all_cells if cell["cell_type"] == "code"]
    names = {"__name__": "notebook"}
    for place, cell in enumerate(cells):
        exec(compile(cell, f"{lesson.name}[{place}]", "exec"), names)
        assert capsys.readouterr().out.strip(), "a cell shows something"
    assert len(cells) > len(lesson.questions)
