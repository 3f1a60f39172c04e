"""`discreet anonymize`, in this process, over a real file, the real engine and a real ledger."""

import json

import pytest

from discreet.cli.app import run


def people(rows=40):
    lines = ["age;sex;ill"]
    lines += [
        f"{20 + i % 6};{'F' if i % 2 else 'M'};{'flu' if i % 3 else 'cold'}" for i in range(rows)
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command and gives status, output and error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(people(), encoding="utf-8")

    def ran(*arguments):
        status = run(list(arguments))
        said = capsys.readouterr()
        return status, said.out, said.err

    return ran


def test_a_copy_is_made_marked_and_named_in_every_later_release(command, tmp_path):
    status, out, _ = command(
        *("anonymize", "people.csv", "--k", "4", "--quasi", "age,sex", "--keep", "ill"),
        *("--suppress", "0.1", "--json"),
    )
    assert status == 0
    said = json.loads(out)
    assert said["k"] == 4
    assert (said["kept"], said["redacted"]) == (["ill"], [])
    assert said["out"] == "people-anonymized.csv"
    assert (tmp_path / "people-anonymized.csv").read_text().splitlines()[0] == '"age";"sex";"ill"'
    status, out, _ = command("budget")
    assert "no budget yet" in out
    assert "people.ill" in out
    assert json.loads(command("budget", "--json")[1])["without_budget"] == {
        "people": ["people.age", "people.sex", "people.ill"]
    }
    status, out, _ = command(
        "synth", "people.csv", "--epsilon", "1", "--method", "random", "--rows", "5", "--json"
    )
    assert status == 0
    assert any("Outside the budget" in notice for notice in json.loads(out)["notices"])
    status, out, _ = command("budget")
    assert "exposed: people.age, people.sex, people.ill" in out


def test_what_is_not_named_is_left_out_and_the_answer_says_so(command, tmp_path):
    asked = ("anonymize", "people.csv", "--k", "4", "--quasi", "age", "--redact", "ill")
    status, out, _ = command(*asked)
    assert status == 0
    assert "columns left out: sex (not named); ill (redacted)" in out
    assert (tmp_path / "people-anonymized.csv").read_text().splitlines()[0] == '"age"'


@pytest.mark.parametrize("role", ["--keep", "--sensitive", "--quasi"])
def test_what_discreet_toml_hides_is_refused_in_every_role(command, tmp_path, role):
    (tmp_path / "discreet.toml").write_text(
        '[datasets.p.tables.p]\nsource = "people.csv"\n'
        '[datasets.p.tables.p.columns]\nILL = { type = "text", hidden = true }\n'
    )
    asked = ("anonymize", "people.csv", "--k", "4", "--quasi", "age")
    status, out, err = command(*asked, role, "ill" if role != "--quasi" else "age,ill")
    assert (status, out) == (1, "")
    assert "'ill' is hidden in discreet.toml, so no copy of 'people.csv' shows it" in err
    assert not (tmp_path / "people-anonymized.csv").exists()
    status, out, _ = command(*asked, "--keep", "sex")
    assert status == 0
    assert "ill (hidden in discreet.toml)" in out


def test_the_copy_can_be_checked(command):
    status, out, _ = command(
        "anonymize", "people.csv", "--check", "--quasi", "age,sex", "--sensitive", "ill", "--json"
    )
    assert status == 0
    said = json.loads(out)
    assert said["k"] == 6
    assert said["sensitive"]["ill"]["l"] == 1
    assert "not a guarantee" in said["says"]
    status, out, _ = command("anonymize", "people.csv", "--check", "--quasi", "age,sex")
    assert "k = 6" in out
    assert "The estimates disagree" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["people.csv", "--k", "5"], "--quasi"),
        (["people.csv", "--quasi", "age"], "--k"),
        (["nobody.csv", "--k", "5", "--quasi", "age"], "no file"),
        (["people.csv", "--k", "5", "--quasi", "height"], "no column 'height'"),
        (["people.csv", "--check", "--quasi", "height"], "no column 'height'"),
    ],
)
def test_mistakes_are_one_line(command, arguments, said, tmp_path):
    status, out, err = command("anonymize", *arguments)
    assert status == 1
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "discreet.toml").exists()


def test_help_has_examples(command):
    status, out, _ = command("anonymize", "--help")
    assert status == 0
    assert "Example:" in out
