"""The ledger keeps its own lock: nothing but SQLite opens its file, and a fork inherits nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from discreet.errors import LedgerBusy, LedgerError, LedgerTampered
from discreet.privacy.ledger import Ledger, sqlite_file
from discreet.privacy.ledger.sqlite import SqliteStore
from discreet.privacy.ledger.sqlite_file import require_unused
from ledger_kit import forked, open_ledger, pay, policy

# The bytes on which SQLite locks: whoever uses a database in WAL mode holds a read lock there.
SHARED_FIRST, SHARED_SIZE = 0x40000002, 510
PROBE = f"""
import fcntl, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
try:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, {SHARED_SIZE}, {SHARED_FIRST})
except OSError:
    sys.exit(3)
"""


def locked(path) -> bool:
    """Return whether some process holds SQLite's lock; asked from another process."""
    asked = subprocess.run([sys.executable, "-S", "-c", PROBE, str(path)], check=False)
    assert asked.returncode in (0, 3)
    return asked.returncode == 3


def by_hand(path) -> None:
    """What the store once did itself to look at the first bytes."""
    os.close(os.open(path, os.O_RDWR))


def test_the_lock_is_held_while_a_ledger_is_open_and_no_longer(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = open_ledger(tmp_path)
    assert locked(path)
    ledger.close()
    assert not locked(path)


def test_a_reload_keeps_the_lock(tmp_path):
    """A second ledger is opened on the same file, then the first is closed: a changed catalog."""
    path = tmp_path / "ledger.db"
    old = open_ledger(tmp_path)
    for turn in range(3):
        new = open_ledger(tmp_path)
        old.close()
        assert locked(path), f"reload {turn}"
        pay(new, "0.1", f"r{turn}")
        new.verify()
        new.backup(tmp_path / f"copy-{turn}.db")
        new.history()
        assert locked(path), f"use {turn}"
        old = new
    old.close()


def test_an_opening_that_fails_keeps_the_lock(tmp_path, monkeypatch):
    ledger = open_ledger(tmp_path)
    monkeypatch.setattr("discreet.privacy.ledger.sqlite.APPLICATION_ID", 1)
    with pytest.raises(LedgerError):
        SqliteStore(tmp_path / "ledger.db")
    assert locked(tmp_path / "ledger.db")
    monkeypatch.undo()
    ledger.close()


def test_the_probe_sees_a_lock_that_was_dropped(tmp_path):
    """The broken twin: one look by hand, and the file is anybody's."""
    ledger = open_ledger(tmp_path)
    by_hand(tmp_path / "ledger.db")
    assert not locked(tmp_path / "ledger.db")
    ledger.close()


def test_a_store_whose_log_was_taken_away_grants_nothing_more(tmp_path):
    """The second wall, should the lock be lost all the same."""
    ledger = open_ledger(tmp_path, "10")
    pay(ledger, "1", "before")
    by_hand(tmp_path / "ledger.db")
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path\n"
        "from ledger_kit import open_ledger, pay\n"
        "ledger = open_ledger(Path(sys.argv[1]), '10'); pay(ledger, '1', 'other'); ledger.close()"
    )
    tests = str(Path(__file__).resolve().parents[3])
    subprocess.run([sys.executable, "-c", program, str(tmp_path), tests], check=True)
    assert not (tmp_path / "ledger.db-wal").exists(), "the log went with the other process"
    with pytest.raises(LedgerTampered, match="log was moved"):
        pay(ledger, "1", "after")
    ledger.close()
    again = open_ledger(tmp_path, "10")
    assert again.spent("census").epsilon == 2
    again.close()


def opened_by_hand(base, act, say) -> None:
    """Say every file of the ledger itself that Python code opens while `act` runs."""
    watching = [False]

    def hook(event: str, arguments: tuple) -> None:
        if watching[0] and event == "open" and os.fspath(arguments[0]) == str(base / "ledger.db"):
            say(f"{arguments[0]}")

    sys.addaudithook(hook)
    first = open_ledger(base)
    watching[0] = True
    act(base)
    watching[0] = False
    first.close()
    say("done")


def use(base) -> None:
    ledger = open_ledger(base)
    ledger.store_answer(pay(ledger, "0.1", "a"), b"answer")
    ledger.verify()
    ledger.backup(base / "copy.db")
    ledger.close()


def test_no_code_of_ours_opens_the_file(tmp_path):
    assert forked(lambda say: opened_by_hand(tmp_path, use, say)).lines() == ["done"]


def test_the_watch_sees_a_hand(tmp_path):
    def act(base) -> None:
        by_hand(base / "ledger.db")

    said = forked(lambda say: opened_by_hand(tmp_path, act, say)).lines()
    assert said == [str(tmp_path / "ledger.db"), "done"]


def charge_in_a_child(ledger, base) -> bool:
    """Return whether a child's charge is there after its parent has closed and it was killed."""

    def work(say) -> None:
        pay(ledger, "1", "child 1")
        say("ready")
        signal.sigwait({signal.SIGUSR1})
        pay(ledger, "1", "child 2")
        say("paid")
        signal.pause()

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    pay(ledger, "1", "parent")
    child = forked(work)
    assert child.pipe.readline() == "ready\n"
    pay(ledger, "1", "parent again")
    ledger.close()  # the last one to close removes the log
    os.kill(child.pid, signal.SIGUSR1)
    assert child.pipe.readline() == "paid\n"
    child.kill()
    child.lines()
    try:
        ledger = open_ledger(base, "10")
    except LedgerTampered:
        return False
    spent = ledger.spent("census").charges
    ledger.close()
    return spent == 4


def test_a_fork_has_locks_of_its_own(tmp_path):
    assert charge_in_a_child(open_ledger(tmp_path, "10"), tmp_path)
    assert kept_under_a_careless_child(open_ledger(tmp_path, "10"), tmp_path)


def test_the_test_of_forks_sees_inherited_locks(tmp_path, monkeypatch):
    """The broken twin: the child goes on with what its parent's SQLite believed."""
    ledger = open_ledger(tmp_path, "10")
    monkeypatch.setattr(sqlite_file, "_files", weakref.WeakSet())
    assert not kept_under_a_careless_child(ledger, tmp_path)


def kept_under_a_careless_child(ledger, base) -> bool:
    """Return whether the log that a child writes to survives its parent's closing."""

    def work(say) -> None:
        mine = open_ledger(base, "10")
        pay(mine, "1", "child")
        say("ready")
        signal.pause()
        mine.close()

    pay(ledger, "1", "parent")
    child = forked(work)
    assert child.pipe.readline() == "ready\n"
    ledger.close()
    kept = (base / "ledger.db-wal").exists()
    child.kill()
    child.lines()
    return kept


def test_a_fork_in_the_middle_of_a_transaction_cannot_use_the_ledger(tmp_path):
    ledger = open_ledger(tmp_path, "10")

    def work(say) -> None:
        for attempt in (lambda: pay(ledger, "1", "child"), lambda: open_ledger(tmp_path, "10")):
            try:
                attempt()
            except LedgerError as error:
                say("refused" if "forked off" in str(error) else error)

    with ledger.session() as session:
        session.append("look", {"dataset": "census", "reason": "a test", "columns": []})
        child = forked(work)
        said = child.lines()
    assert said == ["refused", "refused"]
    assert pay(ledger, "1", "parent").after.epsilon == 1
    ledger.verify()
    ledger.close()


@pytest.fixture
def stranded(monkeypatch):
    """What a child forgets, for this test only."""
    forgotten = []
    monkeypatch.setattr(sqlite_file, "_stranded", set())
    monkeypatch.setattr(sqlite_file, "_forgotten", forgotten)
    yield forgotten
    for connection in forgotten:
        connection.close()


def test_what_was_in_use_at_a_fork_is_neither_closed_nor_used_again(tmp_path, stranded):
    store = SqliteStore(tmp_path / "ledger.db")
    connection = store._file.connection
    store._file.abandon_in_child()
    assert stranded == [connection]
    assert connection.execute("SELECT 1").fetchone() == (1,), "closing it would act on the log"
    for use in (lambda: list(store.links(start=0)), lambda: SqliteStore(tmp_path / "ledger.db")):
        with pytest.raises(LedgerError, match="forked off"):
            use()
    SqliteStore(tmp_path / "other.db").close()


def test_what_was_closed_at_a_fork_may_be_opened_again(tmp_path, stranded):
    store = SqliteStore(tmp_path / "ledger.db")
    store.close()
    store._file.abandon_in_child()
    assert list(store.links(start=0)) == []
    assert stranded == []
    store.close()


def linked_by(base, part):
    os.link(base / f"ledger.db{part}", base / "another name")


@pytest.mark.parametrize("part", ["", "-wal", ".head"])
@pytest.mark.parametrize("used", [True, False], ids=["while in use", "before it is opened"])
def test_a_file_with_a_second_name_is_refused_and_without_it_used(tmp_path, part, used):
    ledger = open_ledger(tmp_path)
    pay(ledger, "0.1", "before")
    if not used:
        if part == "-wal":
            linked_by(tmp_path, part)  # closing removes one of its names
        ledger.close()
    if not (tmp_path / "another name").exists():
        linked_by(tmp_path, part)
    if used or part != "-wal":
        for turn in range(2):
            with pytest.raises(LedgerTampered, match="second name"):
                pay(ledger, "0.1", f"refused {turn}")
            with pytest.raises(LedgerTampered, match="second name"):
                open_ledger(tmp_path)
    (tmp_path / "another name").unlink()
    pay(ledger, "0.1", "after")
    assert ledger.spent("census").charges == 2
    ledger.close()


def test_a_backup_may_have_two_names(tmp_path):
    """Tools that keep many days of backups link what has not changed."""
    ledger = open_ledger(tmp_path)
    ledger.backup(tmp_path / "monday.db")
    os.link(tmp_path / "monday.db", tmp_path / "tuesday.db")
    ledger.close()
    limits, copy = policy("1"), tmp_path / "monday.db"
    Ledger.restore("sqlite:ledger.db", limits, copy, base=tmp_path, reason="test").close()


def test_a_file_that_is_mounted_without_its_folder_is_refused(tmp_path, monkeypatch):
    base, mounts = tmp_path / "a folder", tmp_path / "mountinfo"
    base.mkdir()
    line = "36 35 98:0 /x {} rw,noatime - ext4 /dev/root rw\n"
    name = str(base).replace(" ", "\\040")
    mounts.write_text(line.format("/") + line.format(name))
    monkeypatch.setattr(sqlite_file, "MOUNTS", mounts)
    open_ledger(base).close()  # its folder is mounted: the log and the head with it
    mounts.write_text(line.format("/") + line.format(f"{name}/ledger.db"))
    with pytest.raises(LedgerError, match="mounted by itself"):
        open_ledger(base)
    monkeypatch.setattr(sqlite_file, "MOUNTS", tmp_path / "no such file")
    open_ledger(base).close()


def test_whether_a_ledger_is_used_does_not_depend_on_files_beside_it(tmp_path):
    path = tmp_path / "ledger.db"
    require_unused(path)  # there is none yet
    ledger = open_ledger(tmp_path)
    for each in sorted(tmp_path.iterdir()):
        if each != path:
            each.rename(tmp_path / f"away {each.name}")
    with pytest.raises(LedgerBusy):  # by this process
        require_unused(path)
    assert locked(path), "asking has dropped no lock"

    def look(say) -> None:
        try:
            require_unused(path)
            say("unused")
        except LedgerBusy:
            say("used")

    assert look_from_outside(path) == "used"
    ledger.close()
    assert forked(look).lines() == ["unused"]
    require_unused(path)


def look_from_outside(path) -> str:
    """Ask in a process of its own: a fork closes the ledger first."""
    program = (
        "import sys; from pathlib import Path\n"
        "from discreet.errors import LedgerBusy\n"
        "from discreet.privacy.ledger.sqlite_file import require_unused\n"
        "try: require_unused(Path(sys.argv[1])); print('unused')\n"
        "except LedgerBusy: print('used')"
    )
    asked = [sys.executable, "-c", program, str(path)]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
