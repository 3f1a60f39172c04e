"""The commands as functions of the package: each is on its menu or on the curator, and does what the command does."""

import random
import re
from pathlib import Path

import pytest

import discreet
from discreet.cli.app import COMMANDS
from discreet.curator import Curator
from discreet.errors import InvalidInput, UnknownName

ROOT = Path(__file__).resolve().parents[3]
ON_THE_CURATOR = {
    "query": "query",
    "bounds": "bounds",
    "budget": "budget_report",
    "refresh": "refresh",
}
OTHERWISE_NAMED = {"synth": "synthesize"}
SHELL_ONLY = {"serve", "demo", "token", "completion", "ledger"}


def test_every_command_has_a_function_or_a_reason():
    named = {OTHERWISE_NAMED.get(name, name) for name in COMMANDS}
    assert named - set(discreet.__all__) == ON_THE_CURATOR.keys() | SHELL_ONLY
    assert all(hasattr(Curator, name) for name in ON_THE_CURATOR.values())
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = re.search(r"Only in a shell: (.*?)\n\n", text, re.DOTALL)[1]
    assert set(re.findall(r"`(\w+)`", told)) == SHELL_ONLY


SPEC = """
[release]
name = "by-letter"
dataset = "p"
epsilon = 1

[tables.letters]
sql = "SELECT a, COUNT(*) AS n FROM p GROUP BY a"
"""
SCHEDULE = """
name = "weekly"
[[questions]]
name = "rows"
every = "once"
sql = "SELECT COUNT(*) AS n FROM p"
epsilon = "0.5"
out = "rows.csv"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("menu")
    dice = random.Random(3)
    rows = "".join(f"{dice.choice('xyz')},{dice.randint(0, 90)}\n" for _ in range(400))
    (folder / "p.csv").write_text("a,b\n" + rows)
    (folder / "SPEC.toml").write_text(SPEC)
    (folder / "SCHEDULE.toml").write_text(SCHEDULE)
    discreet.init(folder / "p.csv", out=folder / "discreet.toml", epsilon="100", unit="row")
    return folder


def test_review_then_publish_and_verify(place):
    config = place / "discreet.toml"
    assert discreet.review(config)["tables"]["p.p"]["waiting"] == ["a", "b"]
    assert discreet.review(config, accept=["a"], accept_safe=True)["todo"] == []
    out = place / "RELEASE.zip"
    assert discreet.publish(place / "SPEC.toml", out=out, config=config).tables == {"letters": 3}
    checked = discreet.verify(out)
    assert checked["valid"]
    assert repr(checked).startswith("by-letter    valid")
    damaged = place / "damaged.zip"
    damaged.write_bytes(out.read_bytes()[:-200])
    assert repr(discreet.verify(damaged)).splitlines()[0].endswith("NOT VALID")
    with pytest.raises(InvalidInput, match="key"):
        discreet.verify(out, key="abc")


def test_sheet_storage_and_a_schedule(place):
    config = place / "discreet.toml"
    discreet.review(config, accept=["a", "b"])
    found = discreet.sheet(config)
    assert "impact sheet" in repr(found)
    assert found.write(place / "sheet.html").is_file()
    storage = discreet.storage(config)
    assert {each["what"] for each in storage.to_json()["places"]} >= {"ledger", "source"}
    assert "ledger" in repr(storage)
    schedule = place / "SCHEDULE.toml"
    assert [line.outcome for line in discreet.run(schedule, config=config)] == ["done"]
    (again,) = discreet.run(schedule, config=config)
    assert repr(again).startswith("rows         once before")


def test_learn_on_a_file_and_on_a_declared_table(place, tmp_path):
    asked = {"target": "a", "epsilon": "2", "model": "bayes"}
    found = discreet.learn("p", config=place / "discreet.toml", **asked)
    assert found.model.kind == "bayes"
    assert discreet.learn.PrivateClassifier.__name__ == "PrivateClassifier"
    bare = tmp_path / "bare.csv"
    bare.write_bytes((place / "p.csv").read_bytes())
    with pytest.raises(InvalidInput, match="features"):
        discreet.learn(bare, features=["a"], **asked)
    with pytest.raises(UnknownName, match="nothing"):
        discreet.learn(bare, target="nothing", epsilon="2", delta="1e-6")
    assert not (tmp_path / "discreet.toml").exists(), "a refusal leaves no declaration"
    trained = discreet.learn(bare, accept=True, **asked)
    assert float(trained.limit.epsilon) == 2
    with discreet.open(tmp_path) as curator:
        assert curator.budget_report()["datasets"]["bare"]["epsilon"]["left"] == 0


def test_the_course_and_its_lessons():
    lessons = discreet.course()
    assert [each.number for each in lessons] == list(range(1, len(lessons) + 1))
    one = discreet.course(lessons[0].name)
    assert discreet.course(1) == one
    assert len(repr(lessons[0])) < 700
    assert discreet.course.grade is not None
    with pytest.raises(UnknownName):
        discreet.course("nowhere")


def test_a_survey_is_there_without_an_import():
    assert discreet.survey.rehearse_survey.__module__ == "discreet.survey.command"
