"""`discreet survey`: new, rehearse, estimate and close, as a user would."""

import json

import pytest

from discreet.cli.app import run
from discreet.survey import Device, SurveyStore

TOML = """
title = "Smoking at our school"
epsilon = 8.0
donations_per_day = 1
[questions.smokes]
kind = "yes-no"
text = "Do you smoke?"
[questions.grade]
kind = "choice"
options = ["9", "10", "11", "12"]
[questions.hours]
kind = "number"
lower = 0
upper = 12
[questions.emoji]
kind = "open"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "school.toml").write_text(TOML, encoding="utf-8")
    rows = ["smokes;grade;hours;emoji", ";;;"]
    rows += ["yes;9;2;\U0001f600", "No;11;4.5;\U0001f389", "no;;;", "no;12;12;\U0001f600"] * 250
    (tmp_path / "answers.csv").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def printed(capsys, *words):
    assert run(["survey", *words, "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def refused(capsys, *words):
    assert run(["survey", *words, "--json"]) == 1
    return json.loads(capsys.readouterr().err)["error"]


def test_a_rehearsal_prints_the_contract(folder, capsys):
    found = printed(capsys, "rehearse", "school.toml", "--answers", "answers.csv")
    assert found["reports"] == 1000  # the empty row sent nothing
    assert found["epsilon"] == 8.0
    smokes = found["questions"]["smokes"]
    assert smokes["mechanism"] == "warner"
    assert set(smokes["estimates"]) == {"yes", "no"}
    assert set(smokes["estimates"]["yes"]) == {"value", "low", "high"}
    # Eight standard errors of the worst estimate, over the 1,000 and 750 who answered.
    assert abs(smokes["estimates"]["yes"]["value"] - 0.25) < 8 * 0.021
    assert set(found["questions"]["hours"]["mean"]) == {"value", "low", "high"}
    assert abs(found["questions"]["hours"]["mean"]["value"] - 18.5 / 3) < 8 * 0.3
    assert set(found["questions"]["emoji"]["estimates"]) == {"\U0001f600", "\U0001f389"}
    assert found["questions"]["grade"]["answers"] == 750
    assert "folder" not in found
    assert not (folder / "surveys").exists()
    assert not (folder / "discreet.toml").exists()


def test_a_rehearsal_in_words_and_with_extras(folder, capsys):
    words = ["rehearse", "school.toml", "--answers", "answers.csv", "--cross", "smokes,grade"]
    assert run(["survey", *words, "--consistent"]) == 0
    shown = capsys.readouterr().out
    assert "Smoking at our school: 1,000 simulated reports" in shown
    assert shown.count("One liar moves it by at most") == 4
    found = printed(capsys, *words, "--consistent", "--confidence", "0.5")
    shares = found["questions"]["grade"]["estimates"].values()
    assert sum(each["value"] for each in shares) == pytest.approx(1)
    assert set(found["cross"]["estimates"]["yes"]) == {"9", "10", "11", "12"}


def test_a_survey_from_beginning_to_end(folder, capsys):
    begun = printed(capsys, "new", "school.toml", "--within", "0.1")
    assert begun["questions"]["smokes"]["respondents_needed"] > 1
    store = SurveyStore.open("school", folder)
    assert store.plan.id.hex() == begun["id"]
    answers = {"smokes": "yes", "grade": "9", "hours": "3", "emoji": "x"}
    store.take_cbor([Device().donate(store.plan, answers).to_cbor() for _ in range(50)])
    (folder / "words.csv").write_text("x\ny\n", encoding="utf-8")
    found = printed(capsys, "estimate", "school", "--candidates", "emoji=words.csv")
    assert found["reports"] == 50
    assert set(found["questions"]["emoji"]["estimates"]) == {"x", "y"}
    assert run(["survey", "estimate", "school"]) == 0
    assert "--candidates emoji=FILE" in capsys.readouterr().out
    closed = printed(capsys, "close", "school")
    assert closed["closed"] is True
    counted = (
        "estimate",
        "school",
        "--candidates",
        "emoji=words.csv",
        "--columns",
        closed["columns"],
    )
    assert printed(capsys, *counted) == {**found, "closed": True}
    assert "school.toml" in refused(capsys, *counted[:-1], "school.toml")["message"]
    assert run(["survey", "close", "school"]) == 0
    assert run(["survey", "new", "school.toml"]) == 1


@pytest.mark.parametrize(
    ("change", "line"),
    [("yes;9;2;a", "maybe;9;2;a"), ("yes;9;2;a", "yes;13;2;a"), ("yes;9;2;a", "yes;9;99;a"), ("yes;9;2;a", "yes;9;inf;a")],
)  # fmt: skip
def test_answers_that_no_device_would_take(folder, capsys, change, line):
    text = f"smokes;grade;hours;emoji\nyes;9;2;a\n{line}\n"
    (folder / "bad.csv").write_text(text, encoding="utf-8")
    said = refused(capsys, "rehearse", "school.toml", "--answers", "bad.csv")
    assert said["message"].startswith("Line 3: ")
    assert "maybe" not in json.dumps(said)


@pytest.mark.parametrize(
    "words",
    [
        ["rehearse", "none.toml", "--answers", "answers.csv"],
        ["rehearse", "school.toml", "--answers", "none.csv"],
        ["rehearse", "school.toml", "--answers", "empty.csv"],
        ["rehearse", "school.toml", "--answers", "school.toml"],
        ["rehearse", "school.toml", "--answers", "binary.csv"],
        ["rehearse", "school.toml", "--answers", "answers.csv", "--cross", "smokes"],
        ["rehearse", "school.toml", "--answers", "answers.csv", "--cross", "smokes,hours"],
        ["rehearse", "school.toml", "--answers", "answers.csv", "--cross", "smokes,nothing"],
        ["rehearse", "school.toml", "--answers", "answers.csv", "--candidates", "emoji"],
        ["rehearse", "school.toml", "--answers", "answers.csv", "--candidates", "emoji=empty.csv"],
        ["rehearse", "school.toml", "--answers", "answers.csv", "--confidence", "1"],
        ["estimate", "school"],
        ["close", "school"],
        ["new", "school.toml", "--within", "0"],
    ],
)
def test_mistakes_cost_nothing_and_get_one_sentence(folder, capsys, words):
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "binary.csv").write_bytes(b"\xff\x00\xfe")
    assert refused(capsys, *words)["message"].count("\n") == 0
    assert not (folder / "surveys").exists()
