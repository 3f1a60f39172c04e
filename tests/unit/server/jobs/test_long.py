"""What is said of a job whose process died: what the ledger says of its charge, and nothing else."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from discreet.errors import AnswerLost, Cancelled, LedgerBusy, ServerFailed
from discreet.server.jobs import long
from discreet.server.jobs.children import ChildEnded
from discreet.server.jobs.long import LongTask, run_in_child
from discreet.server.jobs.queue import Job

TASK = LongTask("x:y", charge="request", payer="alice")


class FakeServer:
    """A server whose children end in `ending` after telling `steps`, and whose ledger says `standings`."""

    def __init__(self, ending, steps, standings):
        self.ending, self.steps, self.standings = ending, steps, list(standings)
        self.asked = []
        self.workspace = self.children = self
        self.catalog, self.ledger = None, SimpleNamespace(probes=None)

    @contextmanager
    def curator(self):
        yield self

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
    job = Job("a", lambda _: None, "request")
    with pytest.raises((ServerFailed, AnswerLost, Cancelled)) as found:
        run_in_child(server, job, "alice", TASK)
    return SimpleNamespace(error=found.value, charged=job.charged, asked=server.asked)


@pytest.mark.parametrize(
    ("standing", "kind", "said", "charged"),
    [
        (None, ServerFailed, "Nothing was charged", False),
        ("paid", ServerFailed, "no row had been read", True),
        ("answered", ServerFailed, "is kept", True),
        ("lost", AnswerLost, "it is lost", True),
        ("failed", AnswerLost, "it is lost", True),
        (LedgerBusy("Busy."), ServerFailed, "A charge that was made stands", True),
    ],
)
def test_each_standing_has_its_sentence(standing, kind, said, charged):
    found = ended(ChildEnded("It died."), ["charging"], standing)
    assert type(found.error) is kind
    assert found.error.message.startswith("It died. ")
    assert said in found.error.message
    assert found.charged is charged
    assert found.asked == [("request", "alice")]


def test_what_was_not_about_to_charge_needs_no_look():
    found = ended(ChildEnded("It died."), [])
    assert "Nothing was charged" in found.error.message
    assert found.asked == []


def test_a_database_that_notices_late_is_asked_again(monkeypatch):
    monkeypatch.setattr(long, "LOOKS", (0.0, 0.0, 0.0))
    found = ended(ChildEnded("It died."), ["charging", "charged"], "running", "running", "lost")
    assert isinstance(found.error, AnswerLost)
    assert len(found.asked) == 3
    somebody = ended(ChildEnded("It died."), ["charging"], "running", "running", "running")
    assert "A charge that was made stands" in somebody.error.message


@pytest.mark.parametrize(("standing", "charged"), [("lost", True), (None, False)])
def test_cancelling_finds_a_charge_that_was_not_told_of(standing, charged):
    found = ended(Cancelled("Enough."), ["charging"], standing)
    assert isinstance(found.error, Cancelled)
    assert found.charged is charged


def test_an_error_of_the_job_itself_is_what_it_is():
    found = ended(ServerFailed("Something else."), ["charging"])
    assert found.error.message == "Something else."
    assert (found.charged, found.asked) == (False, [])
