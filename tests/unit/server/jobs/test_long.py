"""What is said of a job whose process died: what the ledger says of its charge, and nothing else."""

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from discreet.base import outcome_words
from discreet.errors import AnswerLost, Cancelled, LedgerBusy, LedgerTampered, ServerFailed
from discreet.server.jobs.children import ChildEnded
from discreet.server.jobs.long import LongTask, run_in_child, standing_of
from discreet.server.jobs.queue import Job, Runner

TASK = LongTask("x:y", charge="request", payer="alice")


class FakeServer:
    """A server whose children end in `ending` after telling `steps`, and whose ledger says `standings`."""

    def __init__(self, ending, steps, standings):
        self.ending, self.steps, self.standings = ending, steps, list(standings)
        self.asked = []
        self.workspace = self.children = self
        self.catalog, self.ledger = None, SimpleNamespace(probes=None, known=lambda: None)

    @contextmanager
    def curator(self):
        yield self

    last_curator = curator

    def standing(self, name, *, analyst):
        self.asked.append((name, analyst))
        found = self.standings.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def run(self, job, *_, **__):
        for step in self.steps:
            job.tell(step)
        raise self.ending


def ended(ending, steps, *standings):
    """Return what the job ended in, whether it is said to be charged, and what the ledger was asked."""
    server = FakeServer(ending, steps, standings)
    look = standing_of(server, TASK.charge, TASK.payer)
    job = Job("a", lambda job: run_in_child(server, job, "alice", TASK), "request", standing=look)
    if isinstance(ending, Cancelled):
        server.run = lambda job, *_, **__: job.cancel() or FakeServer.run(server, job)
    job.run()
    error = job.future.exception()
    return SimpleNamespace(error=error, charged=job.charged, asked=server.asked)


STANDINGS = [
    (None, ServerFailed, "Nothing was charged.", False),
    ("paid", ServerFailed, "The charge stands, and no row has been read.", True),
    ("answered", ServerFailed, "The charge stands, and the answer is kept.", True),
    ("lost", AnswerLost, "The charge stands, and there is no answer.", True),
    ("failed", AnswerLost, "The charge stands, and there is no answer.", True),
    (LedgerBusy("Busy."), ServerFailed, "Whether it was charged is not known", True),
]


@pytest.mark.parametrize("steps", [(), ("charging",), ("charging", "charged")])
@pytest.mark.parametrize(("standing", "kind", "said", "charged"), STANDINGS)
def test_each_standing_has_its_sentence(standing, kind, said, charged, steps):
    """Also where nothing was told of a charge: the same id may have been charged before a restart."""
    if (standing, steps[1:]) == (None, ("charged",)):
        said, charged = "What was already charged stands.", True
    found = ended(ChildEnded("It died."), steps, standing)
    assert type(found.error) is kind
    assert found.error.message.startswith("It died. ")
    assert said in found.error.message
    assert found.charged is charged
    assert found.asked == [("request", "alice")]


@pytest.mark.parametrize(("standing", "_kind", "said", "charged"), STANDINGS)
def test_what_is_cancelled_says_what_the_ledger_knows(standing, _kind, said, charged):
    """Whether it was charged now or by an earlier try of the same id, before a restart."""
    found = ended(Cancelled("Enough."), [], standing)
    assert isinstance(found.error, Cancelled)
    assert found.error.message.startswith(f"The question was cancelled. {said}")
    assert found.charged is charged


def test_what_waits_and_was_charged_before_a_restart_is_not_said_to_be_free():
    runner = Runner(workers=0, in_work_each=1, reading_each=1, waiting_each=1)
    job = runner.submit("a", lambda _: None, request_id="request", standing=lambda: "lost")
    runner.cancel(job)
    said = job.future.exception().message
    assert said == "The question was cancelled. The charge stands, and there is no answer."


def test_a_question_without_an_id_is_free_only_before_it_is_about_to_charge():
    def ended_after(*steps):
        job = Job("a", lambda job: [job.tell(step) for step in steps] and job.cancel(), "")
        job.cancel = lambda: vars(job).update(_wanted=False) or job.check()
        job.run()
        return job.future.exception().message.removeprefix("The question was cancelled. ")

    assert ended_after("planning") == "Nothing was charged."
    assert ended_after("charging") == "Whether it was charged was not confirmed."
    assert ended_after("charging", "charged") == "What was already charged stands."


def test_a_database_that_notices_late_is_asked_again(monkeypatch):
    monkeypatch.setattr(outcome_words, "LOOKS", (0.0, 0.0, 0.0))
    found = ended(ChildEnded("It died."), ["charging", "charged"], "running", "running", "lost")
    assert isinstance(found.error, AnswerLost)
    assert len(found.asked) == 3
    somebody = ended(ChildEnded("It died."), ["charging"], "running", "running", "running")
    assert "whether there will be an answer is open" in somebody.error.message


def test_an_error_of_the_job_itself_is_what_it_is():
    found = ended(ServerFailed("Something else."), ["charging"])
    assert found.error.message == "Something else."
    assert (found.charged, found.asked) == (False, [])


@pytest.mark.parametrize("reads", [True, False])
def test_a_child_gets_what_is_known_of_the_ledger_and_the_server_looks_again(reads):
    server, orders, known = FakeServer(None, (), ()), [], iter(["before", "after", "never"])
    server.ledger.known = lambda: next(known)
    server.run = lambda *_, **order: orders.append(order["known"]) or "answer"
    task = LongTask("x:y", reads=reads)
    assert run_in_child(server, None, "alice", task) == "answer"
    assert orders == ["before" if reads else None]
    assert next(known) == ("never" if reads else "before")


@pytest.mark.parametrize("trouble", [LedgerBusy("Busy."), LedgerTampered("Put back.")])
def test_a_ledger_that_was_put_back_beside_a_child_is_refused_and_a_busy_one_is_not(trouble):
    server = FakeServer(None, (), ())
    server.ledger.known = Mock(side_effect=[None, trouble])
    server.run = lambda *_, **__: "answer"
    expected = (
        pytest.raises(LedgerTampered) if isinstance(trouble, LedgerTampered) else nullcontext()
    )
    with expected:
        assert run_in_child(server, None, "alice", LongTask("x:y")) == "answer"
