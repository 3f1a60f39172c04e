"""A schedule: each line once a period, whatever is stopped, repeated or changed in between."""

import datetime as dt
import json
import os
import signal
import threading
from contextlib import nullcontext
from functools import partial

import pytest

from discreet.cli.app import run
from discreet.curator import Curator
from discreet.curator import open as open_curator
from discreet.errors import InvalidInput
from discreet.tasks import schedule as scheduling
from discreet.tasks.schedule import read_schedule, run_schedule
from ledger_kit import forked
from patience import LONG

TOML = """
[datasets.town]
epsilon = 3
delta = 1e-6
renew = { every = "quarter", since = "2026-Q4", epsilon = 1, at_most = 4 }

[datasets.town.tables.people]
source = "people.csv"
unit = "row"

[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 99 }
sex = { type = "category", values = ["f", "m"] }
"""
SCHEDULE = """
name = "monthly"

[[questions]]
name = "sexes"
every = "month"
sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
epsilon = 0.5
out = "answers/sexes-{period}.csv"

[[questions]]
name = "old"
every = "once"
sql = "SELECT COUNT(*) AS n FROM people WHERE age > 60"
epsilon = 0.25
out = "old.json"
"""
RELEASE = """
[[releases]]
name = "census"
every = "quarter"
spec = "SPEC.toml"
out = "releases/census-{period}.zip"

[[renewals]]
dataset = "town"
"""
SPEC = """
[release]
name = "census-{period}"
dataset = "town"
epsilon = 0.5
[tables.sexes]
sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
"""
NOVEMBER, DECEMBER, JANUARY = dt.date(2026, 11, 15), dt.date(2026, 12, 1), dt.date(2027, 1, 9)


@pytest.fixture
def place(tmp_path):
    rows = "".join(f"{n},{'fm'[n % 2]}\n" for n in range(90))
    (tmp_path / "people.csv").write_text("age,sex\n" + rows)
    (tmp_path / "discreet.toml").write_text(TOML)
    (tmp_path / "SCHEDULE.toml").write_text(SCHEDULE)
    (tmp_path / "SPEC.toml").write_text(SPEC)
    return tmp_path


def ran(place, day=NOVEMBER):
    found = list(run_schedule(place / "SCHEDULE.toml", place / "discreet.toml", today=day))
    return [(done.line, done.period, done.outcome, done.epsilon) for done in found]


@pytest.fixture
def november(monkeypatch):
    """The command runs on one day: between two runs at midnight a month could end."""
    monkeypatch.setattr(scheduling, "run_schedule", partial(run_schedule, today=NOVEMBER))


def spent(place):
    with open_curator(place) as curator:
        facts = curator.budget_report()["datasets"]["town"]
    return round(facts["epsilon"]["spent"], 9), facts["charges"]


def test_each_line_is_paid_once_a_period(place):
    first = [("sexes", "2026-11", "done", 0.5), ("old", "once", "done", 0.25)]
    assert ran(place) == first
    answers = {path: path.read_bytes() for path in place.glob("**/*-2026-11.csv")}
    assert len(answers) == 1
    assert spent(place) == (0.75, 2)
    (place / "old.json").unlink()  # fetched again, free
    assert ran(place) == [(name, period, "before", 0.0) for name, period, *_ in first]
    assert spent(place) == (0.75, 2)
    assert json.loads((place / "old.json").read_text())["rows"]
    assert all(path.read_bytes() == data for path, data in answers.items())


def test_a_new_period_on_new_rows_is_a_new_charge_and_on_the_same_rows_free(place):
    ran(place)
    assert ran(place, DECEMBER)[0] == ("sexes", "2026-12", "done", 0.0)  # implied by what was paid
    with (place / "people.csv").open("a") as file:
        file.write("40,f\n")
    assert ran(place, JANUARY)[0] == ("sexes", "2027-01", "done", 0.5)


def test_releases_and_renewals(place):
    (place / "SCHEDULE.toml").write_text(SCHEDULE + RELEASE)
    found = ran(place)
    assert found[0][2] == "waits"
    assert found[-1] == ("census", "2026-Q4", "done", 0.5)
    assert ran(place)[-1] == ("census", "2026-Q4", "before", 0.0)
    later = ran(place, JANUARY)
    assert later[0] == ("town", "2027-Q1", "done", 0.0)
    assert later[-1][:3] == ("census", "2027-Q1", "done")
    assert {path.name for path in (place / "releases").iterdir()} == {
        "census-2026-Q4.zip", "census-2027-Q1.zip",
    }  # fmt: skip


def test_a_line_that_fails_stops_no_other_and_costs_nothing(place):
    wrong = SCHEDULE.replace(
        "COUNT(*) AS n FROM people GROUP", "MEDIAL(age) AS n FROM people GROUP"
    )
    (place / "SCHEDULE.toml").write_text(wrong)
    assert [found[2] for found in ran(place)] == ["failed", "done"]
    assert spent(place)[1] == 1


def test_a_line_that_was_changed_in_its_period_is_not_paid_for_again(place):
    ran(place)
    (place / "SCHEDULE.toml").write_text(SCHEDULE.replace("epsilon = 0.5", "epsilon = 0.6"))
    (line, *_) = run_schedule(place / "SCHEDULE.toml", place / "discreet.toml", today=NOVEMBER)
    assert (line.outcome, line.error["kind"]) == ("failed", "RequestConflict")
    assert spent(place) == (0.75, 2)


def killed(place, where, after, _say):
    """Run the schedule as a process does that is killed where it would call a function, or after that."""
    kept = getattr(scheduling, where)

    def die(*given, **named):
        if after:
            kept(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(scheduling, where, die)
    today = dt.date(2026, 11, 15)
    list(run_schedule(place / "SCHEDULE.toml", place / "discreet.toml", today=today))


def test_a_crash_in_the_middle_never_pays_twice(place):
    for where, after in (
        ("_write", False),
        ("_asked", True),
    ):  # paid, not written; written, not told
        child = forked(partial(killed, place, where, after))
        assert child.lines() == []
        assert child.status == signal.SIGKILL
    assert [found[2:] for found in ran(place)] == [("before", 0.0), ("done", 0.25)]
    assert spent(place) == (0.75, 2)


def test_the_twin_with_an_id_of_its_own_for_each_run_pays_again(place, monkeypatch):
    """What the ids are for: without the period in them, or with a new one each time, it is paid again."""
    real = scheduling._asked
    fresh = iter(range(100))

    def careless(curator, line, request_id, base, period):
        line = line.model_copy(update={"sql": line.sql.replace("60", str(60 + next(fresh)))})
        return real(curator, line, f"{request_id}:{next(fresh)}", base, period)

    monkeypatch.setattr(scheduling, "_asked", careless)
    ran(place)
    ran(place)
    assert spent(place)[1] > 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('every = "month"', 'every = "moon"', "'every' is one of"),
        ('name = "old"', 'name = "sexes"', "one name"),
        ("old.json", "old.txt", "must end in"),
        ("epsilon = 0.25", "epsilon = 0.25\nepsilom = 1", "epsilom"),
        ('name = "monthly"', 'name = "a:b"', "name"),
        ("[[questions]]", "[[questions]", "not valid TOML"),
    ],
)
def test_a_wrong_schedule_is_one_sentence_before_anything_runs(place, old, new, said):
    file = place / "SCHEDULE.toml"
    file.write_text(SCHEDULE.replace(old, new, 1))
    with pytest.raises(InvalidInput, match=said):
        read_schedule(file)
    assert run(["run", str(file), "--config", str(place)]) == 1


def test_the_command_prints_a_line_each(place, november, capsys):
    where = ["--config", str(place)]
    assert run(["run", str(place / "SCHEDULE.toml"), *where]) == 0
    assert "sexes" in capsys.readouterr().out
    (place / "SCHEDULE.toml").write_text(SCHEDULE.replace("epsilon = 0.25", "epsilon = 9"))
    assert run(["run", str(place / "SCHEDULE.toml"), "--json", *where]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["outcome"] for line in lines] == ["before", "failed"]


@pytest.mark.parametrize("alone", [True, False])
def test_of_two_runs_at_once_one_does_it_and_the_other_says_so(place, monkeypatch, alone):
    """The broken twin looks for the answer while the other is asking, and claims it as its own."""
    if not alone:
        monkeypatch.setattr(scheduling, "_alone", lambda _: nullcontext())
    looked, second, threads = threading.Event(), [], []
    stored, query = Curator.stored_answer, Curator.query

    def looks(*given, **named):
        found = stored(*given, **named)
        if threads and threading.current_thread() is threads[0]:
            looked.set()
        return found

    def asks(*given, **named):
        if not threads:
            threads.append(threading.Thread(target=lambda: second.extend(ran(place))))
            threads[0].start()
            looked.wait(0.5 if alone else LONG)  # alone, it cannot look before this one is done
        return query(*given, **named)

    monkeypatch.setattr(Curator, "stored_answer", looks)
    monkeypatch.setattr(Curator, "query", asks)
    first = ran(place)
    threads[0].join(LONG)
    outcomes = [first[0][2], second[0][2]]
    assert outcomes == (["done", "before"] if alone else ["done", "done"])


def test_a_second_run_says_who_did_it(place, november, capsys):
    assert run(["run", str(place / "SCHEDULE.toml"), "--config", str(place)]) == 0
    assert "already done" not in capsys.readouterr().out
    assert run(["run", str(place / "SCHEDULE.toml"), "--config", str(place)]) == 0
    assert capsys.readouterr().out.count("already done by another run") == 2
