"""Whoever can write the store, but not the head outside, can add bills and take none away."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from fractions import Fraction

import pytest

from discreet.base.event import EVERYONE, Cost
from discreet.errors import AnswerLost, BudgetExceeded, LedgerTampered
from discreet.privacy.ledger import Ledger, Policy
from discreet.privacy.ledger import session as session_module
from discreet.privacy.ledger.entry import fingerprint, link
from discreet.privacy.ledger.head import HeadFile
from discreet.privacy.ledger.sqlite import SqliteStore
from ledger_kit import (
    ALICE,
    OWNER,
    as_a_new_process,
    begin,
    open_ledger,
    pay,
    policy,
    quote,
)

TIME = {"time": "2026-11-15T12:00:00.000+00:00"}
FREE = {"epsilon": "0", "delta": "0", "rho": "0", "rho_delta": "0"}
RAISED = {"epsilon": "100", "delta": "0", "neighbours": "add-remove"}


def forge(base, kind: str, data: dict) -> None:
    """Append a link with a right hash, as whoever can write the file could."""
    store = SqliteStore(base / "ledger.db")
    last = list(store.links(start=0))[-1]
    with store.exclusive() as writer:
        writer.append(link(last.position + 1, kind, TIME | data, previous=last.hash))
    store.close()


def limit(new) -> dict:
    return {"budget": "census", "analyst": None, "old": None, "new": new, "who": "owner"}


def restore() -> dict:
    facts = {"reason": "x", "who": "owner", "head_damaged": False, "lost": 1}
    return facts | {"totals": [["census", None, FREE]]}


def settle(position: int) -> dict:
    facts = {"reservation": position, "budget": "census", "analyst": None, "kept": FREE}
    return facts | {"total": FREE, "share": None}


def charge(epsilon: str, **more) -> dict:
    cost = Cost(Fraction(epsilon), Fraction(0), Fraction(epsilon) ** 2 / 2, Fraction(0)).to_json()
    body = "body of forged"
    facts = {
        "request_id": "forged",
        "body": fingerprint(OWNER, f"charge {body}"),
        "analyst": None,
        "dataset": "census",
        "budget": "census",
        "cost": cost,
        "region": EVERYONE.to_json(),
        "event": "",
        "reserved": False,
        "looks": 1,
        "question": "",
        "note": "",
        "snapshot": "",
        "total": cost,
        "share": None,
        "before": {"limit_epsilon": "1", "limit_delta": "0", "epsilon": "0", "delta": "0"},
        "after": {"limit_epsilon": "1", "limit_delta": "0", "epsilon": "1", "delta": "0"},
    }
    return facts | more


@pytest.fixture
def base(tmp_path):
    """A closed ledger with one charge of half its budget."""
    ledger = open_ledger(tmp_path)
    pay(ledger, "1/2", "half")
    ledger.close()
    return tmp_path


FORGED = [("limit", limit(RAISED)), ("restore", restore())]


@pytest.mark.parametrize(("kind", "data"), FORGED, ids=[kind for kind, _ in FORGED])
def test_what_gives_back_beyond_the_head_is_refused(base, kind, data):
    forge(base, kind, data)
    with pytest.raises(LedgerTampered, match=f"a '{kind}', lies beyond"):
        open_ledger(base)


@pytest.mark.parametrize(("kind", "data"), FORGED, ids=[kind for kind, _ in FORGED])
def test_a_running_process_refuses_it_too(base, kind, data):
    ledger = open_ledger(base)
    forge(base, kind, data)
    for use in (lambda: pay(ledger, "3/4", "more"), lambda: ledger.spent("census"), ledger.verify):
        with pytest.raises(LedgerTampered, match=f"a '{kind}', lies beyond"):
            use()
    ledger.close()


def test_the_twin_that_believes_whatever_is_chained_gives_back(base, monkeypatch):
    monkeypatch.setattr("discreet.privacy.ledger.history.require_announced", lambda *_: None)
    monkeypatch.setattr("discreet.privacy.ledger.history.gives_back", lambda _: False)
    forge(base, "restore", restore())
    ledger = open_ledger(base)
    pay(ledger, "3/4", "more")  # 1/2 + 3/4 of 1
    ledger.close()


def killed(base, monkeypatch, do) -> None:
    """Do something, and die between its commit and the writing of the head."""
    with monkeypatch.context() as patch:
        patch.setattr(
            session_module.CachedAccounts,
            "advance",
            lambda _: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            do()


def test_a_limit_that_was_announced_is_believed_after_a_kill(base, monkeypatch):
    killed(base, monkeypatch, lambda: open_ledger(base, "2"))
    head = HeadFile(base / "ledger.db.head").read()
    assert head.announced
    ledger = open_ledger(base, "3")  # the owner has changed it once more
    assert [item.data["new"]["epsilon"] for item in ledger.history(last=2)] == ["2", "3"]
    assert HeadFile(base / "ledger.db.head").read().announced == ""
    ledger.close()


def test_the_first_limit_of_a_ledger_that_has_only_begun_is_announced_too(tmp_path, monkeypatch):
    Ledger.open("sqlite:ledger.db", Policy({}), base=tmp_path).close()
    killed(tmp_path, monkeypatch, lambda: open_ledger(tmp_path, "2"))
    ledger = open_ledger(tmp_path, "3")
    assert [item.data["new"]["epsilon"] for item in ledger.history(last=2)] == ["2", "3"]
    ledger.close()


def test_a_limit_without_its_announcement_is_refused_after_a_kill(base, monkeypatch):
    """The twin that only lags: nothing tells its honest limit from a forged one."""
    with monkeypatch.context() as patch:
        patch.setattr(session_module, "gives_back", lambda _: False)
        killed(base, monkeypatch, lambda: open_ledger(base, "2"))
    with pytest.raises(LedgerTampered, match="a 'limit', lies beyond"):
        open_ledger(base, "3")
    open_ledger(base, "2").close()  # but the owner's own catalog says so, too


def test_another_processes_limit_is_followed_at_once(base):
    first = open_ledger(base)
    second = open_ledger(base, "2")
    pay(first, "3/2", "more than before")
    first.close()
    second.close()


def _announced_in_vain(ledger, epsilon: str) -> str:
    """Announce a limit whose commit then fails."""
    with suppress(KeyboardInterrupt), ledger.session() as session:
        session.append("limit", limit(RAISED | {"epsilon": epsilon}))
        ledger._kept.announce(session.added[-1].hash)
        raise KeyboardInterrupt
    return session.added[-1].hash


def test_an_announcement_that_came_to_nothing_is_replaced(base):
    for epsilon in ("2", "3", "4"):
        ledger = open_ledger(base)
        announced = _announced_in_vain(ledger, epsilon)
        ledger.close()
        assert HeadFile(base / "ledger.db.head").read().announced == announced
    ledger = open_ledger(base)
    pay(ledger, "1/2", "rest")
    with pytest.raises(BudgetExceeded):
        pay(ledger, "1/10", "too much")
    ledger.close()


def test_a_forged_charge_beyond_the_limit_pays_for_no_look(base):
    forge(base, "charge", charge("5"))
    ledger = open_ledger(base)
    with pytest.raises(BudgetExceeded, match="no longer allow that charge"):
        ledger.charge(OWNER, quote("5"), request_id="forged", body="body of forged")
    ledger.close()


def test_a_forged_charge_within_the_limit_is_a_charge(base):
    forge(base, "charge", charge("1/2"))
    ledger = open_ledger(base)
    receipt = ledger.charge(OWNER, quote("1/2"), request_id="forged", body="body of forged")
    assert receipt.repeated
    assert ledger.spent("census").epsilon == 1
    ledger.close()


def test_a_forged_charge_on_another_budget_is_refused(tmp_path):
    from discreet.privacy.ledger import BudgetPolicy, Policy

    two = Policy({"census": BudgetPolicy.of("1"), "other": BudgetPolicy.of("9")})
    ledger = Ledger.open("sqlite:ledger.db", two, base=tmp_path)
    forge(tmp_path, "charge", charge("5", budget="other", dataset="elsewhere"))
    with pytest.raises(LedgerTampered, match="not what was asked"):
        ledger.charge(OWNER, quote("5"), request_id="forged", body="body of forged")
    ledger.close()


def test_a_forged_bound_does_not_lower_what_a_restore_counts(base):
    ledger = open_ledger(base)
    ledger.backup(base / "copy.db")
    pay(ledger, "1/2", "after the backup")
    forge(base, "charge", charge("0", request_id="small", total=FREE))
    begin(ledger, "table")  # writes the head anew
    ledger.close()
    found = Ledger.restore("sqlite:ledger.db", policy(), base / "copy.db", base=base, reason="x")
    assert found.spent("census").epsilon == 1
    found.close()


def test_a_refund_of_an_earlier_version_gives_nothing_back(base):
    ledger = open_ledger(base)
    ledger.backup(base / "copy.db")
    pay(ledger, "1/2", "after the backup")
    ledger.close()
    forge(base, "settle", settle(2))
    ledger = open_ledger(base)
    assert ledger.spent("census").epsilon == 1
    ledger.close()
    found = Ledger.restore("sqlite:ledger.db", policy(), base / "copy.db", base=base, reason="x")
    assert found.spent("census").epsilon == 1
    found.close()


@pytest.mark.parametrize(("kind", "data"), FORGED, ids=[kind for kind, _ in FORGED])
@pytest.mark.parametrize("at_hand", [False, True], ids=["only the copy", "the store as well"])
def test_a_backup_that_gives_back_beyond_the_head_is_refused(base, tmp_path, kind, data, at_hand):
    (tmp_path / "elsewhere").mkdir()
    ledger = open_ledger(base)
    ledger.backup(tmp_path / "elsewhere" / "ledger.db")
    ledger.close()
    for place in (tmp_path / "elsewhere", base)[: 1 + at_hand]:
        forge(place, kind, data)
    copy = tmp_path / "elsewhere" / "ledger.db"
    with pytest.raises(LedgerTampered, match=f"a '{kind}', lies beyond"):
        Ledger.restore("sqlite:ledger.db", policy(), copy, base=base, reason="x")


def test_a_backup_with_a_smaller_bound_beyond_the_head_lowers_nothing(base, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / "ledger.db"
    ledger = open_ledger(base)
    ledger.backup(copy)
    ledger.close()
    forge(tmp_path / "elsewhere", "charge", charge("0", total=FREE))
    Ledger.restore("sqlite:ledger.db", policy(), copy, base=base, reason="x").close()
    totals = HeadFile(base / "ledger.db.head").read().totals
    assert totals["census", None].epsilon == Fraction(1, 2)


def test_a_charge_below_nothing_is_refused(base):
    forge(base, "charge", charge("-1"))
    with pytest.raises(LedgerTampered, match="amount below 0"):
        open_ledger(base)


@pytest.mark.parametrize("kind", ["charge", "restore", "limit", "answered"])
def test_an_entry_without_its_facts_is_tampered_with(base, kind):
    ledger = open_ledger(base)
    forge(base, kind, {})
    with pytest.raises(LedgerTampered):
        ledger.spent("census")
    ledger.close()
    with pytest.raises(LedgerTampered):
        open_ledger(base)


def test_a_version_entered_twice_is_refused(base):
    ledger = open_ledger(base)
    assert begin(ledger, "people") == 1
    again = dict(ledger.history()[-1].data)
    again.pop("time")
    forge(base, "version", again)
    with pytest.raises(LedgerTampered):
        ledger.version("people")
    ledger.close()


def test_an_old_head_is_still_read(base):
    """0.1.0 announced nothing; its head has no such word."""
    path = base / "ledger.db.head"
    slot = json.loads(path.read_bytes()[: path.stat().st_size // 2])
    assert "announced" not in slot
    assert HeadFile(path).read().announced == ""


def test_the_owners_limits_reach_analysts_of_a_running_process(tmp_path):
    from discreet.privacy.ledger import Cap

    caps = {"alice": {"census": Cap.of("1/2")}}
    first = open_ledger(tmp_path, analysts=caps)
    pay(first, "1/2", "a", payer=ALICE)
    second = open_ledger(tmp_path, analysts={"alice": {"census": Cap.of("1")}})
    pay(first, "1/2", "b", payer=ALICE)
    first.close()
    second.close()


def test_an_ending_that_is_cut_off_leaves_a_request_that_is_lost(base):
    """The head is not written for endings: whoever cuts one wins no second look."""
    ledger = open_ledger(base)
    receipt = pay(ledger, "1/4", "asked")
    ledger.outcomes.take(receipt)
    begun = HeadFile(base / "ledger.db.head").read().position
    ledger.store_answer(receipt, b"answer")
    ledger.outcomes.let_go(receipt)
    ledger.close()
    assert HeadFile(base / "ledger.db.head").read().position == begun
    cut = sqlite3.connect(base / "ledger.db")
    with cut:
        cut.execute("DELETE FROM entries WHERE position > ?", (begun,))
        cut.execute("DELETE FROM answers")
    cut.close()
    with pytest.raises(LedgerTampered, match="earlier state"):
        open_ledger(base)
    as_a_new_process()
    ledger = open_ledger(base)
    with pytest.raises(AnswerLost):
        ledger.outcomes.take(pay(ledger, "1/4", "asked"))
    assert ledger.spent("census").epsilon == Fraction(3, 4)
    ledger.close()


def test_a_begun_mark_that_is_cut_off_is_found(base):
    ledger = open_ledger(base)
    ledger.outcomes.take(pay(ledger, "1/4", "asked"))
    ledger.close()
    cut = sqlite3.connect(base / "ledger.db")
    with cut:
        cut.execute("DELETE FROM entries WHERE kind = 'begun'")
    cut.close()
    with pytest.raises(LedgerTampered, match="old copy"):
        open_ledger(base)
