"""A book from a checkpoint is the book of the whole history, whatever happened in it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from checkpoint_kit import Life, checkpointed, differences
from discreet.errors import LedgerTampered
from discreet.privacy.ledger import checkpoint
from discreet.privacy.ledger.accounts import _RULES
from discreet.privacy.ledger.history import load
from sittings import FULL

LIVES, STEPS = (300, 200) if FULL else (6, 90)


@pytest.fixture
def base():
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def test_every_life_opens_to_what_its_whole_history_says(base):
    kinds, made, parts = set(), 0, 0
    for seed in range(LIVES):
        (base / str(seed)).mkdir()
        life = Life(base / str(seed), seed)
        life.live(STEPS)
        life.reopen()
        assert differences(life.ledger) == [], seed
        life.ledger.verify()
        accounts = load(life.ledger._store)
        parts = max(parts, len(accounts.past.parts) if accounts.past else 0)
        kinds |= {link.kind for link in life.ledger.links()}
        made += life.made
        life.ledger.close()
    assert kinds == set(_RULES), set(_RULES) - kinds
    assert made > 5 * LIVES
    assert parts > 1, "several parts are searched"


def less(bill):
    bill[2] -= 1


TWINS = {
    "a forgotten charge": ("records_of", lambda found: found["requests"].popitem()),
    "a forgotten ending": ("records_of", lambda found: found["outcomes"].popitem()),
    "a forgotten place": ("records_of", lambda found: found["charged"].popitem()),
    "a bill too few": ("facts_of", lambda found: found["accounts"][0][-1].pop()),
    "one time too few": ("facts_of", lambda found: less(found["accounts"][0][-1][0])),
    "a forgotten restore": ("facts_of", lambda found: found.__setitem__("restored", -1)),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_checkpoint_that_forgets_something_is_caught(base, monkeypatch, twin):
    """By the comparison above, and by the owner's own: `discreet ledger verify`."""
    life = Life(base, 3)
    life.live(60, checkpoints=0)
    for act in (life.charge, life.copy, life.charge, life.take):
        act()
    while life.ledger.history()[-1].kind != "restore":
        life.copy()
    life.charge()
    life.take()
    name, forget = TWINS[twin]
    honest = getattr(checkpoint, name)

    def forgetful(accounts):
        found = honest(accounts)
        forget(found)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, name, forgetful)
        assert checkpointed(life.ledger)
    with pytest.raises(LedgerTampered, match="does not say what its history says"):
        life.ledger.verify()
    monkeypatch.setattr("discreet.privacy.ledger.history.require_same", lambda *_: None)
    assert differences(life.ledger) != []
