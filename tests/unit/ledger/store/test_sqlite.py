from __future__ import annotations

import sqlite3

import pytest

from discreet.errors import LedgerTampered, LedgerWriteFailed, NotALedger
from discreet.ledger.store.base import VERSION, StoredAnswer
from discreet.ledger.store.sqlite import APPLICATION_ID, SqliteStore
from ledger_kit import open_ledger, pay


def make_version_1(path) -> None:
    """Write a ledger as version 1 did: answers without snapshot, and no index over them."""
    source = sqlite3.connect(path)
    source.execute("PRAGMA journal_mode = WAL")
    source.executescript(
        f"""
        CREATE TABLE entries (position BIGINT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL,
            previous TEXT NOT NULL, hash TEXT NOT NULL);
        CREATE TABLE answers (request_id TEXT PRIMARY KEY, position BIGINT NOT NULL,
            analyst TEXT NOT NULL, dataset TEXT NOT NULL, question TEXT NOT NULL,
            payload BLOB NOT NULL, digest TEXT NOT NULL);
        PRAGMA application_id = {APPLICATION_ID};
        PRAGMA user_version = 1;
        """
    )
    source.close()


def version_of(path) -> int:
    connection = sqlite3.connect(path)
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return found


def test_version_1_is_brought_forward(tmp_path):
    new = open_ledger(tmp_path)
    receipt = pay(new, "0.5", "a")
    new.store_answer(receipt, b"kept")
    new.close()
    path = tmp_path / "ledger.db"
    connection = sqlite3.connect(path)
    entries = connection.execute("SELECT * FROM entries").fetchall()
    columns = "request_id, position, analyst, dataset, question, payload, digest"
    answers = connection.execute(f"SELECT {columns} FROM answers").fetchall()
    connection.close()
    path.unlink()
    make_version_1(path)
    connection = sqlite3.connect(path)
    with connection:
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", entries)
        connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", answers)
    connection.close()

    ledger = open_ledger(tmp_path)
    assert ledger.spent("census").charges == 1
    assert ledger.answers(None, "census", "") == [("a", "", b"kept")]
    pay(ledger, "0.5", "b")
    ledger.verify()
    ledger.close()
    assert version_of(path) == VERSION
    open_ledger(tmp_path).close()


def test_a_failed_step_leaves_the_old_version(tmp_path, monkeypatch):
    from discreet.ledger.store import base as store

    path = tmp_path / "ledger.db"
    make_version_1(path)
    broken = (*store.MIGRATIONS[1], "ALTER TABLE nowhere ADD COLUMN x TEXT")
    monkeypatch.setitem(store.MIGRATIONS, 1, broken)
    with pytest.raises(NotALedger):
        SqliteStore(path)
    monkeypatch.undo()
    assert version_of(path) == 1
    SqliteStore(path).close()
    assert version_of(path) == VERSION


@pytest.mark.parametrize("version", [0, VERSION + 1, 99])
def test_an_unknown_version_is_refused(tmp_path, version):
    path = tmp_path / "ledger.db"
    make_version_1(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(NotALedger, match="newer Discreet" if version else "unknown version"):
        SqliteStore(path)


def test_many_may_create_one_ledger_at_once(tmp_path):
    from functools import partial

    from ledger_kit import forked

    def create(name, say) -> None:
        say(pay(open_ledger(tmp_path), "0.1", name).position)

    children = [forked(partial(create, f"c{number}")) for number in range(6)]
    assert sorted(int(child.lines()[0]) for child in children) == [2, 3, 4, 5, 6, 7]


def test_a_file_of_somebody_else_is_refused_and_left_as_it_was(tmp_path):
    path = tmp_path / "theirs.db"
    for statement in ("CREATE TABLE t (a)", "PRAGMA application_id = 7"):
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        connection.execute(statement)
        connection.commit()
        connection.close()
        before = path.read_bytes()
        with pytest.raises(NotALedger, match="left untouched"):
            SqliteStore(path, shared=False)
        assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_said_in_one_sentence(tmp_path):
    for shared in (True, False):
        with pytest.raises(LedgerWriteFailed, match="cannot be opened for writing"):
            SqliteStore(tmp_path / "missing" / "ledger.db", shared=shared)


def test_a_claim_where_nothing_can_be_written_is_no_claim(tmp_path, monkeypatch):
    store = SqliteStore(tmp_path / "ledger.db")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("discreet.ledger.store.running.claim", full)
    with pytest.raises(LedgerWriteFailed):
        store.claim(3)
    store.close()


def test_a_payload_of_another_type_is_damage():
    """A damaged record may come back as text or as a number."""
    facts = {"request_id": "a", "position": 1, "analyst": "", "dataset": "d", "question": ""}
    for payload in ("text", 7, None):
        with pytest.raises(LedgerTampered, match="'a' is damaged"):
            StoredAnswer(**facts, payload=payload, digest="", snapshot="").checked()
