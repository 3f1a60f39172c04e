"""Questions in work: a few threads, fair among callers, that can be watched and cancelled."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum
from typing import Any, TypeAlias

from discreet.base.outcome_words import (
    PARTLY,
    UNTOLD,
    OutcomeWords,
    outcome_words,
    settled_standing,
)
from discreet.errors import Cancelled, DiscreetError, ServerFailed, TooManyRequests, UnknownName
from discreet.server.logs import log_failure

KEPT_EACH = 100
"""Finished jobs that are remembered for one caller."""
PATIENCE = 10.0
"""Seconds that running questions have to end when the server stops; then they are cancelled."""
_CANCELLED = "The question was cancelled."

Work: TypeAlias = Callable[["Job"], Any]
Standing: TypeAlias = Callable[[], str | None]
"""What the ledger says now of the charge under a job's request id; None: there is none."""


class JobState(Enum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Return whether nothing more will happen."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


class Job:
    """One question of one caller, from the queue to its answer."""

    def __init__(
        self,
        owner: str,
        work: Work,
        request_id: str,
        *,
        long: bool = False,
        plans: bool = False,
        standing: Standing | None = None,
    ) -> None:
        self.id = uuid.uuid4().hex
        self.owner = owner
        self.long = long
        self.plans = plans
        self.planning = plans
        """Whether it still works on its text; until then no other such job of its caller begins."""
        self.planned: Callable[[], None] | None = None
        self.request_id = request_id
        self.created = time.time()
        self.state = JobState.QUEUED
        self.step = "queued"
        self.steps: list[str] = ["queued"]
        self.progress: tuple[int, int, str] | None = None
        """How far it is, where the number of steps is public: done, of how many, what."""
        self.charged = False
        self.future: Future[Any] = Future()
        self.future.set_running_or_notify_cancel()  # a caller who leaves must not take it along
        self.thread: int | None = None
        self.turn = threading.Semaphore(1)
        self.stop: Callable[[int], None] | None = None
        """How to stop what a thread reads; set while the job holds an engine."""
        self._work = work
        self._standing = standing
        self._lock = threading.Lock()
        self._wanted = True
        self._listeners: list[Callable[[], None]] = []

    def tell(self, step: str) -> None:
        """Enter a public step; raise Cancelled if the caller has had enough."""
        if step == "charged":
            self.charged = True  # before anything can stop it: what is told must be true
        self.check()
        if step != "planning":
            self._end_planning()
        self._say(step)

    def _end_planning(self) -> None:
        if self.planning:
            self.planning = False
            if self.planned is not None:
                self.planned()

    def advance(self, done: int, of: int, what: str) -> None:
        """Enter how far the work is, in public steps; raise Cancelled if it is enough."""
        self.check()
        self.progress = (done, of, what)
        self._wake()

    def check(self) -> None:
        """Raise Cancelled if the caller has had enough.

        It may become the outcome of a charge, so it says no more than what is final already.
        """
        if not self._wanted:
            raise Cancelled(_CANCELLED + (" The charge stands." if self.charged else ""))

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener`, from any thread, whenever something changes."""
        with self._lock:
            self._listeners.append(listener)

    def forget(self, listener: Callable[[], None]) -> None:
        """Stop calling `listener`."""
        with self._lock:
            self._listeners.remove(listener)

    def cancel(self) -> None:
        """Want no answer any more: stop before the next step, and stop what is being read."""
        self._wanted = False
        stop, thread = self.stop, self.thread
        if stop is not None and thread is not None:
            stop(thread)

    def run(self) -> None:
        """Do the work in this thread; how it ended is in `future`, `state` and `step`."""
        self.thread = threading.get_ident()
        self._move(JobState.RUNNING)
        try:
            self.tell("planning")
            answer = self._work(self)
        except BaseException as error:  # noqa: BLE001  # whatever it is, the worker lives on
            self.thread = None
            self._fail(error)
        else:
            self.thread = None
            self.future.set_result(answer)
            self._move(JobState.DONE)

    def _fail(self, error: BaseException) -> None:
        if not self._wanted:
            became = self.became()
            self.future.set_exception(Cancelled(f"{_CANCELLED} {became.text}", hint=became.hint))
            self._move(JobState.CANCELLED)
            return
        if not isinstance(error, DiscreetError):
            log_failure(error)
            error = ServerFailed("Something went wrong inside the server.")
        self.future.set_exception(error)
        self._move(JobState.FAILED)

    def give_up(self) -> None:
        """End a job that has not begun."""
        self._wanted = False
        self._fail(Cancelled(_CANCELLED))

    def became(self) -> OutcomeWords:
        """Return what became of its charge, as the ledger says once nothing works on it any more.

        Guarantee: it is said to have cost nothing only if it was not about to charge and has no id under
            which it could have been charged before, or if the ledger holds no charge under its id.
        """
        found = None if self._standing is None else settled_standing(self._standing)
        begun = self.charged or (self._standing is None and "charging" in self.steps)
        if found is None and begun:
            return PARTLY if self.charged else UNTOLD
        self.charged = self.charged or found is not None
        return outcome_words(found)

    def _move(self, state: JobState) -> None:
        self._say(state.value, state)

    def _say(self, step: str, state: JobState | None = None) -> None:
        with self._lock:
            self.step = step
            self.steps.append(step)
            if state is not None:
                self.state = state  # last: whoever sees that it has ended finds its last step
        self._wake()

    def _wake(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()


class Runner:
    """Runs jobs on a few threads, in turn among callers.

    A caller has at most `in_work_each` jobs in work, `reading_each` of them reading data, and at
    most `waiting_each` waiting: whoever asks much waits behind themselves, not before others.
    Long jobs, which take minutes, have a quarter of the threads, and one caller has one at a time:
    questions pass them by. A job that `plans` works on a text of its caller before it tells its first
    step: a caller has one such at a time, the others wait in the queue and hold no thread.
    """

    def __init__(
        self, *, workers: int, in_work_each: int, reading_each: int, waiting_each: int
    ) -> None:
        self._in_work_each, self._reading_each = in_work_each, reading_each
        self._waiting_each = waiting_each
        self._long_at_once = max(1, workers // 4)
        self._wake = threading.Condition()
        self._queues: OrderedDict[str, deque[Job]] = OrderedDict()
        self._running: dict[str, list[Job]] = {}
        self._turns: dict[str, threading.Semaphore] = {}
        self._jobs: dict[str, OrderedDict[str, Job]] = {}
        self._open = True
        self._threads = [
            threading.Thread(target=self._work, name=f"question-{i}", daemon=True)
            for i in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        owner: str,
        work: Work,
        *,
        request_id: str = "",
        keep: bool = False,
        long: bool = False,
        plans: bool = False,
        standing: Standing | None = None,
    ) -> Job:
        """Return the job, queued; with `keep` it is remembered for `find` after it ends.

        `standing` says what has become of the charge under its id, where it has one.
        """
        job = Job(owner, work, request_id, long=long, plans=plans, standing=standing)
        job.planned = self._planned
        with self._wake:
            if not self._open:
                raise ServerFailed("The server is stopping.")
            queue = self._queues.setdefault(owner, deque())
            if len(queue) >= self._waiting_each:
                raise TooManyRequests(
                    "Too many of your questions are waiting.", hint="Wait for some answers first."
                )
            job.turn = self._turns.setdefault(owner, threading.Semaphore(self._reading_each))
            queue.append(job)
            if keep:
                self._remember(job)
            self._wake.notify()
        return job

    def _planned(self) -> None:
        with self._wake:
            self._wake.notify()

    def find(self, owner: str, job_id: str) -> Job:
        """Return a remembered job of this caller; others' do not exist for them."""
        with self._wake:
            kept = self._jobs.get(owner)
            job = None if kept is None else kept.get(job_id)
        if job is None:
            raise UnknownName("You have no job with this id.", hint="Ended ones are kept a while.")
        return job

    def mine(self, owner: str) -> list[Job]:
        """Return the remembered jobs of this caller, latest first."""
        with self._wake:
            return list(reversed(self._jobs.get(owner, {}).values()))

    def cancel(self, job: Job) -> None:
        """Cancel a job; one that has ended stays as it is."""
        with self._wake:
            queue = self._queues.get(job.owner)
            waiting = queue is not None and job in queue
            if waiting and queue is not None:
                queue.remove(job)
        if waiting:
            job.give_up()
        elif not job.state.final:
            job.cancel()

    @property
    def load(self) -> tuple[int, int]:
        """Return how many jobs wait and how many are in work."""
        with self._wake:
            waiting = sum(len(queue) for queue in self._queues.values())
            return waiting, sum(len(jobs) for jobs in self._running.values())

    def close(self, patience: float = PATIENCE) -> None:
        """Drop what waits, give running jobs `patience` seconds, then cancel them."""
        with self._wake:
            self._open = False
            waiting = [job for queue in self._queues.values() for job in queue]
            self._queues.clear()
            self._wake.notify_all()
        for job in waiting:
            job.give_up()
        end = time.monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))
        with self._wake:
            running = [job for jobs in self._running.values() for job in jobs]
        for job in running:
            job.cancel()
        for thread in self._threads:
            thread.join(2.0)

    def _work(self) -> None:
        while True:
            with self._wake:
                job = self._next()
                while job is None:
                    if not self._open:
                        return
                    self._wake.wait()
                    job = self._next()
                self._running.setdefault(job.owner, []).append(job)
            job.run()
            with self._wake:
                self._running[job.owner].remove(job)
                if not self._running[job.owner]:
                    del self._running[job.owner]
                self._wake.notify()

    def _next(self) -> Job | None:
        """Return the next job of the caller who has waited longest for a turn."""
        for owner in list(self._queues):
            if len(self._running.get(owner, ())) >= self._in_work_each:
                continue
            queue = self._queues.pop(owner)
            job = next((job for job in queue if self._may_begin(job)), None)
            if job is not None:
                queue.remove(job)
            if queue:
                self._queues[owner] = queue  # at the end: the others come first now
            if job is not None:
                return job
        return None

    def _may_begin(self, job: Job) -> bool:
        if job.plans:
            return not any(each.planning for each in self._running.get(job.owner, ()))
        if not job.long:
            return True
        running = [each for jobs in self._running.values() for each in jobs if each.long]
        mine = any(each.owner == job.owner for each in running)
        return not mine and len(running) < self._long_at_once

    def _remember(self, job: Job) -> None:
        kept = self._jobs.setdefault(job.owner, OrderedDict())
        kept[job.id] = job
        ended = [item for item in kept.values() if item.state.final]
        for old in ended[: max(0, len(kept) - KEPT_EACH)]:
            del kept[old.id]
