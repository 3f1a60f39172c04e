"""`discreet learn`: what is wrong with a test or a place is said before anything is paid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.work.learn.model_files import read_model

TOML = """
[datasets.town]
epsilon = 100
delta = 1e-6
[datasets.town.tables.people]
source = "people.csv"
unit = "row"
[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 9 }
sex = { type = "category", values = ["F", "M"] }
job = { type = "category", values = ["a", "b"] }
"""
ROWS = "age,sex,job\n" + "".join(f"{i % 10},{'FM'[i % 2]},{'ab'[i % 2]}\n" for i in range(200))


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "discreet.toml").write_text(TOML)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "lack.csv").write_text("age,sex\n1,F\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent(capsys: pytest.CaptureFixture[str]) -> float:
    capsys.readouterr()
    assert run(["budget", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return float(found["datasets"]["town"]["epsilon"]["spent"])


@pytest.mark.parametrize("kind", ["classify", "regress"])
def test_a_test_file_without_a_column_costs_nothing(town: Path, kind: str, capsys):
    target = "sex" if kind == "classify" else "age"
    asked = ["learn", kind, "people", "--target", target, "--epsilon", "1"]
    assert run([*asked, "--test", "lack.csv", "--test-public"]) != 0
    assert "no column 'job'" in capsys.readouterr().err
    assert spent(capsys) == 0


def test_a_place_that_cannot_be_written_costs_nothing(town: Path, capsys):
    for place in ("people", "none/m.zip", "/proc/m.zip"):
        (town / "people").mkdir(exist_ok=True)
        asked = ["learn", "classify", "people.csv", "--target", "sex", "--epsilon", "1"]
        assert run([*asked, "--out", place]) != 0
        assert "mistake" not in capsys.readouterr().err
    assert spent(capsys) == 0


def test_an_odd_value_of_a_private_test_file_is_a_sentence_and_the_model_is_kept(
    town: Path, capsys
):
    # Types are learned with noise: a column of 10,000 texts is taken for numbers once in 10^20 times.
    (town / "odd").mkdir()
    (town / "odd" / "t.csv").write_text("age,sex,job\n" + "unknown,F,a\n" * 10_000)
    asked = ["learn", "classify", "people", "--target", "sex", "--epsilon", "50", "--out", "m.zip"]
    assert run([*asked, "--test", "odd/t.csv"]) != 0
    said = capsys.readouterr().err
    assert "of other kinds" in said
    assert "our own mistake" not in said
    assert "unknown" not in said
    assert read_model(town / "m.zip").facts["rows"] > 0


def test_impact_is_one_paid_model_for_each_epsilon(town: Path, capsys):
    (town / "new.csv").write_text(ROWS)
    asked = [
        "learn",
        "impact",
        "people",
        "--target",
        "job",
        "--test",
        "new.csv",
        "--model",
        "bayes",
    ]
    for beyond in ("90,20", "90,10.0000000000001"):
        assert run([*asked, "--epsilons", beyond, "--test-public"]) == 1  # more than 100
        assert "Nothing was charged" in capsys.readouterr().err
        assert spent(capsys) == 0
    assert run([*asked, "--epsilons", "2,8", "--test-public", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["epsilon"] for each in found["points"]] == [2, 8]
    assert set(found["points"][0]["subgroups"]["sex"]) == {"F", "M"}
    assert 8 < spent(capsys) <= 10.01  # zCDP adds up to less than the sum
    assert "<svg" in (town / "impact.html").read_text()
