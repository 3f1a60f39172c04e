"""README.md is one sequence: all of its commands, from the first to the last, in one folder."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fences import ROOT, fences
from playing import Stage

from discreet.cli.app import COMMANDS, run

README = ROOT / "README.md"
INIT = "discreet init people.csv --epsilon 2 --delta 4e-9 --unit row"
# In a bare Debian: tests/start/test_fresh_machine.py. What `make run` then does is `discreet demo`:
# tests/end_to_end/test_server_commands.py.
ELSEWHERE = (
    "git clone <this repository> discreet && cd discreet",
    "make run          # sets up what running needs, makes an example town, serves it",
)


def play(path, capsys):
    with Stage(capsys, elsewhere=ELSEWHERE) as stage:
        stage.play(path)
    return stage


def test_the_readme_runs_from_top_to_bottom_in_one_folder(tmp_path, monkeypatch, capsys):
    """Its budget is enough for all of it, to the last question in psql, and not for twice as much."""
    monkeypatch.chdir(tmp_path)
    stage = play(README, capsys)
    blocks = fences(README)
    shown = sum(fence.language == "text" for fence in blocks)
    assert shown == 1
    assert (stage.done, stage.skipped) == (len(blocks) - shown, [])
    capsys.readouterr()
    assert run(["budget", "--json"]) == 0
    (spent,) = json.loads(capsys.readouterr().out)["datasets"].values()
    assert spent["epsilon"]["limit"] / 2 < spent["epsilon"]["spent"] <= spent["epsilon"]["limit"]
    # Half of delta is kept for the conversion between currencies (docs/notes/0007).
    assert spent["delta"]["spent"] == spent["delta"]["limit"] / 2 == 2e-9


@pytest.mark.parametrize("less", ["--epsilon 1", "--epsilon 0.9 --delta 4e-9"])
def test_a_first_command_that_leaves_too_little_is_noticed(less, tmp_path, monkeypatch, capsys):
    """The broken twins: the README as it was, and one with too little epsilon for a copy."""
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    assert text.count(INIT) == 1
    written = text.replace(INIT, f"discreet init people.csv {less} --unit row")
    Path("README.md").write_text(written, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"discreet synth .*\n.*Nothing was charged"):
        play(tmp_path / "README.md", capsys)


def test_commands_in_the_prose_exist():
    """What only prose names, such as `discreet course`."""
    for line in re.findall(r"`(discreet [a-z][^`]*)`", README.read_text(encoding="utf-8")):
        assert shlex.split(line)[1] in COMMANDS, line
