"""Closed pipes, terminals that know ASCII only, mistyped commands, and completion."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from discreet.cli.app import COMMANDS, run
from discreet.cli.terminal import spelled

START = [sys.executable, "-c", "from discreet.cli import main; main()"]


def test_a_closed_pipe_ends_in_silence():
    shell = f"{' '.join(map(repr, START))} explain 1 | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", shell], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_ascii_terminals_get_ascii():
    assert spelled("n ± 5 ── ε … ✓", "ascii") == "n +/- 5 -- epsilon ... ok"
    assert spelled("Zoë", "ascii") == "Zo\\xeb"
    assert spelled("Zoë ±", "latin-1") == "Zoë ±"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*START, "explain", "0.5"], capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0
    done.stdout.decode("ascii")


@pytest.mark.parametrize(("typed", "meant"), [("qury", "query"), ("reveiw", "review")])
def test_a_mistyped_command_is_guessed(typed, meant, capsys):
    assert run([typed]) == 2
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err


def test_a_shell_completes_commands_and_options(capsys, tmp_path):
    assert run(["completion", "bash"]) == 0
    script = tmp_path / "complete.sh"
    script.write_text(capsys.readouterr().out, encoding="utf-8")
    ask = (
        'source "$1"; COMP_WORDS=(discreet {}); COMP_CWORD={}; _discreet; echo "${{COMPREPLY[@]}}"'
    )

    def completed(words, at):
        command = ["bash", "-c", ask.format(words, at), "bash", str(script)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert completed("rev", 1) == ["review"]
    assert set(completed("''", 1)) == set(COMMANDS)
    assert completed("query --eps", 2) == ["--epsilon"]
    assert completed("token n", 2) == ["new"]
    assert run(["completion", "powershell"]) == 1
