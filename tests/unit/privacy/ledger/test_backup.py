from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.base.proof import Permit
from discreet.errors import (
    AnswerLost,
    BudgetExceeded,
    EngineFailed,
    InvalidInput,
    LedgerBusy,
    LedgerTampered,
    NotALedger,
)
from discreet.privacy.ledger import BudgetPolicy, Cap, Ledger, Payer, Policy
from discreet.privacy.ledger.sqlite import SqliteStore
from discreet.privacy.ledger.sqlite_file import alone, in_use
from ledger_kit import ALICE, MEN, WOMEN, forked, open_ledger, pay, policy

CAPS = {"alice": {"census": Cap.of("0.9")}}
URL = "sqlite:ledger.db"


def restore(base, path, reason="disk failure") -> Ledger:
    return Ledger.restore(URL, policy("1", analysts=CAPS), path, base=base, reason=reason)


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory):
    base = tmp_path_factory.mktemp("saved")
    ledger = open_ledger(base, analysts=CAPS)
    pay(ledger, "0.3", "men", MEN)
    assert ledger.backup(base / "copy.db") == 4
    pay(ledger, "0.3", "women", WOMEN, payer=ALICE)
    pay(ledger, "0.2", "women again", WOMEN, payer=ALICE)
    ledger.close()
    return base


@pytest.fixture
def saved(saved_once, tmp_path):
    """A ledger in use, and a backup that is two charges behind it; made once, and copied."""
    return shutil.copytree(saved_once, tmp_path, dirs_exist_ok=True)


def test_a_backup_is_one_whole_file(saved, tmp_path):
    assert sorted(p.name for p in saved.iterdir() if p.name.startswith("copy")) == ["copy.db"]
    ledger = open_ledger(saved, analysts=CAPS)
    with pytest.raises(InvalidInput, match="never overwrites"):
        ledger.backup(saved / "copy.db")
    ledger.close()


def test_a_backup_is_not_a_way_back_by_itself(saved):
    shutil.copy(saved / "copy.db", saved / "ledger.db")
    with pytest.raises(LedgerTampered, match="old copy"):
        open_ledger(saved, analysts=CAPS)


def test_what_was_spent_since_stays_spent_for_everyone(saved):
    """The lost charges hit the women (0.5), the backup only knows the men's 0.3. A gap entry of
    0.5 - 0.3 would let the women pay 0.8 more: 1.3 in truth. Everyone counts as at 0.5 instead."""
    ledger = restore(saved, saved / "copy.db")
    spent = ledger.spent("census")
    assert spent.epsilon == Fraction(1, 2)
    assert ledger.spent("census", "alice").epsilon == Fraction(1, 2)
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.6", "women after", WOMEN)
    pay(ledger, "0.4", "alice after", WOMEN, payer=ALICE)
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.1", "alice again", WOMEN, payer=ALICE)
    entry = next(entry for entry in ledger.history() if entry.kind == "restore")
    assert (entry.data["reason"], entry.data["lost"]) == ("disk failure", 2)
    ledger.verify()
    ledger.close()
    open_ledger(saved, analysts=CAPS).close()


def test_a_restore_that_loses_nothing_keeps_who_paid_what(saved):
    ledger = open_ledger(saved, analysts=CAPS)
    ledger.backup(saved / "fresh.db")
    ledger.close()
    restored = restore(saved, saved / "fresh.db")
    assert restored.history()[-1].data["lost"] == 0
    pay(restored, "0.7", "men have 0.7 left", MEN)
    restored.close()


@pytest.mark.parametrize("damage", ["missing", "garbage", "flipped"])
def test_a_ledger_beyond_opening_can_be_restored(saved, damage):
    path = saved / "ledger.db"
    if damage == "missing":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"garbage" * 1000)
    else:
        content = bytearray(path.read_bytes())
        content[content.find(b'"kind') if b'"kind' in content else content.find(b"genesis")] ^= 1
        path.write_bytes(bytes(content))
    with pytest.raises((LedgerTampered, NotALedger)):
        open_ledger(saved, analysts=CAPS)
    ledger = restore(saved, saved / "copy.db")
    assert ledger.spent("census").epsilon == Fraction(1, 2)
    ledger.close()


def test_without_a_head_everything_counts_as_spent(saved):
    (saved / "ledger.db.head").unlink()
    ledger = restore(saved, saved / "copy.db")
    assert ledger.spent("census").epsilon == 1
    with pytest.raises(BudgetExceeded):
        pay(ledger, "0.01", "more")
    ledger.close()


def test_two_restores_in_a_row_forget_nothing(saved):
    """A backup of the branch that was abandoned cannot undo what came after."""
    ledger = open_ledger(saved, analysts=CAPS)
    ledger.backup(saved / "branch.db")
    ledger.close()
    ledger = restore(saved, saved / "copy.db")
    pay(ledger, "0.4", "later")
    ledger.close()
    again = restore(saved, saved / "branch.db")
    assert again.spent("census").epsilon == Fraction(9, 10)
    again.close()


def test_a_restore_under_a_running_process_is_refused(saved):
    """What that process charges meanwhile would be forgotten."""
    running = open_ledger(saved, analysts=CAPS)
    assert running.spent("census").charges == 3
    before = running.history()
    with pytest.raises(LedgerBusy, match="in use"):
        restore(saved, saved / "copy.db")
    assert running.history() == before
    running.close()
    restore(saved, saved / "copy.db").close()
    # The old object connects again, and follows.
    with pytest.raises(BudgetExceeded):
        pay(running, "0.6", "too much", WOMEN)
    pay(running, "0.5", "fits", WOMEN)
    running.close()


def test_a_restore_under_another_process_is_refused_until_it_ends(saved):
    def serve(say) -> None:
        ledger = open_ledger(saved, analysts=CAPS)
        say("open")
        signal.pause()
        ledger.close()

    child = forked(serve)
    assert child.pipe.readline() == "open\n"
    (saved / "ledger.db").rename(saved / "elsewhere.db")  # even if the file is gone by now
    with pytest.raises(LedgerBusy, match="in use"):
        restore(saved, saved / "copy.db")
    child.kill()
    child.lines()
    restore(saved, saved / "copy.db").close()


def test_nobody_connects_during_a_restore(saved):
    path = saved / "ledger.db"
    with alone(path), pytest.raises(LedgerBusy, match="being restored"):
        SqliteStore(path, busy_seconds=0.05)
    SqliteStore(path, busy_seconds=0.05).close()


def test_without_a_head_the_highest_limit_that_is_known_counts_as_spent(tmp_path):
    """Backup at 1 of 1, then the limit was raised to 5 and spent, and a budget was added."""
    ledger = open_ledger(tmp_path, "1")
    pay(ledger, "1", "first")
    ledger.backup(tmp_path / "copy.db")
    ledger.close()
    later = Policy({"census": BudgetPolicy.of("5"), "visits": BudgetPolicy.of("3")})
    ledger = Ledger.open(URL, later, base=tmp_path)
    pay(ledger, "4", "second")
    pay(ledger, "3", "visits", payer=Payer(None, "visits", "visits"))
    ledger.close()
    for name in ("ledger.db", "ledger.db.head"):
        (tmp_path / name).unlink()
    copy = tmp_path / "copy.db"
    ledger = Ledger.restore(URL, later, copy, base=tmp_path, reason="both are gone")
    assert ledger.spent("census").epsilon == 5
    assert ledger.spent("visits").epsilon == 3
    for budget in ("census", "visits"):
        with pytest.raises(BudgetExceeded):
            pay(ledger, "0.01", budget, payer=Payer(None, budget, budget))
    ledger.close()


def test_without_a_head_the_ledger_at_hand_is_believed_upwards(tmp_path):
    """Its limit was 5 and is 2 now; the file still knows that 5 were spent."""
    ledger = open_ledger(tmp_path, "1")
    ledger.backup(tmp_path / "copy.db")
    ledger.close()
    ledger = open_ledger(tmp_path, "5")
    pay(ledger, "5", "all")
    ledger.close()
    (tmp_path / "ledger.db.head").unlink()
    ledger = Ledger.restore(
        URL, policy("2"), tmp_path / "copy.db", base=tmp_path, reason="the head is gone"
    )
    assert ledger.spent("census").epsilon == 5
    ledger.close()


def test_a_charge_that_its_head_has_not_heard_of_stays_spent(saved):
    """Killed between commit and head; another process may have acted on the entry by then."""
    head = (saved / "ledger.db.head").read_bytes()
    ledger = open_ledger(saved, analysts=CAPS)
    ledger.backup(saved / "fresh.db")
    pay(ledger, "0.4", "not in the head", WOMEN)
    ledger.close()
    (saved / "ledger.db.head").write_bytes(head)
    ledger = restore(saved, saved / "fresh.db")
    assert ledger.spent("census").epsilon == Fraction(9, 10)
    ledger.close()


def test_the_ledger_itself_is_no_backup(saved):
    before = (saved / "ledger.db").read_bytes()
    with pytest.raises(InvalidInput, match="the ledger itself"):
        restore(saved, saved / "ledger.db")
    assert (saved / "ledger.db").read_bytes() == before


def test_a_backup_of_another_ledger_is_refused(saved, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    stranger = open_ledger(other, analysts=CAPS)
    pay(stranger, "0.1", "a")
    stranger.backup(other / "copy.db")
    stranger.close()
    before = (saved / "ledger.db").read_bytes()
    with pytest.raises(InvalidInput, match="another ledger"):
        restore(saved, other / "copy.db")
    assert (saved / "ledger.db").read_bytes() == before
    ledger = open_ledger(saved, analysts=CAPS)
    assert ledger.spent("census").charges == 3
    ledger.close()


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_restore_needs_a_reason(saved, reason):
    with pytest.raises(InvalidInput, match="reason"):
        restore(saved, saved / "copy.db", reason)


def test_a_backup_that_is_none_is_refused(saved):
    with pytest.raises(InvalidInput, match="no backup"):
        restore(saved, saved / "nowhere.db")
    (saved / "text.db").write_text("hello" * 100)
    with pytest.raises(NotALedger):
        restore(saved, saved / "text.db")


def test_a_receipt_of_a_lost_charge_begins_and_ends_nothing(tmp_path):
    ledger = open_ledger(tmp_path, analysts=CAPS)
    ledger.backup(tmp_path / "copy.db")
    lost = [pay(ledger, "0.1", f"lost {turn}", payer=ALICE) for turn in range(3)]
    ledger.close()
    ledger = restore(tmp_path, tmp_path / "copy.db")
    other = pay(ledger, "0.1", "another")
    assert other.position == lost[1].position
    before = ledger.links()
    again = [replace(receipt, repeated=True) for receipt in lost]
    for receipt in (*lost, *again, replace(other, payer=ALICE), replace(other, position=0)):
        for act in (
            lambda r: ledger.outcomes.fail(r, EngineFailed("It failed.")),
            ledger.outcomes.take,
            lambda r: ledger.store_answer(r, b"answer"),
        ):
            with pytest.raises(AnswerLost, match="stays counted"):
                act(receipt)
    assert ledger.links() == before
    assert ledger.outcomes.state(other.position) is None
    assert not ledger.incidents.open()
    assert isinstance(ledger.outcomes.take(other), Permit)
    ledger.close()


@pytest.mark.parametrize(("damaged", "lost"), [(False, 2), (True, -1)])
def test_the_history_says_what_was_lost_and_whether_the_head_was_damaged(saved, damaged, lost):
    if damaged:
        (saved / "ledger.db.head").write_bytes(b"nonsense")
    ledger = restore(saved, saved / "copy.db")
    data = next(entry.data for entry in ledger.history() if entry.kind == "restore")
    assert (data["head_damaged"], data["lost"]) == (damaged, lost)
    assert data["who"] == "owner"
    assert ledger.spent("census").epsilon == (1 if damaged else Fraction(1, 2))
    ledger.close()


def test_a_restore_is_the_next_entry_of_the_chain(saved):
    ledger = restore(saved, saved / "copy.db")
    kinds = [link.kind for link in ledger.links()]
    assert kinds == ["genesis", "limit", "limit", "charge", "restore"]
    assert ledger.verify() == 5
    ledger.close()


def test_an_empty_file_is_no_backup(saved):
    (saved / "empty.db").touch()
    with pytest.raises(NotALedger, match=r"'empty\.db' is empty"):
        restore(saved, saved / "empty.db")
    SqliteStore(saved / "bare.db", shared=False).close()
    with pytest.raises(NotALedger, match=r"'bare\.db' is empty"):
        restore(saved, saved / "bare.db")
    (saved / "folder.db").mkdir()
    with pytest.raises(InvalidInput, match="no backup"):
        restore(saved, saved / "folder.db")
    assert open_ledger(saved, analysts=CAPS).spent("census").charges == 3


def test_a_backup_of_another_ledger_is_refused_by_one_that_has_only_begun(saved, tmp_path):
    """Its first entry tells which one it is, also where there is no head."""
    young = tmp_path / "young"
    young.mkdir()
    Ledger.open(URL, Policy({}), base=young).close()
    (young / "ledger.db.head").unlink()
    with pytest.raises(InvalidInput, match="another ledger"):
        restore(young, saved / "copy.db")


def test_into_an_empty_place_any_backup_may_be_brought_back(saved, tmp_path):
    """Nothing is known there of what was spent since: so all of it counts as spent."""
    place = tmp_path / "place"
    place.mkdir()
    ledger = restore(place, saved / "copy.db")
    assert ledger.spent("census").epsilon == 1
    assert ledger.spent("census", "alice").epsilon == Fraction(9, 10)
    ledger.close()


def test_a_restore_into_a_database_asks_to_be_alone_with_it(saved, monkeypatch):
    """Somebody is connected: whoever wants to be alone is refused, whoever shares is not."""

    def connected(url, *, folder, alone=False):
        assert (url, folder) == ("postgresql://server/db", saved)
        if alone:
            raise in_use("in a database")

    monkeypatch.setattr("discreet.privacy.ledger.backup.PostgresStore", connected)
    rules = policy("1", analysts=CAPS)
    with pytest.raises(LedgerBusy, match="in use"):
        Ledger.restore(
            "postgresql://server/db", rules, saved / "copy.db", base=saved, reason="a test"
        )
