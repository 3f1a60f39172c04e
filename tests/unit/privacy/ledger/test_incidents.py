"""A statement on which the database failed stays refused until the owner clears it."""

from __future__ import annotations

import pytest

import asking
from checkpoint_kit import checkpointed, differences
from discreet.errors import Cancelled, EngineFailed, UnknownName
from discreet.privacy.ledger import charge
from discreet.privacy.ledger.charge import MOST_OPEN
from discreet.privacy.ledger.reports import budget_words
from ledger_kit import OWNER, open_ledger, quote

COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def failed(tmp_path):
    """A curator whose engine has failed on COUNT, and works again."""
    with asking.curator(tmp_path) as asked:
        answers, asked.engine.answers = asked.engine.answers, None
        with pytest.raises(EngineFailed):
            asked.query(COUNT, epsilon="0.1", request_id="first")
        asked.engine.answers = answers
        yield asked


def test_the_statement_is_refused_before_another_charge(failed):
    for epsilon in ("0.1", "0.2"):
        with pytest.raises(EngineFailed, match="stays refused until the data owner clears it"):
            failed.query(COUNT, epsilon=epsilon, request_id=f"again {epsilon}", fresh=True)
    assert failed.ledger.spent("census").charges == 1
    failed.query(f"{COUNT} WHERE age > 3", epsilon="0.1")
    with pytest.raises(EngineFailed, match="could not answer"):
        failed.query(COUNT, epsilon="0.1", request_id="first")  # its own outcome, for ever


def test_the_owner_sees_and_clears_it(failed):
    (found,) = failed.ledger.incidents.open()
    assert (found.request_id, found.dataset, found.note) == ("first", "census", COUNT)
    with pytest.raises(UnknownName):
        failed.ledger.incidents.clear("second", reason="x")
    assert failed.ledger.incidents.clear("first", reason="more memory") == 1
    assert failed.ledger.incidents.open() == []
    words = budget_words(failed.ledger, {"census": "census"}, describe=str, last=9)
    assert "let a question be asked again that had failed: more memory" in words


def test_the_twin_that_forgets_incidents_lets_it_fail_again(tmp_path, monkeypatch):
    monkeypatch.setattr(charge, "require_clear", lambda *_: None)
    with asking.curator(tmp_path) as asked:
        asked.engine.answers = None
        for name in ("first", "second"):
            with pytest.raises(EngineFailed, match="could not answer"):
                asked.query(COUNT, epsilon="0.1", request_id=name, fresh=True)
        assert asked.ledger.spent("census").charges == 2


def entered(ledger, error, name: str, question: str = "q"):
    receipt = ledger.charge(OWNER, quote("1/10"), request_id=name, body=name, question=question)
    ledger.outcomes.take(receipt)
    ledger.outcomes.fail(receipt, error)
    ledger.outcomes.let_go(receipt)


@pytest.mark.parametrize("error", [Cancelled("Enough."), KeyboardInterrupt()])
def test_what_the_caller_ended_is_no_incident(tmp_path, error):
    ledger = open_ledger(tmp_path)
    entered(ledger, error, "a")
    assert ledger.incidents.open() == []
    ledger.close()


def test_incidents_are_of_one_statement_and_outlive_the_process(tmp_path):
    ledger = open_ledger(tmp_path)
    entered(ledger, EngineFailed("It broke."), "a")
    ledger.close()
    ledger = open_ledger(tmp_path)
    with pytest.raises(EngineFailed, match="stays refused"):
        ledger.charge(OWNER, quote("1/10"), request_id="b", body="b", question="q")
    ledger.charge(OWNER, quote("1/10"), request_id="c", body="c", question="another")
    ledger.incidents.clear("a", reason="")
    ledger.charge(OWNER, quote("1/10"), request_id="d", body="d", question="q")
    ledger.close()


REPHRASED = (
    COUNT,
    f"{COUNT} WHERE age >= 0",
    f"{COUNT} WHERE age >= 0 AND age <= 120",
    f"{COUNT} WHERE sex IN ('Female', 'Male')",
    "SELECT COUNT(age) AS n FROM people",
)


def looks(asked):
    return [entry for entry in asked.ledger._entries() if entry.kind == "begun"]


def test_other_words_are_charged_anew_and_end_after_a_few(tmp_path):
    """Nothing runs again under an old charge, and one analyst cannot go on rephrasing."""
    shares = "[analysts.eve]\ndatasets = { census = { epsilon = 5 } }\n"
    with asking.curator(tmp_path, more=shares) as asked:
        asked.engine.answers = None
        for turn, sql in enumerate(REPHRASED):
            with pytest.raises(EngineFailed) as failed:
                asked.query(sql, epsilon="0.1", analyst="eve", request_id=f"r{turn}")
            told = "could not answer" if turn < MOST_OPEN else "until the data owner clears one"
            assert told in failed.value.message
        assert len(looks(asked)) == asked.ledger.spent("census", "eve").charges == MOST_OPEN
        # The old ids are final, the words of others are not stopped, and the owner can end it.
        with pytest.raises(EngineFailed, match="could not answer"):
            asked.query(REPHRASED[0], epsilon="0.1", analyst="eve", request_id="r0")
        assert len(looks(asked)) == MOST_OPEN
        asked.ledger.incidents.clear("r0", reason="looked at")
        with pytest.raises(EngineFailed, match="could not answer"):
            asked.query(REPHRASED[-1], epsilon="0.1", analyst="eve", request_id="new")
        assert len(looks(asked)) == asked.ledger.spent("census", "eve").charges == MOST_OPEN + 1


def test_only_a_charge_that_looked_and_has_not_ended_is_an_incident(tmp_path):
    """Whether what was asked lies before a checkpoint or after it."""
    for checkpoint in (False, True):
        (tmp_path / str(checkpoint)).mkdir()
        ledger = open_ledger(tmp_path / str(checkpoint), "10")
        receipts = {
            name: ledger.charge(OWNER, quote("1/10"), request_id=name, body=name, question=name)
            for name in ("open", "begun", "answered", "cancelled")
        }
        ledger.outcomes.take(receipts["begun"])
        ledger.store_answer(receipts["answered"], b"told")
        ledger.outcomes.fail(receipts["cancelled"], Cancelled("It was cancelled."))
        if checkpoint:
            assert checkpointed(ledger)
        for receipt in receipts.values():
            ledger.outcomes.fail(receipt, EngineFailed("It failed."))
        assert [each.request_id for each in ledger.incidents.open()] == ["open", "begun"]
        assert differences(ledger) == []
        ledger.close()
