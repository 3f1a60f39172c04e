"""Every file of a ledger deleted, cut, rolled back, replaced or linked: refused, or harmless.

Harmless: over all processes that use it, what was ever granted stays within the limit. Real processes:
forks that connect by themselves, told what to do through a pipe.
"""

from __future__ import annotations

import itertools
import os
import shutil
from contextlib import contextmanager, suppress

import pytest

from discreet.errors import DiscreetError
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.sqlite import SqliteStore
from ledger_kit import forked, open_ledger, pay, policy

PARTS = ("", "-wal", "-shm", ".head", ".head.lock", ".users", ".running")
PATIENCE = 3.0
LIMIT = 10
"""Tenths; so is what is paid below."""


class Teller:
    """A process that uses the ledger in `base` until the end, and what it was granted."""

    def __init__(self, base):
        reading, self._orders = os.pipe()

        def work(say):
            os.close(self._orders)
            # Locks that a damage leaves behind for good are not waited for a minute.
            SqliteStore.__init__.__kwdefaults__["busy_seconds"] = PATIENCE
            kept = []
            with os.fdopen(reading) as orders:
                for order in orders:
                    word, *rest = order.split()
                    say(_done(base, kept, word, rest))

        self._child = forked(work)
        os.close(reading)

    def told(self, order):
        """Return "ok", or the kind of the refusal, or nothing once it has died.

        A process dies by SIGBUS where a file is cut that SQLite has mapped into its memory (-shm).
        """
        with suppress(BrokenPipeError):
            os.write(self._orders, f"{order}\n".encode())
        return self._child.pipe.readline().strip()

    def end(self):
        os.close(self._orders)
        with self._child.pipe:
            os.waitpid(self._child.pid, 0)


def _done(base, kept, word, rest):
    try:
        if word == "restore":
            backup = base.parent / rest[0]
            url, limits = "sqlite:ledger.db", policy("1")
            Ledger.restore(url, limits, backup, base=base, reason="test").close()
            return "ok"
        if word == "reload" or not kept:
            kept.append(open_ledger(base))
        if word == "pay":
            pay(kept[-1], f"{rest[1]}/10", rest[0])
        if word == "backup":
            kept[-1].backup(base.parent / rest[0])
    except DiscreetError as error:
        return error.kind
    except BaseException as error:
        return f"RAW {type(error).__name__} {error}"
    return "ok"


@contextmanager
def tellers(base):
    """Lend a function that makes processes, which end with the block."""
    made = []

    def new():
        made.append(Teller(base))
        return made[-1]

    try:
        yield new
    finally:
        for each in reversed(made):  # a later one was forked with the pipes of those before
            each.end()


class Granted:
    """What was granted in tenths, to whomever."""

    def __init__(self):
        self.tenths = 0
        self.said = []

    def ask(self, teller, name, tenths):
        found = teller.told(f"pay {name} {tenths}")
        assert not found.startswith("RAW"), found
        self.tenths += tenths if found == "ok" else 0
        self.said.append(found)
        assert self.tenths <= LIMIT, (name, self.said)
        return found


def file_of(base, part):
    return base / f"ledger.db{part}"


def snapshot(base):
    shutil.copytree(base, base.parent / "old")


def older_of(base, part):
    return base.parent / "old" / f"ledger.db{part}"


def deleted(base, part):
    file_of(base, part).unlink(missing_ok=True)


def emptied(base, part):
    file_of(base, part).write_bytes(b"")


def rolled_back(base, part):
    if older_of(base, part).exists():
        file_of(base, part).write_bytes(older_of(base, part).read_bytes())


def replaced(base, part):
    if older_of(base, part).exists():
        new = base / "new"
        shutil.copy(older_of(base, part), new)
        new.replace(file_of(base, part))


def linked(base, part):
    if file_of(base, part).exists():
        os.link(file_of(base, part), base.parent / "another name")


def moved_and_linked(base, part):
    if file_of(base, part).exists():
        away = base.parent / "away"
        file_of(base, part).rename(away)
        file_of(base, part).symlink_to(away)


DAMAGES = (deleted, emptied, rolled_back, replaced, linked, moved_and_linked)


@pytest.fixture
def base(tmp_path):
    folder = tmp_path / "live"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("part", PARTS)
def test_one_file_under_a_running_process(base, part, damage):
    with tellers(base) as new:
        granted, server = Granted(), new()
        granted.ask(server, "first", 3)
        snapshot(base)
        granted.ask(server, "second", 3)
        damage(base, part)
        granted.ask(server, "third", 3)
        other = new()
        granted.ask(other, "fourth", 3)
        granted.ask(server, "fifth", 3)
        server.told("reload")
        for name in ("sixth", "seventh"):
            granted.ask(server, name, 3)
            granted.ask(other, f"{name}-there", 3)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("part", PARTS)
def test_one_file_before_a_process_begins(base, part, damage):
    granted = Granted()
    with tellers(base) as new:
        before = new()
        granted.ask(before, "first", 3)
        snapshot(base)
        granted.ask(before, "second", 3)
    damage(base, part)
    with tellers(base) as new:
        one, other = new(), new()
        for name in ("third", "fourth", "fifth"):
            granted.ask(one, name, 3)
            granted.ask(other, f"{name}-there", 3)


@pytest.mark.parametrize("how", [rolled_back, replaced, deleted], ids=lambda each: each.__name__)
@pytest.mark.parametrize("reload", [False, True])
def test_all_files_together_under_a_running_process(base, how, reload):
    """The head outside goes back with the ledger; who was there remembers."""
    with tellers(base) as new:
        granted, server = Granted(), new()
        granted.ask(server, "first", 3)
        snapshot(base)
        granted.ask(server, "second", 6)
        for part in PARTS:
            how(base, part)
        if reload:
            assert server.told("reload") == "LedgerTampered"
        assert granted.ask(server, "third", 3) == "LedgerTampered"
        assert granted.ask(server, "fourth", 1) == "LedgerTampered"


def test_all_files_put_back_to_after_a_charge_and_before_its_look(base):
    """Nothing is cheaper then, but a charge would be looked at twice."""
    ledger = open_ledger(base)
    receipt = pay(ledger, "1/10", "first")
    snapshot(base)
    assert ledger.outcomes.take(receipt)
    for part in PARTS:
        rolled_back(base, part)
    with pytest.raises(DiscreetError, match="earlier state"):
        ledger.outcomes.take(pay(ledger, "1/10", "first"))
    ledger.close()


def test_a_ledger_of_two_names_is_not_granted_twice(base):
    """All its files linked into another folder: two ledgers, by their names, with one history so far."""
    twin = base.parent / "twin"
    twin.mkdir()
    granted = Granted()
    with tellers(base) as new:
        granted.ask(new(), "first", 3)
    for part in PARTS:
        if file_of(base, part).exists():
            os.link(file_of(base, part), twin / f"ledger.db{part}")
    with tellers(base) as new, tellers(twin) as another:
        assert granted.ask(new(), "second", 6) == "LedgerTampered"
        assert granted.ask(another(), "second", 6) == "LedgerTampered"
    shutil.rmtree(twin)
    with tellers(base) as new:
        assert granted.ask(new(), "second", 6) == "ok"


@pytest.mark.parametrize(
    "gone",
    [(part,) for part in PARTS] + list(itertools.combinations(PARTS, 2)),
    ids=" ".join,
)
def test_a_restore_beside_a_running_process(base, gone):
    with tellers(base) as new:
        granted, server = Granted(), new()
        granted.ask(server, "first", 3)
        assert server.told("backup monday.db") == "ok"
        granted.ask(server, "second", 3)
        for part in gone:
            deleted(base, part)
        found = new().told("restore monday.db")
        assert not found.startswith("RAW"), found
        if "" not in gone:
            assert found == "LedgerBusy"
        granted.ask(server, "third", 3)
        granted.ask(new(), "fourth", 3)
        granted.ask(server, "fifth", 3)
        granted.ask(new(), "sixth", 1)


def test_a_restore_is_taken_by_a_process_that_was_away_meanwhile(base):
    """The other side: nothing is refused where nothing was lost, or what was lost stays spent."""
    ledger = open_ledger(base)
    pay(ledger, "3/10", "first")
    ledger.backup(base.parent / "monday.db")
    pay(ledger, "3/10", "second")
    ledger.close()
    with tellers(base) as new:
        assert new().told("restore monday.db") == "ok"
    pay(ledger, "3/10", "third")
    with pytest.raises(DiscreetError, match="budget"):
        pay(ledger, "3/10", "fourth")
    ledger.close()
