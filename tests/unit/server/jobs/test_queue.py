import threading

import pytest

from discreet.errors import (
    Cancelled,
    InvalidInput,
    ServerFailed,
    TooManyRequests,
    UnknownName,
)
from discreet.server.jobs.queue import KEPT_EACH, Job, JobState, Runner
from patience import LONG, eventually


@pytest.fixture
def runner():
    found = Runner(workers=2, in_work_each=1, reading_each=1, waiting_each=3)
    yield found
    found.close(patience=5)


def held(runner, owner="a", **more):
    """Return a job that waits for `go`, which is set at the end of the test at the latest."""
    go, began = threading.Event(), threading.Event()

    def work(job):
        began.set()
        assert go.wait(LONG)
        job.tell("charged")
        return owner

    job = runner.submit(owner, work, **more)
    return job, began, go


def test_a_job_ends_with_its_result(runner):
    job = runner.submit("a", lambda job: 7)
    assert job.future.result(LONG) == 7


class EarlySteps(list):
    """Steps that note which were told when the job had ended already."""

    def __init__(self, job):
        super().__init__(job.steps)
        self.job, self.late = job, []

    def append(self, step):
        if self.job.state.final:
            self.late.append(step)
        super().append(step)


def test_whoever_sees_the_end_has_seen_the_last_step():
    """A watcher between the two would be told of an end without it."""
    job = Job("a", lambda _: 7, "")
    job.steps = steps = EarlySteps(job)
    job.run()
    assert steps[-1] == "done"
    assert job.state is JobState.DONE
    assert steps.late == []


def test_errors_of_users_travel_and_others_are_hidden(runner):
    def wrong(_):
        raise InvalidInput("no")

    def broken(_):
        raise ValueError("cell 5")

    with pytest.raises(InvalidInput, match="no"):
        runner.submit("a", wrong).future.result(LONG)
    with pytest.raises(ServerFailed) as error:
        runner.submit("a", broken).future.result(LONG)
    assert "cell" not in str(error.value)


def test_one_caller_waits_behind_themselves_only(runner):
    first, began, go = held(runner)
    assert began.wait(LONG)
    second = runner.submit("a", lambda _: "second")
    other = runner.submit("b", lambda _: "other")
    assert other.future.result(LONG) == "other"
    assert second.state is JobState.QUEUED
    # A job has its result a moment before it is counted as ended.
    eventually(lambda: runner.load == (1, 1), "one waits and one works")
    go.set()
    assert first.future.result(LONG) == "a"
    assert second.future.result(LONG) == "second"


def test_turns_go_round_among_callers():
    runner = Runner(workers=1, in_work_each=1, reading_each=1, waiting_each=10)
    _, began, go = held(runner, "z")
    assert began.wait(LONG)
    order = []
    jobs = [
        runner.submit(owner, lambda _, owner=owner: order.append(owner))
        for owner in ("a", "a", "a", "b", "b", "c")
    ]
    go.set()
    for job in jobs:
        job.future.result(LONG)
    assert order == ["a", "b", "c", "a", "b", "a"]
    runner.close()


def test_too_many_waiting_are_refused(runner):
    _, began, go = held(runner)
    assert began.wait(LONG)
    for _ in range(3):
        runner.submit("a", lambda _: None)
    with pytest.raises(TooManyRequests):
        runner.submit("a", lambda _: None)
    go.set()


def test_cancelling_while_waiting_and_while_running(runner):
    job, began, go = held(runner)
    assert began.wait(LONG)
    waiting = runner.submit("a", lambda _: None)
    runner.cancel(waiting)
    assert waiting.state is JobState.CANCELLED
    with pytest.raises(Cancelled, match="Nothing was charged"):
        waiting.future.result(1)
    stopped = []
    job.stop = stopped.append
    runner.cancel(job)
    assert stopped == [job.thread]
    go.set()
    with pytest.raises(Cancelled):
        job.future.result(LONG)


def test_a_job_that_ended_stays_as_it_is(runner):
    job = runner.submit("a", lambda _: 1)
    assert job.future.result(LONG) == 1
    done = threading.Event()
    job.listen(done.set)
    while job.state is not JobState.DONE:
        assert done.wait(LONG)
    runner.cancel(job)
    assert job.state is JobState.DONE


def test_remembered_jobs_belong_to_their_caller(runner):
    job, _, go = held(runner, "a", keep=True)
    assert runner.find("a", job.id) is job
    with pytest.raises(UnknownName):
        runner.find("b", job.id)
    forgotten = runner.submit("b", lambda _: None)
    with pytest.raises(UnknownName):
        runner.find("b", forgotten.id)
    go.set()
    job.future.result(LONG)
    for _ in range(KEPT_EACH + 5):
        runner.submit("a", lambda _: None, keep=True).future.result(LONG)
    assert len(runner.mine("a")) <= KEPT_EACH + 1


def test_closing_drops_what_waits_and_cancels_what_runs():
    runner = Runner(workers=1, in_work_each=1, reading_each=1, waiting_each=3)
    job, began, go = held(runner)
    job.stop = lambda _: go.set()
    assert began.wait(LONG)
    waiting = runner.submit("a", lambda _: None)
    runner.close(patience=0.05)
    with pytest.raises(Cancelled):
        waiting.future.result(1)
    with pytest.raises(Cancelled):
        job.future.result(LONG)
    with pytest.raises(ServerFailed, match="stopping"):
        runner.submit("a", lambda _: None)


def test_progress_is_told_and_stops_where_it_is_enough(runner):
    listening, go, heard = threading.Event(), threading.Event(), threading.Event()

    def work(job):
        assert listening.wait(LONG)
        job.advance(1, 4, "counting")
        assert go.wait(LONG)
        job.advance(2, 4, "fitting")

    job = runner.submit("a", work, keep=True)
    job.listen(lambda: heard.set() if job.progress == (1, 4, "counting") else None)
    listening.set()
    assert heard.wait(LONG), "whoever listens is told of progress"
    runner.cancel(job)
    go.set()
    with pytest.raises(Cancelled):
        job.future.result(LONG)
    assert job.progress == (1, 4, "counting")


def test_questions_pass_long_jobs_by():
    runner = Runner(workers=4, in_work_each=3, reading_each=1, waiting_each=9)
    try:
        first, began, go = held(runner, long=True)
        assert began.wait(LONG)
        second = runner.submit("a", lambda _: "second", long=True)  # one at a time for a caller
        third = runner.submit("b", lambda _: "third", long=True)  # and one in four threads
        assert runner.submit("a", lambda _: "quick").future.result(LONG) == "quick"
        assert runner.submit("b", lambda _: "quick").future.result(LONG) == "quick"
        assert second.state is third.state is JobState.QUEUED
        go.set()
        assert first.future.result(LONG) == "a"
        assert second.future.result(LONG) == "second"
        assert third.future.result(LONG) == "third"
    finally:
        runner.close(patience=5)


def test_one_caller_plans_one_text_at_a_time_and_holds_no_thread_meanwhile():
    runner = Runner(workers=4, in_work_each=4, reading_each=1, waiting_each=9)
    try:
        first, began, go = held(runner, plans=True)
        assert began.wait(LONG)
        others = [held(runner, plans=True) for _ in range(3)]
        assert runner.submit("a", lambda _: "not planning").future.result(LONG) == "not planning"
        assert runner.submit("b", lambda _: "b plans", plans=True).future.result(LONG) == "b plans"
        # A job has its result a moment before it is counted as ended.
        eventually(lambda: runner.load == (3, 1), "three wait and one works")
        assert not any(started.is_set() for _, started, _ in others)
        reading = threading.Event()
        _, started, second_go = others[0]
        first.listen(lambda: reading.set() if first.step == "charged" else None)
        go.set()
        assert reading.wait(LONG), "planned: it charges"
        assert started.wait(LONG), "so the next one may plan"
        second_go.set()
        for _, _, each in others:
            each.set()
        assert [job.future.result(LONG) for job, _, _ in others] == ["a"] * 3
    finally:
        runner.close(patience=5)


def test_a_job_that_has_planned_lets_the_next_begin_while_it_reads():
    runner = Runner(workers=4, in_work_each=4, reading_each=1, waiting_each=9)
    try:
        planned, go = threading.Event(), threading.Event()

        def work(job):
            job.tell("charging")
            planned.set()
            return go.wait(LONG)

        first = runner.submit("a", work, plans=True)
        assert planned.wait(LONG)
        assert runner.submit("a", lambda _: "second", plans=True).future.result(LONG) == "second"
        assert not first.state.final
        go.set()
        assert first.future.result(LONG)
    finally:
        runner.close(patience=5)
