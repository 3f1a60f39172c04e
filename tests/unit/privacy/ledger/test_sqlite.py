from __future__ import annotations

import sqlite3

import pytest

from discreet.errors import LedgerTampered, LedgerWriteFailed, NotALedger
from discreet.privacy.ledger.sqlite import SqliteStore
from discreet.privacy.ledger.store import VERSION, StoredAnswer
from ledger_kit import open_ledger, pay


@pytest.mark.parametrize("version", [0, 1, VERSION + 1, 99])
def test_an_unknown_version_is_refused(tmp_path, version):
    path = tmp_path / "ledger.db"
    SqliteStore(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(NotALedger, match="newer Discreet" if version > 1 else "unknown version"):
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

    monkeypatch.setattr("discreet.privacy.ledger.sqlite.claim", full)
    with pytest.raises(LedgerWriteFailed):
        store.claim(3)
    store.close()


def test_a_payload_of_another_type_is_damage():
    """A damaged record may come back as text or as a number."""
    facts = {"request_id": "a", "position": 1, "analyst": "", "dataset": "d", "question": ""}
    for payload in ("text", 7, None):
        with pytest.raises(LedgerTampered, match="'a' is damaged"):
            StoredAnswer(**facts, payload=payload, digest="", snapshot="").checked()
