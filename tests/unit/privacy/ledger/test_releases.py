"""Releases in the history: all changes of one release, and the lines that prove its charge."""

import pytest

from discreet.privacy.ledger.entry import digest
from discreet.privacy.ledger.reports import excerpt_of, record_state, states_of
from ledger_kit import open_ledger, pay


@pytest.fixture
def ledger(tmp_path):
    made = open_ledger(tmp_path, "10")
    yield made
    made.close()


def state(ledger, release: str, word: str) -> None:
    facts = {"dataset": "census", "who": "owner", "digest": "d"}
    record_state(ledger, release=release, state=word, **facts)


def test_the_states_of_one_release_or_of_all_oldest_first(ledger):
    for release, word in (("a", "draft"), ("b", "draft"), ("a", "out")):
        state(ledger, release, word)
        pay(ledger, "1", f"{release} {word}")
    said = [(entry.data["release"], entry.data["state"]) for entry in states_of(ledger)]
    assert said == [("a", "draft"), ("b", "draft"), ("a", "out")]
    assert [entry.data["state"] for entry in states_of(ledger, "a")] == ["draft", "out"]
    assert [entry.data["state"] for entry in states_of(ledger, "b")] == ["draft"]
    assert states_of(ledger, "c") == []


def test_an_excerpt_ends_with_the_charge_and_holds_no_other(ledger):
    state(ledger, "a", "draft")
    pay(ledger, "1", "another's")
    state(ledger, "b", "draft")
    state(ledger, "a", "approved")
    receipt = pay(ledger, "1", "a's")
    state(ledger, "a", "out")
    pay(ledger, "1", "later")
    found = excerpt_of(ledger, receipt, "a")
    assert [link["kind"] for link in found["links"]] == ["release", "release", "charge"]
    assert [link["position"] for link in found["links"]] == [2, 5, receipt.position]
    assert found["charge"] == receipt.position
    last = found["links"][-1]
    assert found["head"] == last["hash"]
    assert last["hash"] == digest(6, "charge", last["previous"], last["body"])
