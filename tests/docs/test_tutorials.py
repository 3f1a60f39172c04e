"""Tutorials are tests: each runs from its first block to its last, in an empty folder of its own."""

import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT, fences

from discreet.cli.app import run

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
FILES = {"csv", "toml"}
SHOWN_ONLY = {"console", "text"}
# What its subject needs, and a machine without it has not.
NEEDS = {"clients": "pandas", "anonymize": "scipy"}


def played(path, capsys):
    """Run the blocks of a tutorial; return how many of them did something."""
    names, done = {"__name__": "tutorial"}, 0
    for fence in fences(path):
        language, _, file = fence.language.partition(" ")
        if language in SHOWN_ONLY or "# skip:" in fence.text:
            continue
        done += 1
        if language == "python":
            exec(compile(fence.text, str(fence), "exec"), names)
        elif language in FILES:
            assert file, f"{fence}: a block of {language} says which file it is"
            Path(file).write_text(fence.text + "\n", encoding="utf-8")
        else:
            assert language == "sh", f"{fence}: {language}"
            for line in fence.text.splitlines():
                words = shlex.split(line, comments=True)
                assert words[0] == "discreet"
                assert run(words[1:]) == 0, f"{line}\n{capsys.readouterr().err}"
    return done


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_tutorial_runs(path, tmp_path, monkeypatch, capsys):
    if path.stem in NEEDS:
        pytest.importorskip(NEEDS[path.stem])
    monkeypatch.chdir(tmp_path)
    assert played(path, capsys) >= (1 if path.stem in {"deploy", "clients"} else 2)


def test_a_tutorial_that_does_not_work_is_noticed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.md").write_text("```sh\ndiscreet budget --config nowhere.toml\n```\n")
    with pytest.raises(AssertionError):
        played(tmp_path / "broken.md", capsys)


def test_there_are_nine():
    assert [path.stem for path in TUTORIALS] == [
        "anonymize",
        "clients",
        "deploy",
        "first-answer",
        "learn",
        "own-csv",
        "publish",
        "survey",
        "synthetic",
    ]
