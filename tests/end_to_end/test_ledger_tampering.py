"""Security test 18: an old copy is refused, and every flipped byte of the history is found."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest

from discreet.errors import DiscreetError, InvalidInput, LedgerError, LedgerTampered, NotALedger
from discreet.privacy.ledger import Ledger
from ledger_kit import as_a_new_process, open_ledger, pay, policy
from sittings import FULL

FLIPS = 1_000 if FULL else 100


@pytest.fixture
def base(tmp_path):
    """A folder with a closed ledger of ten charges."""
    folder = tmp_path / "live"
    folder.mkdir()
    ledger = open_ledger(folder, "10")
    for turn in range(10):
        receipt = pay(ledger, "1/10", f"r{turn}")
        ledger.store_answer(receipt, b"answer %d" % turn)
    ledger.close()
    return folder


def copy(base, name="copy"):
    target = base.parent / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target)
    return target


def history(base):
    ledger = open_ledger(base, "10")
    try:
        return ledger.history()
    finally:
        ledger.close()


def test_an_old_copy_of_the_file_is_refused(base):
    old = (base / "ledger.db").read_bytes()
    ledger = open_ledger(base, "10")
    pay(ledger, "1/10", "later")
    ledger.close()
    (base / "ledger.db").write_bytes(old)
    with pytest.raises(
        LedgerTampered, match="old copy: it ends at entry 21, but its head is at 22"
    ):
        open_ledger(base, "10")


def test_an_old_copy_that_was_continued_is_refused(base):
    """As many entries as the true one, but other ones."""
    other = copy(base)
    for folder, name in ((base, "mine"), (other, "theirs")):
        as_a_new_process()
        ledger = open_ledger(folder, "10")
        pay(ledger, "1/10", name)
        ledger.close()
    shutil.copy(other / "ledger.db", base / "ledger.db")
    with pytest.raises(LedgerTampered, match="not the one that its head file belongs to"):
        open_ledger(base, "10")


def test_a_lost_log_is_refused(base):
    """Copying ledger.db without its -wal file loses what was not yet moved over."""
    ledger = open_ledger(base, "10")
    pay(ledger, "1/10", "in the log")
    other = base.parent / "partial"
    other.mkdir()
    for name in ("ledger.db", "ledger.db.head"):
        shutil.copy(base / name, other / name)
    ledger.close()
    with pytest.raises(LedgerTampered, match="old copy"):
        open_ledger(other, "10")


def test_a_missing_head_is_refused(base):
    (base / "ledger.db.head").unlink()
    with pytest.raises(LedgerTampered, match=r"head file 'ledger\.db\.head' is missing"):
        open_ledger(base, "10")


def test_a_missing_ledger_with_a_head_is_refused(base):
    (base / "ledger.db").unlink()
    with pytest.raises(LedgerTampered, match="is missing, but its head file"):
        open_ledger(base, "10")
    assert not (base / "ledger.db").exists()


def test_a_ledger_replaced_while_in_use_is_noticed(base):
    ledger = open_ledger(base, "10")
    old = (base / "ledger.db").read_bytes()
    pay(ledger, "1/10", "seen")
    (base / "ledger.db").unlink()
    with pytest.raises(LedgerTampered, match="moved or replaced"):
        pay(ledger, "1/10", "gone")
    (base / "ledger.db").write_bytes(old)
    with pytest.raises(LedgerTampered, match="moved or replaced"):
        pay(ledger, "1/10", "replaced")


def test_a_history_cut_while_in_use_is_noticed(base):
    ledger = open_ledger(base, "10")
    other = sqlite3.connect(base / "ledger.db")
    with other:
        other.execute("DELETE FROM entries WHERE position >= 9")
    other.close()
    with pytest.raises(LedgerTampered, match="old copy"):
        pay(ledger, "1/10", "after the cut")
    ledger.close()


def test_every_flipped_byte_of_the_history_is_found(base, record_property):
    """Flips of single bytes inside the stored entries, wherever they lie in the file."""
    whole = (base / "ledger.db").read_bytes()
    spots = _bytes_of_entries(base, whole)
    assert len(spots) > 5_000
    rng = random.Random(18)
    found = 0
    for spot in rng.sample(spots, FLIPS):
        spoiled = bytearray(whole)
        spoiled[spot] ^= 1 << rng.randrange(8)
        target = copy(base)
        (target / "ledger.db").write_bytes(bytes(spoiled))
        with pytest.raises(LedgerError):
            open_ledger(target, "10")
        found += 1
    assert found == FLIPS
    record_property("flipped bytes, all found", found)


def _bytes_of_entries(base, whole: bytes) -> list[int]:
    """Return the offset of every byte of every text of every entry."""
    connection = sqlite3.connect(base / "ledger.db")
    rows = connection.execute("SELECT kind, body, previous, hash FROM entries").fetchall()
    connection.close()
    spots = set()
    for row in rows:
        text = "".join(row).encode()  # the columns of a row lie side by side in its record
        start = whole.find(text)
        assert start >= 0
        spots.update(range(start, start + len(text)))
    return sorted(spots)


def test_any_flip_in_the_file_is_found_or_changes_nothing(base):
    """Anywhere in the file: either it is refused, or what the ledger says is what it said."""
    whole = (base / "ledger.db").read_bytes()
    truth = history(base)
    rng = random.Random(19)
    refused = 0
    for _ in range(FLIPS):
        spoiled = bytearray(whole)
        spoiled[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        target = copy(base)
        (target / "ledger.db").write_bytes(bytes(spoiled))
        try:
            assert history(target) == truth
        except DiscreetError:
            refused += 1
    assert refused > FLIPS // 10


def test_a_rewritten_chain_with_right_hashes_is_found_by_the_head(base):
    """Whoever can compute SHA-256 can write a consistent history, but not the head outside."""
    from discreet.base.proof import ROOT
    from discreet.privacy.ledger.entry import link
    from discreet.privacy.ledger.sqlite import SqliteStore

    store = SqliteStore(base / "ledger.db")
    kept, previous = [], ROOT
    import json

    for item in store.links(start=0):
        data = json.loads(item.body)
        if data.get("request_id") == "r4":
            continue
        kept.append(link(len(kept), item.kind, data, previous=previous))
        previous = kept[-1].hash
    with store.exclusive() as writer:
        writer.erase()
        for item in kept:
            writer.append(item)
    store.close()
    with pytest.raises(LedgerTampered):
        open_ledger(base, "10")


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 99, b"x"])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "ledger.db").write_bytes(content)
    with pytest.raises(NotALedger, match="is not a ledger of Discreet"):
        open_ledger(tmp_path)
    assert (tmp_path / "ledger.db").read_bytes() == content


def test_somebody_elses_database_is_refused_and_left_alone(tmp_path):
    connection = sqlite3.connect(tmp_path / "ledger.db")
    connection.execute("CREATE TABLE entries (position INTEGER)")
    connection.commit()
    connection.close()
    before = (tmp_path / "ledger.db").read_bytes()
    with pytest.raises(NotALedger, match="left untouched"):
        open_ledger(tmp_path)
    assert (tmp_path / "ledger.db").read_bytes() == before


def test_a_crash_at_birth_leaves_a_ledger_that_opens(tmp_path):
    (tmp_path / "ledger.db").write_bytes(b"")
    ledger = open_ledger(tmp_path)
    ledger.close()
    (tmp_path / "ledger.db.head").unlink()  # the crash came before the first head
    ledger = open_ledger(tmp_path)
    pay(ledger, "1", "a")
    ledger.close()


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    with pytest.raises(LedgerError, match="cannot be opened for writing"):
        open_ledger(tmp_path / "nowhere")


@pytest.mark.parametrize("url", ["", "sqlite:", "mysql://x", "ledger.db"])
def test_an_unknown_address_is_one_sentence(tmp_path, url):
    with pytest.raises(InvalidInput, match="address"):
        Ledger.open(url, policy(), base=tmp_path)
