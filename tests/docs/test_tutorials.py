"""Tutorials are tests: each runs from its first block to its last, in an empty folder of its own."""

import configparser
import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT, fences
from playing import Stage

from discreet.catalog.read.policy_file import load

TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
# What its subject needs, and a machine without it has not.
NEEDS = {
    "clients": ("pandas", "psycopg", "sqlalchemy", "fastapi"),
    "anonymize": ("scipy",),
    "survey": ("cryptography", "fastapi"),
}


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_tutorial_runs(path, tmp_path, monkeypatch, capsys):
    for name in NEEDS.get(path.stem, ()):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    with Stage(capsys) as stage:
        stage.play(path)
    shown = sum(fence.language == "text" for fence in fences(path))
    assert stage.done + len(stage.skipped) + shown == len(fences(path))
    assert len(stage.skipped) <= (1 if path.stem == "deploy" else 0), stage.skipped


def test_what_deploys_is_what_was_tried(tmp_path, monkeypatch, capsys):
    """The catalog can be read, the unit's options exist, and the container file is the repository's own."""
    from discreet.cli.commands.serve import serve

    monkeypatch.chdir(tmp_path)
    with Stage(capsys) as stage:
        stage.play(ROOT / "docs" / "tutorials" / "deploy.md")
    assert load(tmp_path / "discreet.toml").engine_url.startswith("postgresql://")
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str
    unit.read(tmp_path / "discreet.service")
    words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(words[0]).name == "discreet"
    assert words[1] == "serve"
    known = {name.replace("_", "-") for name in serve.__annotations__}
    options = {word.removeprefix("--") for word in words if word.startswith("--")}
    assert options <= known
    assert {"tls-certificate", "tls-key"} <= options
    without_comments = re.sub(
        r"^#.*\n", "", (ROOT / "Containerfile").read_text(), flags=re.MULTILINE
    )
    assert (tmp_path / "Containerfile").read_text() == without_comments


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ndiscreet budget --config nowhere.toml\n```\n",
        "```sh\nrm -rf x\n```\n",
        "```sh\ndiscreet serve --no-such-option\n```\n",
        "```python\nassert False\n```\n",
        "```toml\na = 1\n```\n",
        "```ruby\nputs 1\n```\n",
    ],
)
def test_a_tutorial_that_does_not_work_is_noticed(text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.md").write_text(text)
    with Stage(capsys) as stage, pytest.raises(AssertionError):
        stage.play(tmp_path / "broken.md")


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
