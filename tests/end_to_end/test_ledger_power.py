"""Security tests 3 and 19: power lost at every write point, and every write failing in turn.

What this shows: the product's own sequence of writes and syncs, recorded under SQLite and under
the head file, leaves at every prefix a state that opens and holds each acknowledged charge, when
unsynced writes are dropped or kept at random. It trusts the disk to keep what it has synced.
"""

from __future__ import annotations

import os
import random
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from checkpoint_kit import differences
from discreet.errors import DiscreetError, LedgerWriteFailed
from discreet.privacy.ledger import checkpoint
from discreet.privacy.ledger import session as session_module
from ledger_kit import as_a_new_process, open_ledger, pay
from sittings import FULL
from sqlite_shim import Disk, after_power_loss, shimmed

LIMIT = "1000"
CHARGES = 60 if FULL else 5
FAILURES = 500 if FULL else 60


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory where there is one: the syncs are simulated here, not needed."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def checkpoints(monkeypatch):
    """A checkpoint after every three entries."""
    monkeypatch.setattr(checkpoint, "LEAST", 3)
    monkeypatch.setattr(session_module, "PAUSE", 1)


def record(base, *, synchronous: str) -> list[tuple]:
    """Return the log of a short life: birth, charges, stored answers, a few checkpoints."""
    disk = Disk()
    base.mkdir()
    with shimmed(disk):
        ledger = open_ledger(base, LIMIT)
        ledger._store._file.connection.execute("PRAGMA wal_autocheckpoint = 6")
        ledger._store._file.connection.execute(f"PRAGMA synchronous = {synchronous}")
        for turn in range(CHARGES):
            receipt = pay(ledger, "1/10", f"r{turn}")
            disk.note("charged", f"r{turn}")
            ledger.store_answer(receipt, f"answer {turn}".encode())
            disk.note("told", f"r{turn}")
        ledger.close()
    return disk.log


def lost(log: list[tuple], base, rng: random.Random | None) -> list[str]:
    """Return what was acknowledged in `log` and is not there after the power fails."""
    files = after_power_loss(log, rng)
    base.mkdir()
    for name, content in files.items():
        (base / name).write_bytes(content)
    acknowledged = [(kind, *facts) for kind, *facts in log if kind in ("charged", "told")]
    as_a_new_process()
    try:
        ledger = open_ledger(base, LIMIT)
    except DiscreetError as error:
        return [f"refused: {error}"]
    charged = {e.data["request_id"] for e in ledger.history() if e.kind == "charge"}
    missing = [f"{kind} {name}" for kind, name in acknowledged if name not in charged]
    for kind, name in acknowledged:
        if kind == "told" and ledger.stored_answer(name) is None:
            missing.append(f"answer {name}")
    ledger.close()
    return missing


def points(log: list[tuple]) -> range:
    return range(1, len(log) + 1)


def test_power_loss_at_every_write_point_loses_nothing_acknowledged(tmp_path, record_property):
    log = record(tmp_path / "live", synchronous="FULL")
    kinds = {kind for kind, *_ in log}
    assert {"write", "sync", "sync folder", "charged", "told"} <= kinds
    assert any(kind == "write" and facts[0] == "ledger.db" for kind, *facts in log), "a checkpoint"
    for point in points(log):
        assert lost(log[:point], tmp_path / f"drop{point}", None) == [], point
        seeded = random.Random(point)
        assert lost(log[:point], tmp_path / f"some{point}", seeded) == [], point
    record_property("losses of power, 0 acknowledged charges lost", 2 * len(log))


def wrong(log: list[tuple], base, rng: random.Random | None) -> tuple[list, bool]:
    """Return what is lost or known otherwise after the power fails, and whether a checkpoint was used."""
    found = list(lost(log, base, rng))
    ledger = open_ledger(base, LIMIT)
    used = ledger._kept.accounts.past is not None
    found += differences(ledger)
    ledger.close()
    return found, used


def test_power_lost_while_a_checkpoint_is_made_is_harmless(tmp_path, checkpoints, record_property):
    """At every write, sync and naming of its files: what opens is what the whole history says."""
    log = record(tmp_path / "live", synchronous="FULL")
    named = [facts[0] for kind, *facts in log if kind == "sync"]
    assert {"part", "checkpoint"} <= {name.split("-")[0].rpartition(".")[2] for name in named}
    used = 0
    beside = [at for at, step in enumerate(log) if ".head" in str(step[1:2])]
    near = {at + more for at in beside for more in (0, 1)}
    for point in [point for point in points(log) if point in near]:
        for rng in (None, random.Random(point)) if FAILURES > 60 or point % 2 else (None,):
            with _no_new_ones():
                found, rests = wrong(log[:point], tmp_path / f"{point}{rng is None}", rng)
            assert found == [], point
            used += rests
    assert used > 20
    record_property("losses of power around checkpoints, 0 wrong", 2 * len(near))


@contextmanager
def _no_new_ones():
    """What is opened after the loss is what was left behind."""
    least, checkpoint.LEAST = checkpoint.LEAST, 10**9
    try:
        yield
    finally:
        checkpoint.LEAST = least


@pytest.mark.parametrize("synchronous", ["NORMAL", "OFF"])
def test_the_shim_catches_a_twin_that_does_not_sync(tmp_path, synchronous):
    """kill -9 cannot tell these from the real one; a loss of power can."""
    log = record(tmp_path / "live", synchronous=synchronous)
    told = [point for point in points(log) if log[point - 1][0] in ("charged", "told")]
    assert any(lost(log[:point], tmp_path / f"drop{point}", None) for point in told)


@pytest.mark.parametrize("least", [3, checkpoint.LEAST])
def test_a_write_that_fails_answers_nothing_uncharged(
    tmp_path, monkeypatch, least, record_property
):
    """Step 1, 2, ... fails, and all after it: nothing is acknowledged that is not there, the words
    are ours, and when the disk works again every request can be repeated, charged once."""
    monkeypatch.setattr(checkpoint, "LEAST", least)
    monkeypatch.setattr(session_module, "PAUSE", 1)
    failed = 0
    for step in range(1, FAILURES + 1):
        base = tmp_path / str(step)
        base.mkdir()
        acknowledged = _until_failure(base, step)
        failed += acknowledged is not None
        ledger = open_ledger(base, LIMIT)
        charged = [e.data["request_id"] for e in ledger.history() if e.kind == "charge"]
        assert len(charged) == len(set(charged))
        for kind, name in acknowledged or []:
            assert name in charged, (step, kind, name)
            assert kind == "charged" or ledger.stored_answer(name) == b"told"
        for turn in range(6):
            receipt = pay(ledger, "1/10", f"r{turn}")
            ledger.store_answer(receipt, b"told")
        assert ledger.spent("census").charges == 6
        assert ledger.verify() == 14  # each answer is an entry, too
        ledger.close()
    assert failed > 30
    record_property("failing writes, 0 uncharged answers", failed)


def _until_failure(base, step: int) -> list[tuple[str, str]] | None:
    """Return what was acknowledged before the failure; None if nothing failed."""
    acknowledged: list[tuple[str, str]] = []
    with shimmed(Disk(fail_at=step)):
        ledger = None
        try:
            ledger = open_ledger(base, LIMIT)
            ledger._store._file.connection.execute("PRAGMA wal_autocheckpoint = 4")
            for turn in range(6):
                receipt = pay(ledger, "1/10", f"r{turn}")
                acknowledged.append(("charged", f"r{turn}"))
                assert ledger.store_answer(receipt, b"told") == b"told"
                acknowledged.append(("told", f"r{turn}"))
        except LedgerWriteFailed:
            return acknowledged
        finally:
            if ledger is not None:
                ledger.close()
    return None
