"""A checkpoint is believed only if the head names it, and never for less than the history says."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from checkpoint_kit import checkpointed, differences
from discreet.errors import LedgerTampered, RequestConflict
from discreet.privacy.ledger import Cap, Ledger, checkpoint
from discreet.privacy.ledger import session as session_module
from discreet.privacy.ledger.head import HeadFile
from discreet.privacy.ledger.history import load
from ledger_kit import ALICE, MEN, OWNER, WOMEN, open_ledger, pay, policy, quote


@pytest.fixture
def small(monkeypatch):
    """Checkpoints after every few entries, merged as those of millions are."""
    monkeypatch.setattr(checkpoint, "LEAST", 5)
    monkeypatch.setattr(checkpoint, "LARGEST", 60)
    monkeypatch.setattr(session_module, "PAUSE", 1)


def files(base, kind: str = "") -> list:
    return sorted(path for path in base.iterdir() if f".head.{kind or 'checkpoint'}-" in path.name)


FIRST: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def first(tmp_path_factory):
    """Keep a ledger of 40 charges, of which a checkpoint knows 30, for all tests to copy."""
    base = tmp_path_factory.mktemp("first")
    ledger = open_ledger(base, "100")
    for turn in range(40):
        pay(ledger, "1/10", f"r{turn}", WOMEN if turn % 3 else MEN)
        if turn == 29:
            assert checkpointed(ledger)
    ledger.close()
    FIRST[:] = [base]


def kept(base) -> Ledger:
    """Return a ledger of 40 charges, of which a checkpoint knows 30."""
    shutil.copytree(FIRST[0], base, dirs_exist_ok=True)
    return open_ledger(base, "100")


def rests_on(ledger: Ledger) -> int | None:
    accounts = load(ledger._store)
    return accounts.past.position if accounts.past else None


def spent(ledger: Ledger):
    found = ledger.spent("census")
    return found.epsilon, found.charges, found.worst


def test_opening_reads_only_what_came_since(tmp_path, monkeypatch):
    ledger = kept(tmp_path)
    before = spent(ledger)
    ledger.close()
    seen = []
    apply = checkpoint.Accounts.apply
    monkeypatch.setattr(
        checkpoint.Accounts,
        "apply",
        lambda accounts, link: (seen.append(link.position), apply(accounts, link)),
    )
    ledger = open_ledger(tmp_path, "100")
    assert seen == list(range(32, 42))  # after genesis, the limit and 30 charges
    assert spent(ledger) == before
    monkeypatch.undo()
    assert ledger.verify() == 42
    assert differences(ledger) == []


def test_what_lies_before_it_is_still_there(tmp_path):
    ledger = kept(tmp_path)
    ledger.close()
    ledger = open_ledger(tmp_path, "100")
    again = pay(ledger, "1/10", "r3", MEN)
    assert (again.repeated, again.position) == (True, 5)
    with pytest.raises(RequestConflict):
        ledger.charge(OWNER, quote("1/10"), request_id="r3", body="another")
    assert [entry.data["request_id"] for entry in ledger.charges([None], last=39)] == [
        f"r{turn}" for turn in range(1, 40)
    ]
    assert ledger.count([None]) == 40
    assert len(ledger.history()) == 42
    ledger.outcomes.take(again)
    ledger.store_answer(again, b"told")
    assert checkpointed(ledger)
    ledger.close()
    ledger = open_ledger(tmp_path, "100")
    assert ledger.stored_answer("r3") == b"told"
    assert ledger.stored_answer("r4") is None


def flip(path, at: int = -1) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "it is gone": lambda base: files(base)[0].unlink(),
    "it is empty": lambda base: files(base)[0].write_bytes(b""),
    "it is cut": lambda base: files(base)[0].write_bytes(files(base)[0].read_bytes()[:-9]),
    "a byte of it is changed": lambda base: flip(files(base)[0], 40),
    "a part is gone": lambda base: files(base, "part")[0].unlink(),
    "a part is cut": lambda base: files(base, "part")[0].write_bytes(b"short"),
    "a part's directory is changed": lambda base: flip(files(base, "part")[0]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_passed_over(tmp_path, damage):
    ledger = kept(tmp_path)
    before = spent(ledger)
    ledger.close()
    DAMAGES[damage](tmp_path)
    ledger = open_ledger(tmp_path, "100")
    assert rests_on(ledger) is None
    assert spent(ledger) == before
    assert ledger.verify() == 42
    assert checkpointed(ledger)  # and the next one is sound
    assert rests_on(ledger) == 41
    assert differences(ledger) == []


def test_a_damaged_page_is_refused_when_it_is_read(tmp_path):
    ledger = kept(tmp_path)
    before = spent(ledger)
    ledger.close()
    flip(files(tmp_path, "part")[0], 0)
    ledger = open_ledger(tmp_path, "100")
    assert spent(ledger) == before
    for name in ("r3", "a new one"):
        with pytest.raises(LedgerTampered, match=r"damaged.*|checkpoint"):
            pay(ledger, "1/10", name, MEN)
    with pytest.raises(LedgerTampered):
        ledger.verify()
    ledger.close()
    files(tmp_path, "part")[0].unlink()  # as its hint says
    ledger = open_ledger(tmp_path, "100")
    assert pay(ledger, "1/10", "r3", MEN).repeated


def put_back(base, content: bytes) -> None:
    """Write `content` under the name of the checkpoint that the head names."""
    files(base)[-1].write_bytes(content)


@pytest.fixture
def believing(monkeypatch):
    """A broken twin: whatever lies under the name is taken."""

    def opened(store, head):
        if head is None or head.checkpoint is None:
            return None
        path = checkpoint._checkpoint_path(store.head_path, head.checkpoint[1])
        facts = checkpoint.json.loads(path.read_bytes())
        accounts = checkpoint.accounts_from(facts)
        parts = [checkpoint.PartFacts(*data) for data in facts["parts"]]
        found = tuple(
            checkpoint.CheckpointPart(checkpoint._part_path(store.head_path, p.digest), p)
            for p in parts
        )
        accounts.rest_on(
            checkpoint.EarlierEntries(store, accounts.position, accounts.hash, found, {})
        )
        return accounts

    monkeypatch.setattr("discreet.privacy.ledger.history.opened", opened)


def old_one(base) -> bytes:
    """Leave a ledger with two checkpoints behind; return the older one."""
    ledger = kept(base)
    (path,) = files(base)
    old = path.read_bytes()
    for part in files(base, "part"):
        shutil.copy(part, base / f"old-{part.name}")
    assert checkpointed(ledger)
    ledger.close()
    for part in base.glob("old-*"):
        shutil.copy(part, base / part.name.removeprefix("old-"))
    named = HeadFile(base / "ledger.db.head").read().checkpoint
    for path in files(base):
        if path.name.endswith(named[1]):
            path.write_bytes(old)
    return old


def test_an_old_checkpoint_put_back_is_passed_over(tmp_path):
    old_one(tmp_path)
    ledger = open_ledger(tmp_path, "100")
    assert rests_on(ledger) is None
    assert ledger.spent("census").charges == 40


def test_the_twin_that_believes_an_old_one_is_off(tmp_path, believing):
    """The entries since make up for it, unless the store forgets them as well: but the head tells."""
    old_one(tmp_path)
    ledger = open_ledger(tmp_path, "100")
    assert rests_on(ledger) == 31


def another(tmp_path) -> None:
    """Put the checkpoint of a ledger with few charges in the place of one with many."""
    for name, charges in (("here", 20), ("there", 8)):
        (tmp_path / name).mkdir()
        ledger = open_ledger(tmp_path / name, "100")
        for turn in range(charges):
            pay(ledger, "1", f"r{turn}")
            if turn == 7:
                assert checkpointed(ledger)
        ledger.close()
    for path in files(tmp_path / "there", "part"):
        shutil.copy(path, tmp_path / "here" / path.name)
    put_back(tmp_path / "here", files(tmp_path / "there")[0].read_bytes())


def test_the_checkpoint_of_another_ledger_is_passed_over(tmp_path):
    another(tmp_path)
    ledger = open_ledger(tmp_path / "here", "100")
    assert rests_on(ledger) is None
    assert ledger.spent("census").charges == 20


def test_the_twin_that_believes_another_ledgers_cannot_go_on(tmp_path, believing):
    another(tmp_path)
    with pytest.raises(LedgerTampered):
        open_ledger(tmp_path / "here", "100")


def test_a_forged_checkpoint_needs_the_head(tmp_path):
    """Whoever can write all but the head gains nothing: a cheaper state has another digest."""
    ledger = kept(tmp_path)
    ledger.close()
    (path,) = files(tmp_path)
    forged = path.read_bytes().replace(b",20]", b",1]")
    assert forged != path.read_bytes()
    path.write_bytes(forged)
    ledger = open_ledger(tmp_path, "100")
    assert rests_on(ledger) is None
    assert ledger.spent("census").charges == 40


def edit(base, position: int) -> None:
    with sqlite3.connect(base / "ledger.db") as connection:
        connection.execute(
            "UPDATE entries SET body = replace(body, 'r3', 'x3') WHERE position = ?", (position,)
        )
    connection.close()


def test_an_edited_entry_before_it_is_found_when_used_and_by_verify(tmp_path):
    ledger = kept(tmp_path)
    before = spent(ledger)
    ledger.close()
    edit(tmp_path, 5)
    ledger = open_ledger(tmp_path, "100")
    assert spent(ledger) == before
    for use in (
        lambda: pay(ledger, "1/10", "r3", MEN),
        lambda: ledger.charge_of(None, "r3"),
        ledger.history,
        lambda: ledger.charges([None], last=50),
        ledger.verify,
    ):
        with pytest.raises(LedgerTampered):
            use()


def test_an_old_copy_of_the_store_is_refused_as_before(tmp_path):
    ledger = open_ledger(tmp_path, "100")
    for turn in range(20):
        pay(ledger, "1/10", f"r{turn}")
    ledger.close()
    shutil.copy(tmp_path / "ledger.db", tmp_path / "old.db")
    ledger = open_ledger(tmp_path, "100")
    pay(ledger, "1/10", "more")
    assert checkpointed(ledger)
    ledger.close()
    shutil.copy(tmp_path / "old.db", tmp_path / "ledger.db")
    with pytest.raises(LedgerTampered, match="old copy"):
        open_ledger(tmp_path, "100")


def test_a_restore_leaves_no_checkpoint(tmp_path):
    ledger = kept(tmp_path)
    ledger.backup(tmp_path / "copy.db")
    pay(ledger, "1/2", "after the backup")
    assert checkpointed(ledger)
    ledger.close()
    url = "sqlite:ledger.db"
    limits = policy("100")
    ledger = Ledger.restore(url, limits, tmp_path / "copy.db", base=tmp_path, reason="test")
    assert rests_on(ledger) is None
    paid = spent(ledger)
    assert checkpointed(ledger)
    ledger.close()
    ledger = open_ledger(tmp_path, "100")
    assert rests_on(ledger) == 42
    assert spent(ledger) == paid
    assert differences(ledger) == []


def test_files_are_few_and_private(tmp_path, small):
    ledger = open_ledger(tmp_path, "100")
    for turn in range(120):
        pay(ledger, "1/10", f"r{turn}")
    assert len(files(tmp_path)) <= 2
    assert len(files(tmp_path, "part")) < 20
    assert {path.stat().st_mode & 0o77 for path in files(tmp_path) + files(tmp_path, "part")} == {0}
    assert len(ledger._kept.accounts.requests) < 12, "what a checkpoint knows is not held in memory"
    assert differences(ledger) == []


def test_a_disk_that_is_full_costs_a_checkpoint_and_nothing_else(tmp_path, small, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    ledger = open_ledger(tmp_path, "100")
    pay(ledger, "1/10", "first")
    monkeypatch.setattr("discreet.base.files.write_synced", full)
    for turn in range(20):
        assert not pay(ledger, "1/10", f"r{turn}").repeated
    assert files(tmp_path) == []
    assert ledger.spent("census").charges == 21


def test_a_handle_goes_on_after_its_parts_were_removed(tmp_path, small):
    """Another process merges the parts and removes their names; this one still reads them."""
    first = open_ledger(tmp_path, "100")
    for turn in range(12):
        pay(first, "1/10", f"r{turn}")
    assert first._kept.accounts.past is not None
    second = open_ledger(tmp_path, "100")
    for turn in range(60):
        pay(second, "1/10", f"s{turn}")
    assert not all(part.path.exists() for part in first._kept.accounts.past.parts)
    assert pay(first, "1/10", "r0").repeated
    for turn in range(12):
        pay(first, "1/10", f"t{turn}")
    assert differences(first) == []
    assert first.verify() == 86


def test_two_checkpoints_of_two_handles_lose_nothing(tmp_path):
    """The one that comes later stands on the other's, or is not made."""
    first, second = open_ledger(tmp_path, "100"), open_ledger(tmp_path, "100")
    for turn in range(10):
        pay(first if turn % 2 else second, "1/10", f"r{turn}")
    assert checkpointed(first)
    assert not checkpointed(second), "a later one is named already"
    pay(second, "1/10", "more")
    assert rests_on(first) == rests_on(second) == 11
    assert differences(second) == []


def test_an_announcement_is_never_doubled(tmp_path):
    """While the head announces a link, no checkpoint is named at the same position."""
    ledger = open_ledger(tmp_path, "100")
    pay(ledger, "1/10", "r0")
    ledger._kept.announce("0" * 64)
    assert not checkpoint.make(ledger._store, ledger._kept.accounts)
    assert sum(bool(slot.announced) for slot in HeadFile(tmp_path / "ledger.db.head").slots()) == 1


def test_shares_and_strangers_keep_their_own_ids(tmp_path):
    ledger = open_ledger(tmp_path, "100", analysts={"alice": {"census": Cap.of("50")}})
    pay(ledger, "1/10", "same")
    pay(ledger, "1/5", "same", payer=ALICE)
    assert checkpointed(ledger)
    for payer, position in ((OWNER, 3), (ALICE, 4)):
        again = ledger.charge(
            payer,
            quote("1/10" if payer is OWNER else "1/5"),
            request_id="same",
            body="body of same",
        )
        assert (again.repeated, again.position) == (True, position)


def test_a_charge_costs_the_same_with_a_checkpoint(tmp_path):
    """Looking up a new id in parts is little beside a charge: less than a tenth of a millisecond each."""
    ledger = kept(tmp_path)
    past = ledger._kept.accounts.past
    start = time.process_time()
    for turn in range(1000):
        assert past.request((None, f"new {turn}")) is None
    assert time.process_time() - start < 1


def test_an_interrupt_leaves_no_book_that_counts_twice(tmp_path):
    """Ctrl-C at every line of making one: what is held then says what the whole history says."""
    first = tmp_path / "first"
    first.mkdir()
    kept(first).close()
    lines = 0
    for stop in range(400):
        base = shutil.copytree(first, tmp_path / str(stop))
        ledger = open_ledger(base, "100")
        left = stop

        def interrupt(frame, event, _argument):
            nonlocal left
            if frame.f_code.co_name in ("rest_on", "_made", "name_checkpoint"):
                if event == "line":
                    left -= 1
                    if left < 0:
                        raise KeyboardInterrupt
                return interrupt
            return None

        before = sys.gettrace()
        sys.settrace(interrupt)
        try:
            checkpoint.make(ledger._store, ledger._kept.accounts)
            broken = False
        except KeyboardInterrupt:
            broken = True
        finally:
            sys.settrace(before)
        assert ledger.count([None]) == 40
        assert len({entry.position for entry in ledger.charges([None], last=99)}) == 40
        ledger.verify()
        ledger.close()
        if not broken:
            break
        lines += 1
    assert 10 < lines < 100


def test_a_failed_one_leaves_nothing_that_takes_room(tmp_path, monkeypatch):
    ledger = kept(tmp_path)
    named = set(tmp_path.iterdir())

    def full(_path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.files, "sync_folder", full)
    with pytest.raises(OSError, match="space"):
        checkpoint.make(ledger._store, ledger._kept.accounts)
    assert set(tmp_path.iterdir()) <= named | {tmp_path / "ledger.db.head.checkpoint.lock"}
    ledger.close()


@pytest.mark.parametrize("slot", [0, 1])
def test_one_that_cannot_be_used_is_replaced_at_the_same_place(tmp_path, slot):
    ledger = kept(tmp_path)
    for _ in range(1 + slot):
        pay(ledger, "1/10", f"more{_}")
        assert checkpointed(ledger)
    ledger.close()
    (newest,) = {head.checkpoint[1] for head in [HeadFile(ledger._store.head_path).read()]}
    for path in files(tmp_path):
        if newest in path.name:
            path.unlink()
    again = open_ledger(tmp_path, "100")
    assert rests_on(again) is None
    again._kept.accounts = load(again._store)
    assert checkpointed(again)
    assert rests_on(again) == again._kept.accounts.position
    again.close()


def opened_parts() -> int:
    """Return how many descriptors of this process lead to parts of a checkpoint."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += ".part-" in each.readlink().name
    return found


@pytest.fixture
def uncollected():
    """Nothing is freed by the collector meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")


@needs_proc
def test_closing_lets_go_of_its_files_and_a_later_call_opens_them_again(tmp_path, uncollected):
    before = opened_parts()
    ledger = kept(tmp_path)
    ledger.close()
    for _ in range(2):
        ledger = open_ledger(tmp_path, "100")
        assert rests_on(ledger) is not None
        assert opened_parts() > before
        known, identity = spent(ledger), ledger.identity
        ledger.close()
        assert opened_parts() == before
        assert ledger.identity == identity
        assert len(ledger.links()) == ledger.verify()
        assert spent(ledger) == known
        assert not differences(ledger)
        ledger.close()
        assert opened_parts() == before


@needs_proc
def test_what_was_merged_or_compared_is_let_go_of_at_once(tmp_path, small, uncollected):
    before = opened_parts()
    ledger = kept(tmp_path)
    for turn in range(6):
        pay(ledger, "0.001", f"more {turn}")
        checkpointed(ledger)
        ledger.verify()
        with ledger.session() as session:
            assert opened_parts() - before == len(session.accounts.past.parts)
    ledger.close()
    assert opened_parts() == before
