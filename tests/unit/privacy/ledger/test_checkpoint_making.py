"""When a checkpoint is made and merged, and which one is believed: the last entry it names must be stored."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from checkpoint_kit import checkpointed, differences
from discreet.errors import EngineFailed, LedgerTampered
from discreet.privacy.ledger import checkpoint
from discreet.privacy.ledger.head import HeadFile
from discreet.privacy.ledger.history import load
from ledger_kit import WOMEN, open_ledger, pay


@pytest.fixture
def ledger(tmp_path):
    """A ledger of 12 entries: its first, a limit, and ten charges."""
    made = open_ledger(tmp_path, "100")
    for turn in range(10):
        pay(made, "1/10", f"r{turn}")
    yield made
    made.close()


def rests_on(ledger) -> int | None:
    accounts = load(ledger._store)
    return accounts.past.position if accounts.past else None


def parts(ledger) -> list[int]:
    """Return how many records each part has."""
    return [part.facts.records for part in load(ledger._store).past.parts]


def head(ledger) -> HeadFile:
    return HeadFile(ledger._store.head_path)


def sql(ledger, statement: str, *values) -> None:
    """Change the store behind the ledger's back."""
    ledger.close()
    with sqlite3.connect(ledger._store._path) as connection:
        connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize(("least", "due"), [(11, True), (12, True), (13, False)])
def test_one_is_due_once_there_are_so_many_entries(ledger, monkeypatch, least, due):
    monkeypatch.setattr(checkpoint, "LEAST", least)
    assert checkpoint.due(load(ledger._store)) is due


def test_entries_are_counted_from_the_last_one(ledger, monkeypatch):
    monkeypatch.setattr(checkpoint, "LEAST", 3)
    assert checkpointed(ledger)
    for turn in range(3):
        assert not checkpoint.due(load(ledger._store))
        pay(ledger, "1/10", f"more {turn}")
    assert checkpoint.due(load(ledger._store))


def test_none_is_due_amid_charges_that_are_made_together(ledger, monkeypatch):
    monkeypatch.setattr(checkpoint, "LEAST", 1)
    accounts = load(ledger._store)
    accounts.run = (accounts.position, 2)
    assert not checkpoint.due(accounts)


def test_only_one_process_makes_one_at_a_time(ledger):
    accounts = load(ledger._store)
    with checkpoint._only_one(ledger._store.head_path) as mine:
        assert mine
        assert checkpoint.make(ledger._store, accounts) is False
    assert accounts.past is None
    assert rests_on(ledger) is None
    assert checkpoint.make(ledger._store, accounts) is True
    assert accounts.past.position == rests_on(ledger) == 11


def test_a_book_is_overtaken_by_a_later_checkpoint_only(ledger):
    older = load(ledger._store)
    assert checkpointed(ledger)
    accounts = load(ledger._store)
    assert checkpoint.overtaken(ledger._store, older)
    assert not checkpoint.overtaken(ledger._store, accounts), "it rests on that very one"
    pay(ledger, "1/10", "more")
    assert checkpointed(ledger)
    assert checkpoint.overtaken(ledger._store, accounts)


def test_parts_are_merged_up_to_a_largest_one(ledger, monkeypatch):
    assert checkpointed(ledger)
    (first,) = parts(ledger)
    for turn in range(10):
        pay(ledger, "1/10", f"more {turn}")
    accounts = load(ledger._store)
    many = sum(map(len, checkpoint.records_of(accounts).values()))
    monkeypatch.setattr(checkpoint, "LARGEST", first + many - 1)
    apart, _ = checkpoint._written(ledger._store, load(ledger._store))
    monkeypatch.setattr(checkpoint, "LARGEST", first + many)
    together, _ = checkpoint._written(ledger._store, accounts)
    assert [each[-1] for each in apart["parts"]] == [first, many]
    assert [each[-1] for each in together["parts"]] == [first + many]


def test_a_small_part_does_not_move_a_large_one(ledger):
    assert checkpointed(ledger)
    pay(ledger, "1/10", "more")
    assert checkpointed(ledger)
    assert len(parts(ledger)) == 2
    assert differences(ledger) == []


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM entries WHERE position = 11",
        "UPDATE entries SET body = replace(body, 'r9', 'x9') WHERE position = 11",
        "UPDATE entries SET hash = previous WHERE position = 11",
        "UPDATE entries SET kind = 'look' WHERE position = 11",
    ],
)
def test_the_entry_that_a_checkpoint_ends_with_must_be_stored_as_it_was(ledger, tmp_path, change):
    """The rest is not read: who believed the checkpoint would never look at what the store lost."""
    assert checkpointed(ledger)
    sql(ledger, change)
    with pytest.raises(LedgerTampered):
        open_ledger(tmp_path, "100")


def test_a_checkpoint_beyond_the_head_is_not_believed(ledger, tmp_path):
    """The head was put back to an earlier entry: what lies beyond is read, and checked, anew."""
    assert checkpointed(ledger)
    found = head(ledger).read()
    earlier = ledger._store.find(5)
    ledger.close()
    head(ledger).write(replace(found, position=5, hash=earlier.hash))
    again = open_ledger(tmp_path, "100")
    assert again.spent("census").charges == 10
    assert again.verify() == 12
    again.close()


@pytest.mark.parametrize("changes", [{"position": 10}, {"version": 1}, {"ledger": "0" * 64}])
def test_a_checkpoint_that_is_not_what_its_name_says_is_not_believed(ledger, changes):
    """Named by the head with its own digest, but of another place, version or ledger."""
    assert checkpointed(ledger)
    found = head(ledger).read()
    path = checkpoint._checkpoint_path(ledger._store.head_path, found.checkpoint[1])
    facts = checkpoint.json.loads(path.read_bytes()) | changes
    content = checkpoint.canonical(facts).encode("ascii")
    name = checkpoint.hashlib.sha256(content).hexdigest()
    checkpoint._checkpoint_path(ledger._store.head_path, name).write_bytes(content)
    forged = replace(found, checkpoint=(found.checkpoint[0], name))
    assert checkpoint.opened(ledger._store, found) is not None
    assert checkpoint.opened(ledger._store, forged) is None


def test_a_history_replaced_meanwhile_gets_no_checkpoint(ledger):
    accounts = load(ledger._store)
    accounts.hash = "1" * 64
    assert checkpoint.make(ledger._store, accounts) is False
    assert head(ledger).read().checkpoint is None


def test_files_that_no_head_names_are_removed(ledger):
    stray = [
        checkpoint._checkpoint_path(ledger._store.head_path, "0" * 64),
        checkpoint._part_path(ledger._store.head_path, "0" * 64),
    ]
    for path in stray:
        path.write_bytes(b"left by a process that was killed")
    assert checkpointed(ledger)
    assert not any(path.exists() for path in stray)
    assert rests_on(ledger) == 11
    assert differences(ledger) == []


def test_how_a_request_failed_before_it_is_said_in_the_same_words(ledger, tmp_path):
    receipt = pay(ledger, "1/10", "fails", WOMEN)
    answered = pay(ledger, "1/10", "answered")
    begun = pay(ledger, "1/10", "begun")
    for each in (receipt, answered, begun):
        ledger.outcomes.take(each)
    ledger.outcomes.fail(receipt, EngineFailed("It ran out of memory."))
    ledger.store_answer(answered, b"told")
    before = [ledger.outcomes.state(at) for at in range(16)]
    assert before[receipt.position].error["message"] == "It ran out of memory."
    assert checkpointed(ledger)
    assert differences(ledger) == []
    ledger.close()
    again = open_ledger(tmp_path, "100")
    assert [again.outcomes.state(at) for at in range(16)] == before
    with pytest.raises(EngineFailed, match="ran out of memory"):
        again.outcomes.take(replace(receipt, repeated=True))
    assert again.stored_answer("answered") == b"told"
    assert [each.request_id for each in again.incidents.open()] == ["fails"]
    again.outcomes.let_go(begun)
    again.close()


def test_a_checkpoint_that_its_history_does_not_bear_out_fails_verify(ledger):
    with ledger.session() as session:
        accounts = session.accounts
    accounts.requests[None, "never asked"] = 4
    assert checkpoint.make(ledger._store, accounts)
    ledger.close()
    with pytest.raises(LedgerTampered, match="does not say what its history says"):
        ledger.verify()
