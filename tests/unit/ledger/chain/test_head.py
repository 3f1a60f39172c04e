from __future__ import annotations

import random
from fractions import Fraction

import pytest

from discreet.core.cost import Cost
from discreet.errors import LedgerTampered, LedgerWriteFailed
from discreet.ledger.chain import head as module
from discreet.ledger.chain.head import SLOT, Head, HeadFile

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
