"""Renewals and alerts through the ledger: the limit rises, nothing that was spent is forgotten."""

import datetime as dt
import json
from fractions import Fraction
from types import SimpleNamespace

import pytest

from discreet.cli.app import run
from discreet.curator import open as open_curator
from discreet.curator import renew_budget, reporting
from discreet.errors import BudgetExceeded, InvalidInput
from discreet.privacy.ledger.entry import Balance, BudgetAlert, alert_of, part_used

TOML = """
[datasets.town]
epsilon = 1
renew = { every = "quarter", since = "2020-Q1", epsilon = 0.5, at_most = 2 }

[datasets.town.tables.people]
source = "people.csv"
unit = "row"

[datasets.town.tables.people.columns]
age = { type = "integer", lower = 0, upper = 99 }
"""
COUNT = "SELECT COUNT(*) AS n FROM people WHERE age < {}"


@pytest.fixture
def place(tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "".join(f"{n}\n" for n in range(90)))
    (tmp_path / "discreet.toml").write_text(TOML)
    return tmp_path


def spent(place):
    with open_curator(place) as curator:
        facts = curator.budget_report()["datasets"]["town"]
    return facts["epsilon"]["spent"], facts["epsilon"]["limit"], facts["alert"]


def test_a_renewed_budget_pays_again_and_remembers_all(place):
    with open_curator(place) as curator:
        for age in (10, 20, 30, 40):
            curator.query(COUNT.format(age), epsilon="0.25", fresh=True)
        with pytest.raises(BudgetExceeded):
            curator.query(COUNT.format(50), epsilon="0.25", fresh=True)
    assert spent(place) == (1.0, 1.0, "spent")
    done = renew_budget(place / "discreet.toml", "town", today=dt.date(2026, 11, 15))
    assert (done["period"], done["before"]["epsilon"], done["epsilon"]) == ("2026-Q4", 1.0, 1.5)
    assert (done["left"], done["lifetime"]) == (1, 2.0)
    assert spent(place) == (1.0, 1.5, None)
    with open_curator(place) as curator:
        curator.query(COUNT.format(50), epsilon="0.5", fresh=True)
        with pytest.raises(BudgetExceeded):
            curator.query(COUNT.format(60), epsilon="0.1", fresh=True)
        deed = next(entry for entry in curator.history() if entry["kind"] == "limit")
    assert "renewing for 2026-Q4" in deed["who"]
    assert (deed["old"]["epsilon"], deed["new"]["epsilon"]) == ("1", "3/2")


def test_a_refused_renewal_changes_nothing(place):
    config = place / "discreet.toml"
    renew_budget(config, "town", today=dt.date(2026, 11, 15))
    text = config.read_text()
    with pytest.raises(InvalidInput):
        renew_budget(config, "town", today=dt.date(2026, 12, 31))
    assert config.read_text() == text
    assert spent(place)[1] == 1.5


def test_a_crash_after_the_file_and_before_the_ledger_grants_once(place, monkeypatch):
    def crash(*_args, **_named):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(reporting.Ledger, "open", crash)
        with pytest.raises(KeyboardInterrupt):
            renew_budget(place / "discreet.toml", "town", today=dt.date(2026, 11, 15))
    with pytest.raises(InvalidInput, match="in force already"):
        renew_budget(place / "discreet.toml", "town", today=dt.date(2026, 11, 15))
    assert spent(place)[1] == 1.5


def test_the_command_renews_and_says_what_it_means(place, capsys, monkeypatch):
    # The same day at every look: at the end of a quarter a second renewal would be granted.
    noon = SimpleNamespace(now=lambda zone: dt.datetime(2026, 11, 15, 12, tzinfo=zone))
    monkeypatch.setattr(reporting, "dt", SimpleNamespace(datetime=noon, UTC=dt.UTC))
    where = ["--config", str(place)]
    assert run(["budget", "--renew", "town", *where]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "epsilon 1.5 in all" in said
    assert "Losses add up over periods" in said
    assert run(["budget", *where]) == 0
    assert "1 of 2 granted" in " ".join(capsys.readouterr().out.split())
    assert run(["budget", "--renew", "town", *where]) == 1
    assert run(["budget", "--json", *where]) == 0
    report = json.loads(capsys.readouterr().out)["datasets"]["town"]
    assert (report["alert"], report["renewal"]["lifetime"]) == (None, 2.0)


def told(used, delta=0, mark="4/5"):
    so_far = Balance(Fraction(2), Fraction(1, 1000), Fraction(used), Fraction(delta))
    return alert_of(so_far, Fraction(mark)), part_used(so_far)


def test_an_alert_comes_at_the_mark_and_not_before():
    assert told("1.59")[0] is None
    assert told("1.6") == (BudgetAlert.NEARLY_SPENT, Fraction(4, 5))
    assert told("2")[0] is BudgetAlert.SPENT
    assert told("2.5") == (BudgetAlert.SPENT, 1)
    assert told("0.1", delta=Fraction(9, 10_000))[0] is BudgetAlert.NEARLY_SPENT
    assert told("0.2", mark="1/10")[0] is BudgetAlert.NEARLY_SPENT
