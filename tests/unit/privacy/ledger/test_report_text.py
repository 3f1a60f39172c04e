from __future__ import annotations

import pytest

from discreet.privacy.ledger import Cap, Ledger, budget_report, budget_words
from ledger_kit import ADULTS, ALICE, MEN, OWNER, WOMEN, open_ledger, pay, policy, quote

CAPS = {"alice": {"census": Cap.of("0.9")}}


def describe(region) -> str:
    return " AND ".join(name for name, _ in region.axes) or "everyone"


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path, "1", "1e-9", analysts=CAPS)
    for name, epsilon, region in (("m", "0.2", MEN), ("w", "0.25", WOMEN), ("a", "0.25", ADULTS)):
        pay(ledger, epsilon, name, region)
    yield ledger
    ledger.close()


def test_the_report_is_the_contract(ledger):
    pay(ledger, "0.5", "all")
    report = budget_report(ledger, {"census": "census"}, describe=describe)
    assert report == {
        "datasets": {
            "census": {
                "epsilon": {"limit": 1.0, "spent": 1.0, "left": 0.0},
                "delta": {"limit": 1e-9, "spent": 0.0, "left": 1e-9},
                "worst_region": "age AND sex",
                "charges": 4,
                "budget": "census",
                "exposures": 0,
                "exposed": [],
            }
        }
    }


def test_the_words_tell_everything(ledger, tmp_path):
    ledger.charge(ALICE, quote("0.125"), request_id="q", body="", question="SELECT\n  1")
    ledger.record_exposure("census", reason="a k-anonymous file")
    ledger.record_look("census", reason="checked the import")
    ledger.charge(OWNER, quote("0.01"), request_id="res", body="")
    ledger.backup(tmp_path / "copy.db")
    ledger.close()
    ledger = Ledger.restore(
        "sqlite:ledger.db", policy("2", "1e-9"), tmp_path / "copy.db", base=tmp_path, reason="why"
    )
    text = budget_words(ledger, {"census": "census", "v": "census"}, describe=describe, last=99)
    for words in (
        "epsilon 0.635 of 2 spent, 1.365 left, 5 charges",
        "delta 0 of 1e-9 spent",
        "most exposed: age AND sex",
        "1 release without any guarantee",
        "alice paid epsilon 0.125 on census: SELECT 1",
        "without guarantee: a k-anonymous file",
        "the owner looked: checked the import",
        "owner changed the limit: epsilon 1 to epsilon 2",
        "owner changed the share of alice: epsilon 0.9 to none",
        "owner restored a backup: why",
        "v (paid from the budget 'census')",
    ):
        assert words in text
    gauge = text[text.index("[") : text.index("]")]
    assert gauge.count("#") == 13
    ledger.close()


def test_nothing_declared_and_nothing_spent(tmp_path):
    ledger = open_ledger(tmp_path)
    assert budget_words(ledger, {}, describe=describe, last=5) == "No dataset is declared yet."
    text = budget_words(ledger, {"census": "census"}, describe=describe, last=0)
    assert "epsilon 0 of 1 spent, 1 left, 0 charges" in text
    assert "most exposed" not in text
    assert "history" not in text
    ledger.close()
