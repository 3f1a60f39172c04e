"""What others wrote reaches the owner's terminal as text, and as nothing else."""

import ast
import json
from pathlib import Path

import pytest

import asking
import discreet.cli
import discreet.curator
from discreet.cli import terminal
from discreet.cli.app import run
from discreet.cli.terminal import say

EVIL = "n\x1b]0;owned\x07\x1b[2J\x9b31m\u202etxt"
OWN_WORDS = {"serve.py", "terminal.py"}
"""Commands that print nothing that others wrote."""


def steers(text):
    return any(not letter.isprintable() and letter != "\n" for letter in text)


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(discreet.curator, "open", lambda _config=None: asking.curator(tmp_path))

    def ran(*arguments):
        status = run(list(arguments))
        said = capsys.readouterr()
        return status, said.out + said.err

    return ran


def ask_evil(command, *more):
    return command("query", f'SELECT COUNT(*) AS "{EVIL}" FROM people', "--epsilon", "1", *more)


def test_an_alias_in_an_answer_an_explanation_and_the_history(command):
    for more in ((), ("--explain",)):
        status, out = ask_evil(command, *more)
        assert status == 0
        assert not steers(out)
        assert "\\x1b[2J" in out
    status, out = command("budget")
    assert status == 0
    assert not steers(out)
    assert "\\x1b[2J\\x9b31m\\u202etxt" in out


def test_the_twin_that_prints_as_it_comes_is_caught(command, monkeypatch):
    ask_evil(command)
    monkeypatch.setattr(terminal, "visible", lambda text, **_: text)
    monkeypatch.setattr("discreet.privacy.ledger.reports.visible", lambda text: text)
    assert steers(command("budget")[1])


def test_an_alias_cannot_forge_a_line_of_history(command):
    forged = "2026-01-01 00:00:00  owner paid epsilon 0"
    command("query", f'SELECT COUNT(*) AS "n\n{forged}" FROM people', "--epsilon", "1")
    _, out = command("budget")
    assert not any(line.strip().startswith(forged) for line in out.splitlines())


def test_errors_are_one_clean_line(command):
    status, out = command("query", f'SELECT "{EVIL}\nforged" FROM people', "--epsilon", "1")
    assert status == 1
    assert len(out.splitlines()) == 1
    assert not steers(out)


def test_json_stays_json(command):
    found = json.loads(ask_evil(command, "--json")[1])
    assert found["columns"] == [EVIL]


def test_labels_of_tokens(tmp_path, capsys):
    config = ["--config", str(tmp_path / "discreet.toml")]
    assert run(["token", "new", "--role", "owner", "--label", f"{EVIL}\nforged", *config]) == 0
    capsys.readouterr()
    assert run(["token", "list", *config]) == 0
    out = capsys.readouterr().out
    assert not steers(out)
    assert len(out.splitlines()) == 1
    assert "\\nforged" in out


def test_say_keeps_line_breaks_only(capsys):
    say("a\nb\tc\r")
    assert capsys.readouterr().out == "a\nb\\tc\\r\n"


def test_every_command_prints_through_one_function():
    for path in Path(discreet.cli.__file__).parent.glob("*.py"):
        if path.name in OWN_WORDS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in {"print", "typer.echo", "sys.stdout.write"}, f"{path.name}"
