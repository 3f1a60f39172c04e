"""One look for one charge: whatever happens after a charge is final, in every room."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

import asking
import copying
from discreet.ask.release import outcome, pipeline
from discreet.ask.release import paid as work
from discreet.ask.release.outcome import once
from discreet.base.proof import Permit
from discreet.errors import (
    AnswerLost,
    Cancelled,
    EngineFailed,
    InvalidInput,
    LedgerBusy,
    LedgerTampered,
    LedgerWriteFailed,
    RequestConflict,
    StillRunning,
)
from discreet.privacy.ledger import Ledger
from discreet.privacy.ledger.reports import budget_words, history_report, standing
from discreet.privacy.ledger.store import StoredAnswer, old_seal
from discreet.work.synth import run as synth_run
from ledger_kit import OWNER, forked, open_ledger, pay, policy, quote
from patience import eventually
from permits import permit_of

COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def ledger(tmp_path):
    ledger = open_ledger(tmp_path)
    yield ledger
    ledger.close()


def again(ledger, name="a"):
    return pay(ledger, "0.1", name)


def outcome_of(ledger, place=-1):
    charges = [entry for entry in ledger.history() if entry.kind == "charge"]
    return standing(ledger, charges[place])


class Looks:
    """A computation that counts how often it looks."""

    def __init__(self, answer: bytes | BaseException = b"told") -> None:
        self.answer, self.count = answer, 0

    def __call__(self, _permit=None) -> bytes:
        self.count += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def ignoring_outcomes(ledger, receipt, compute, **_more):
    """Return what 0.1.0 did: a stored answer again, and anything else from the rows."""
    stored = ledger.stored_answer(receipt.request_id, receipt.payer.analyst)
    return (
        stored
        if stored is not None
        else ledger.store_answer(receipt, compute(permit_of(receipt.payer.dataset)))
    )


def test_an_answer_is_computed_once_and_given_again(ledger):
    look = Looks()
    assert [once(ledger, again(ledger), look) for _ in range(3)] == [b"told"] * 3
    assert look.count == 1
    assert outcome_of(ledger) == "answered"


@pytest.mark.parametrize(
    ("error", "kept"),
    [
        (EngineFailed("It broke.", hint="Wait."), EngineFailed),
        (InvalidInput("Too small."), InvalidInput),
        (Cancelled("Enough."), Cancelled),
        (ValueError("a private cell"), AnswerLost),
        (KeyboardInterrupt(), AnswerLost),
    ],
)
def test_a_failure_is_final_and_says_the_same_every_time(ledger, tmp_path, error, kept):
    look = Looks(error)
    with pytest.raises(type(error)):
        once(ledger, again(ledger), look)
    ledger.close()
    said = set()
    for _ in range(3):
        reopened = open_ledger(tmp_path)
        with pytest.raises(kept) as caught:
            once(reopened, again(reopened), look)
        said.add((caught.value.kind, str(caught.value)))
        reopened.close()
    assert look.count == 1
    assert len(said) == 1
    assert "private" not in str(said)


@pytest.mark.parametrize("error", [LedgerBusy("Nothing was charged."), LedgerWriteFailed("Again.")])
def test_a_ledger_that_is_busy_in_the_middle_loses_the_answer_and_says_so(ledger, error):
    """The computation may write, too: what it hears then is not true of what was charged before."""
    look = Looks(error)
    for _ in range(3):
        with pytest.raises(AnswerLost, match="the charge stands"):
            once(ledger, again(ledger), look)
    assert look.count == 1
    assert outcome_of(ledger) == "failed"


def test_the_twin_without_outcomes_looks_again_and_again(ledger):
    look = Looks(EngineFailed("It broke."))
    for _ in range(5):
        with suppress(EngineFailed):
            ignoring_outcomes(ledger, again(ledger), look)
    assert look.count == 5


def test_what_was_not_begun_runs_once(ledger, tmp_path):
    again(ledger)
    ledger.close()  # a crash between the charge and the computation
    ledger = open_ledger(tmp_path)
    assert outcome_of(ledger) == "paid"
    look = Looks()
    assert once(ledger, again(ledger), look) == b"told"
    assert once(ledger, again(ledger), look) == b"told"
    assert look.count == 1


def test_what_was_paid_and_not_delivered_is_said_in_the_history(ledger):
    words = partial(budget_words, ledger, {"census": "census"}, describe=str, last=5)
    receipt = again(ledger)
    assert "(paid, not delivered: ask again under the same request id)" in words()
    once(ledger, receipt, Looks())
    assert "not delivered" not in words()
    with suppress(EngineFailed):
        once(ledger, again(ledger, "b"), Looks(EngineFailed("It broke.")))
    assert "(paid, failed)" in words()


def test_what_was_begun_by_a_process_that_died_is_lost_for_good(ledger, tmp_path):
    def begin(say):
        own = open_ledger(tmp_path)
        once(own, again(own), lambda _: say("begun") or time.sleep(60) or b"")

    child = forked(begin)
    assert child.pipe.readline() == "begun\n"
    assert outcome_of(ledger) == "running"
    child.kill()
    child.lines()
    assert outcome_of(ledger) == "lost"
    look, said = Looks(), set()
    for _ in range(3):
        with pytest.raises(AnswerLost) as caught:
            once(ledger, again(ledger), look)
        said.add(str(caught.value))
    assert len(said) == 1
    assert look.count == 0
    assert outcome_of(ledger) == "lost"
    assert "paid, not delivered" in history_report(ledger, last=1)[0]["ending"]
    ledger.verify()


def test_a_living_process_is_waited_for_and_never_declared_lost(ledger, tmp_path):
    def begin(say):
        own = open_ledger(tmp_path)

        def slowly(_permit):
            say("begun")
            eventually((tmp_path / "go").exists, "nobody let it go on")
            return b"theirs"

        once(own, again(own), slowly)

    child, look = forked(begin), Looks()
    assert child.pipe.readline() == "begun\n"
    with pytest.raises(StillRunning, match="right now"):
        once(ledger, again(ledger), look, patience=0)
    threading.Timer(0.3, (tmp_path / "go").touch).start()
    assert once(ledger, again(ledger), look) == b"theirs"
    assert look.count == 0
    child.lines()


def test_threads_of_one_process_wait_for_each_other(ledger, tmp_path):
    other = open_ledger(tmp_path)  # a second ledger of the same file, as after a reload
    start, looks, told = threading.Barrier(8), [], []

    def slowly(_permit) -> bytes:
        looks.append(1)
        time.sleep(0.2)
        return b"one"

    def ask(book) -> None:
        start.wait()
        told.append(once(book, again(book), slowly))

    threads = [threading.Thread(target=ask, args=((ledger, other)[i % 2],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [b"one"] * 8
    assert len(looks) == 1
    other.close()


def test_processes_with_one_id_look_once(tmp_path):
    open_ledger(tmp_path).close()

    def ask(say):
        own = open_ledger(tmp_path)

        def look(_permit) -> bytes:
            say("looked")
            time.sleep(0.1)
            return b"one"

        say(once(own, again(own), look).decode())

    lines = [line for child in [forked(ask) for _ in range(6)] for line in child.lines()]
    assert sorted(lines) == ["looked"] + ["one"] * 6


def test_an_answer_after_the_request_was_declared_lost_is_not_given_out(ledger):
    receipt = again(ledger)
    assert isinstance(ledger.outcomes.take(receipt), Permit)
    ledger.outcomes.let_go(receipt)  # its lock was lost, with a connection say
    with pytest.raises(AnswerLost):
        once(ledger, again(ledger), Looks())
    with pytest.raises(AnswerLost):
        ledger.store_answer(receipt, b"too late")
    assert ledger.stored_answer("a") is None


def test_a_disk_that_fails_leaves_the_request_begun_and_then_lost(ledger, monkeypatch):
    look = Looks()

    def broken(*_args, **_more):
        raise LedgerWriteFailed("Disk full.")

    with monkeypatch.context() as failing:
        failing.setattr(type(ledger), "store_answer", broken)
        failing.setattr(type(ledger.outcomes), "fail", broken)
        with pytest.raises(LedgerWriteFailed):
            once(ledger, again(ledger), look)
    with pytest.raises(AnswerLost):
        once(ledger, again(ledger), look)
    assert look.count == 1


class Dropping:
    """Storing fails some times, then works."""

    def __init__(self, ledger, error, times):
        self.store, self.error, self.left = ledger.store_answer, error, times

    def __call__(self, receipt, payload):
        if self.left:
            self.left -= 1
            raise self.error
        return self.store(receipt, payload)


DROPS = [LedgerWriteFailed("The connection is gone."), LedgerBusy("Busy.")]


@pytest.mark.parametrize("error", DROPS, ids=["dropped", "busy"])
def test_an_answer_in_hand_is_stored_again_after_a_drop(ledger, monkeypatch, error):
    look = Looks(b"in hand")
    monkeypatch.setattr(outcome, "PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(ledger, "store_answer", Dropping(ledger, error, 3))
    assert once(ledger, again(ledger), look) == b"in hand"
    assert once(ledger, again(ledger), look) == b"in hand"
    assert look.count == 1


@pytest.mark.parametrize("error", DROPS, ids=["dropped", "busy"])
def test_the_twin_that_does_not_try_again_loses_it(ledger, monkeypatch, error):
    monkeypatch.setattr(outcome, "PAUSES", ())
    monkeypatch.setattr(ledger, "store_answer", Dropping(ledger, error, 1))
    with pytest.raises((LedgerWriteFailed, AnswerLost)):
        once(ledger, again(ledger), Looks(b"in hand"))
    with pytest.raises(AnswerLost):
        once(ledger, again(ledger), Looks(b"in hand"))


@pytest.mark.parametrize("error", DROPS, ids=["dropped", "busy"])
def test_what_could_not_be_stored_is_lost_and_says_so(ledger, monkeypatch, error):
    """As it was: a free moment later "ask again under the same request id" was entered for ever."""
    look = Looks(b"in hand")
    with monkeypatch.context() as patch:
        patch.setattr(outcome, "PAUSES", ())
        patch.setattr(ledger, "store_answer", Dropping(ledger, error, 9))
        with pytest.raises((LedgerWriteFailed, AnswerLost)) as first:
            once(ledger, again(ledger), look)
    assert "nothing is charged twice" not in str(first.value)
    with pytest.raises(AnswerLost, match="charge stands"):
        once(ledger, again(ledger), look)
    assert look.count == 1


def test_a_busy_ledger_before_the_look_truly_says_ask_again(ledger, monkeypatch):
    look = Looks(b"told")
    with monkeypatch.context() as patch:
        busy = LedgerBusy("Busy.")
        patch.setattr(type(ledger.outcomes), "take", lambda *_: (_ for _ in ()).throw(busy))
        with pytest.raises(LedgerBusy, match="The charge stands") as caught:
            once(ledger, again(ledger), look)
    assert "same request id" in caught.value.hint
    assert once(ledger, again(ledger), look) == b"told"
    assert (look.count, ledger.spent("census").charges) == (1, 1)


def test_a_begin_that_cannot_be_written_is_no_begin(ledger, monkeypatch):
    receipt, look = again(ledger), Looks()

    def broken(*_args):
        raise LedgerWriteFailed("Disk full.")

    with monkeypatch.context() as failing:
        failing.setattr(ledger._store, "append", broken)
        with pytest.raises(LedgerWriteFailed):
            once(ledger, receipt, look)
    assert look.count == 0
    assert once(ledger, again(ledger), look) == b"told"


def test_an_answer_that_was_taken_away_is_damage(ledger, monkeypatch):
    once(ledger, again(ledger), Looks())
    monkeypatch.setattr(ledger._store, "answer", lambda _: None)  # an attacker with the file
    with pytest.raises(LedgerTampered, match="missing"):
        once(ledger, again(ledger), Looks())


def test_a_restored_backup_begins_nothing_again(ledger, tmp_path):
    again(ledger)
    ledger.backup(tmp_path / "old.db")
    look = Looks()
    once(ledger, again(ledger), look)
    ledger.close()
    back = Ledger.restore(
        "sqlite:ledger.db", policy(), tmp_path / "old.db", base=tmp_path, reason="test"
    )
    with pytest.raises(AnswerLost):
        once(back, again(back), look)
    assert look.count == 1
    back.close()


# --- ids are bound to data and price -------------------------------------------------------------


def charge(ledger, *, epsilon="0.1", **said):
    said = {"snapshot": "people:1", "question": "how many"} | said
    return ledger.charge(OWNER, quote(epsilon), request_id="a", body="b", **said)


@pytest.mark.parametrize(
    "other", [{"snapshot": "people:2"}, {"epsilon": "0.2"}, {"question": "how many of them"}]
)
def test_what_was_not_begun_does_not_run_on_other_data_or_at_another_price(ledger, other):
    charge(ledger)
    with pytest.raises(RequestConflict, match="other data, another price or another question"):
        charge(ledger, **other)
    assert once(ledger, charge(ledger), Looks()) == b"told"
    # The outcome is that of the first data, and is given out whatever there is now.
    assert once(ledger, charge(ledger, **other), Looks(b"new")) == b"told"


def test_a_question_paid_on_one_snapshot_is_not_answered_from_another(tmp_path, monkeypatch):
    with asking.curator(tmp_path) as asked:

        def crash(*_args, **_more):
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr(work, "once", crash)
            with pytest.raises(KeyboardInterrupt):
                asked.query(COUNT, epsilon="1", request_id="a")
        monkeypatch.setattr(pipeline, "snapshots_of", lambda *_: {"people": "2"})
        with pytest.raises(RequestConflict):
            asked.query(COUNT, epsilon="1", request_id="a")
        assert asked.engine.ran == []


# --- every room ----------------------------------------------------------------------------------


def test_a_failed_question_is_not_asked_of_the_rows_again(tmp_path):
    with asking.curator(tmp_path) as asked:
        answers, asked.engine.answers = asked.engine.answers, None
        for _ in range(3):
            with pytest.raises(EngineFailed):
                asked.query(COUNT, epsilon="1", request_id="a")
        ran = len(asked.engine.ran)
        asked.engine.answers = answers
        with pytest.raises(EngineFailed):
            asked.query(COUNT, epsilon="1", request_id="a")
        assert len(asked.engine.ran) == ran == 1
        assert asked.history(last=1)[0]["outcome"] == "failed"


def failing_synthesis(asked, monkeypatch, times):
    """Return how often a synthesis that fails while it is fitted has looked at the rows."""

    def refuse(*_args, **_more):
        raise InvalidInput("The budget was too small to learn anything; it is spent.")

    monkeypatch.setattr(synth_run, "_fit", refuse)
    for _ in range(times):
        with pytest.raises(InvalidInput, match="it is spent"):
            asked.synthesize("people", epsilon=1, request_id="copy")
    return sum("GROUP BY" in sql for sql in asked.engine.ran)


def test_a_failed_synthesis_is_one_look_for_one_charge(tmp_path, monkeypatch):
    asked = copying.curator(tmp_path)
    first = failing_synthesis(asked, monkeypatch, 1)
    assert first > 0
    assert failing_synthesis(asked, monkeypatch, 10) == first
    monkeypatch.setattr(work, "once", ignoring_outcomes)  # the twin, as it was
    assert failing_synthesis(asked, monkeypatch, 3) >= 3 * first


def test_a_crash_while_fitting_is_lost(tmp_path, monkeypatch):
    asked = copying.curator(tmp_path)

    def crash(*_args, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(synth_run, "store_codes", crash)
        with pytest.raises(KeyboardInterrupt):
            asked.synthesize("people", epsilon=1, request_id="copy")
    with pytest.raises(AnswerLost):
        asked.synthesize("people", epsilon=1, request_id="copy")


def test_patience_is_longer_than_a_look():
    assert outcome.SHORTEST < outcome.LONGEST < outcome.PATIENCE


# --- what 0.1.0 wrote ----------------------------------------------------------------------------


def old_ledger(folder, names, answers):
    """Return a ledger with charges as 0.1.0 entered them, some with an answer under the bare id."""
    model = open_ledger(folder)
    for name in names:
        pay(model, "0.1", name)
    facts = [dict(entry.data) for entry in model.history() if entry.kind == "charge"]
    model.close()
    (folder / "old").mkdir()
    ledger = open_ledger(folder / "old")
    for data in facts:
        data.pop("looks")
        with ledger.session() as session:
            item = session.append("charge", data)
            if data["request_id"] in answers:
                name, payload = data["request_id"], answers[data["request_id"]]
                old = StoredAnswer(name, item.position, "", "census", "", payload, "", "")
                session.writer.add_answer(replace(old, digest=old_seal(old)))
    return ledger


def test_ids_of_0_1_0_still_answer_and_what_it_left_open_is_lost(tmp_path):
    ledger = old_ledger(tmp_path, ("told", "open"), {"told": b"then"})
    ledger.verify()
    look = Looks()
    assert once(ledger, again(ledger, "told"), look) == b"then"
    assert [outcome_of(ledger, place) for place in (0, 1)] == ["answered", "lost"]
    with pytest.raises(AnswerLost):  # 0.1.0 did not say whether it had looked
        once(ledger, again(ledger, "open"), look)
    assert look.count == 0
    ledger.close()


def test_an_old_answer_is_nobody_elses(tmp_path):
    ledger = old_ledger(tmp_path, ("told",), {"told": b"then"})
    assert ledger.stored_answer("told", "alice") is None
    assert ledger.stored_answer("told", None) == b"then"
    ledger.close()
