from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.base.event import Cost
from discreet.errors import LedgerTampered, LedgerWriteFailed
from discreet.privacy.ledger import head as module
from discreet.privacy.ledger.head import SLOT, Head, HeadFile

COST = Cost(Fraction(1, 3), Fraction(0), None, Fraction(1, 10**9))


def head(position: int, accounts: int = 1) -> Head:
    totals = {("budget", None if n == 0 else f"analyst {n}"): COST for n in range(accounts)}
    return Head("a" * 64, position, f"{position:064x}", totals)


@pytest.fixture
def file(tmp_path):
    return HeadFile(tmp_path / "ledger.db.head")


def test_no_file_is_no_head(file):
    assert file.read() is None


def test_it_reads_what_it_wrote(file):
    for position in range(5):
        file.advance(head(position, accounts=3))
        assert file.read() == head(position, accounts=3)


def test_it_never_goes_back_by_itself(file):
    file.advance(head(7))
    file.advance(head(6))
    assert file.read().position == 7
    with file.locked():
        file.write(head(2))
    assert file.read().position == 2


def test_it_grows_with_the_number_of_accounts(file):
    file.advance(head(1))
    file.advance(head(2, accounts=200))
    assert file.read() == head(2, accounts=200)
    assert file.path.stat().st_size > 2 * SLOT


def test_a_torn_write_leaves_the_one_before(file):
    file.advance(head(1))
    file.advance(head(2))
    whole = file.path.read_bytes()
    file.advance(head(3))
    after = file.path.read_bytes()
    changed = [i for i in range(len(whole)) if whole[i] != after[i]]
    assert changed
    for cut in changed:
        file.path.write_bytes(after[:cut] + whole[cut:])
        assert file.read().position in (2, 3)


def test_every_flip_is_noticed_or_harmless(file):
    """A flip in one slot falls back to the other; flips in both are refused."""
    file.advance(head(1))
    file.advance(head(2))
    whole = file.path.read_bytes()
    used = len(head(2).to_bytes())
    rng = random.Random(5)
    for _ in range(200):
        spoiled = bytearray(whole)
        for slot in (0, 1):
            spoiled[slot * SLOT + rng.randrange(used - 1)] ^= 1 << rng.randrange(8)
        file.path.write_bytes(bytes(spoiled))
        with pytest.raises(LedgerTampered, match="head file"):
            file.read()


@pytest.mark.parametrize(
    "other",
    [
        {"totals": [["budget", None, {}]]},
        {"totals": [["budget", None, COST.to_json() | {"delta": "x"}]]},
        {"totals": [["budget", None, COST.to_json() | {"delta": "1/0"}]]},
        {"totals": [["budget", None, COST.to_json() | {"delta": 1}]]},
        {"totals": 5},
        {"totals": [["budget"]]},
        {"totals": None},
    ],
)
def test_a_head_with_a_checksum_and_nonsense_is_damaged(file, other):
    """A checksum is no secret: whoever can write the file can make one."""
    data = json.loads(head(3).to_bytes()) | other
    del data["check"]
    text = module.canonical(data | {"check": module._check(data)}).encode()
    file.path.write_bytes(text.ljust(SLOT) * 2)
    with pytest.raises(LedgerTampered, match="damaged"):
        file.read()


@pytest.mark.parametrize("content", [b"", b"\n", b"{}", b"[]" * 10, b"\xff" * 8192, b"null" * 2048])
def test_another_file_is_refused(file, content):
    file.path.write_bytes(content)
    with pytest.raises(LedgerTampered):
        file.read()
    with pytest.raises(LedgerTampered):
        file.advance(head(1))


@pytest.mark.parametrize("step", ["pwrite", "fdatasync", "open"])
def test_a_failing_disk_is_said_in_one_sentence(file, monkeypatch, step):
    file.advance(head(1))

    def fail(*arguments, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, step, fail)
    with pytest.raises(LedgerWriteFailed, match="nothing is answered"):
        file.advance(head(2))
    monkeypatch.undo()
    assert file.read().position in (1, 2)


def test_what_cannot_be_read_is_damaged_and_not_missing(file):
    file.path.mkdir()
    with pytest.raises(LedgerTampered, match="is damaged"):
        file.read()


@pytest.mark.parametrize("step", ["announce", "advance", "name_checkpoint"])
def test_nothing_is_written_over_a_head_that_nobody_can_read(file, step):
    file.path.write_bytes(b"x" * 2 * SLOT)
    with pytest.raises(LedgerTampered, match="is damaged"):
        getattr(file, step)(head(9).naming(9, "d"))
    assert file.path.read_bytes() == b"x" * 2 * SLOT


def announcing(position: int) -> Head:
    return replace(head(position), announced="c" * 64)


def test_an_announcement_counts_until_something_later_is_written(file):
    file.advance(head(1))
    file.announce(announcing(1))
    assert file.read() == announcing(1)
    file.announce(replace(announcing(1), announced="d" * 64))
    assert file.read().announced == "d" * 64
    assert [slot.announced for slot in file.slots()].count("") == 1, "there is one at a time"
    file.advance(head(2))
    assert file.read() == head(2)


def test_a_checkpoint_stays_named_while_the_head_goes_on(file):
    file.advance(head(1))
    assert file.name_checkpoint(head(1).naming(1, "d"))
    for position in (2, 3, 4):
        file.advance(head(position))
        assert file.read() == head(position).naming(1, "d")
    file.announce(announcing(4))
    assert file.read().checkpoint == (1, "d")
    with file.locked():
        file.write(head(5))
    assert file.read().checkpoint is None


def test_naming_a_checkpoint_takes_the_head_no_way_back(file):
    file.advance(head(5))
    assert file.name_checkpoint(head(3).naming(3, "d"))
    assert file.read() == head(5).naming(3, "d")
    assert file.name_checkpoint(head(8).naming(8, "e"))
    assert file.read() == head(8).naming(8, "e")


def test_no_checkpoint_is_named_for_another_ledger_or_while_something_is_announced(file):
    file.advance(head(5))
    other = replace(head(5), ledger="b" * 64)
    assert not file.name_checkpoint(other.naming(5, "d"))
    file.announce(announcing(5))
    assert not file.name_checkpoint(head(5).naming(5, "d"))
    assert file.read() == announcing(5)


def test_the_lock_of_a_copy_may_be_gone_already(file):
    with file.locked():
        assert file.path.with_name(file.path.name + ".lock").exists()
    file.remove_lock()
    assert not file.path.with_name(file.path.name + ".lock").exists()
    file.remove_lock()


def spoilt(file, at: int) -> bytes:
    """Spoil one slot; return what was there."""
    content = bytearray(file.path.read_bytes())
    half = len(content) // 2
    before = bytes(content)
    content[at * half : at * half + 9] = b"nonsense!"
    file.path.write_bytes(content)
    return before


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("step", ["announce", "advance", "name_checkpoint"])
def test_what_is_written_next_goes_to_the_slot_that_is_spoilt(file, step, at):
    for position in (0, 1):
        file.advance(head(position))
    spoilt(file, at)
    (good,) = file.slots()
    new = head(good.position + 1)
    getattr(file, step)(new.naming(new.position, "d") if step == "name_checkpoint" else new)
    assert len(file.slots()) == 2
    assert good in file.slots(), "whatever happens to the new one, this one is still there"
    assert file.read().position == new.position


def test_the_first_entry_has_a_head_like_any_other(file):
    file.advance(head(0))
    file.advance(head(0))
    assert file.read() == head(0)
    assert file.name_checkpoint(head(0).naming(0, "d"))
    assert file.read() == head(0).naming(0, "d")


def test_a_write_that_is_cut_short_is_said(file, monkeypatch):
    file.advance(head(1))
    monkeypatch.setattr(module.os, "pwrite", lambda _file, content, _offset: len(content) - 1)
    with pytest.raises(LedgerWriteFailed):
        file.advance(head(2))
    monkeypatch.undo()
    assert file.read() == head(1)
