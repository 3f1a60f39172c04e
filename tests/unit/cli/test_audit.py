"""`discreet audit`: words, JSON, and the exit status that a test suite can use."""

import json

import pytest

from discreet.cli.app import run

FILE = """
from discreet.privacy.noise import discrete_laplace
EPSILON = 1
NEIGHBOURS = (0, 1)

def good(x, size):
    return x + discrete_laplace(1, size)

def bad(x, size):
    return x + discrete_laplace("1/3", size)
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "my.py"
    path.write_text(FILE)
    return path


def test_a_refuted_claim_is_exit_status_1(file, capsys):
    assert run(["audit", f"{file}:bad", "--samples", "20000"]) == 1
    assert "REFUTED" in capsys.readouterr().out


def test_a_sound_one_is_0_and_json_has_the_event(file, capsys):
    # Wrong once in a million million runs.
    more = ["--samples", "20000", "--confidence", "0.999999999999", "--json"]
    assert run(["audit", f"{file}:good", *more]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["refuted"] is False
    assert 0.5 < found["bound"] <= 1
    assert found["pair"] == ["0", "1"]
    assert "guess" in found["event"]


def test_mistakes_are_one_line(file, capsys):
    assert run(["audit", f"{file}:none"]) == 1
    assert run(["audit", f"{file}:good", "--one-run"]) == 1
    assert capsys.readouterr().err.count("\n") <= 4
