"""`discreet attack`: options made from knobs, JSON by contract, a report, one line for mistakes."""

import json

import pytest

from discreet.cli.app import run
from discreet.lab.attacks.attacks import MODULES

SMALL = ["--people", "2000", "--places", "5", "--pairs", "3"]


def test_alone_it_lists_the_attacks(capsys):
    assert run(["attack"]) == 0
    said = capsys.readouterr().out
    for name in MODULES:
        assert f"\n{name} " in f"\n{said}"


@pytest.mark.parametrize("name", MODULES)
def test_every_attack_has_help_with_an_example(name, capsys):
    assert run(["attack", name, "--help"]) == 0
    said = capsys.readouterr().out
    assert f"discreet attack {name}" in said
    assert "--json" in said


def test_json_and_a_report(tmp_path, capsys):
    report = tmp_path / "story.html"
    arguments = ["attack", "differencing", *SMALL, "--json", "--report", str(report)]
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["attack"] == "differencing"
    assert found["success"] == 1.0
    assert found["low"] <= found["success"] <= found["high"]
    assert found["private"]["success"] < 0.9
    assert found["settings"]["people"] == 2000
    assert "What was released" in report.read_text()


def test_without_json_it_is_a_story(capsys):
    assert run(["attack", "differencing", *SMALL]) == 0
    assert "guessing would give 50" in capsys.readouterr().out


def test_mistakes_are_told_before_anything_runs(tmp_path, capsys):
    assert run(["attack", "nothing"]) == 2
    assert run(["attack", "differencing", "--people", "5"]) == 2
    assert run(["attack", "differencing", "--report", str(tmp_path / "story.pdf")]) == 1
    assert ".html or .json" in capsys.readouterr().err
