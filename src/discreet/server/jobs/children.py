"""Long jobs in child processes: started, listened to, limited, killed; and what they left said.

The server tells a child what to do once and only listens then. A child is a group of processes (it
starts an engine of its own), and the group is killed when its job ends, is cancelled or takes too long.
"""

from __future__ import annotations

import fcntl
import json
import logging
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.curator import SeenLedger
from discreet.data.catalog.catalog import Catalog
from discreet.errors import from_facts
from discreet.server.jobs.child import JobOrder, Refusals, Told
from discreet.server.jobs.queue import Job

MODULE = "discreet.server.jobs.child"
LARGEST = 64 << 20
"""Bytes of one frame: answers are facts about what lies on a shelf, not the thing itself."""
PATIENCE = 2.0
"""Seconds that a process which has closed its socket has to end by itself, and say how."""
_START = "import sys; from {} import main; main()"
_ALONE = {"OPENBLAS_NUM_THREADS": "1"}
"""Jobs share the machine: threads that wait for each other's part of a small product spin, up to ten times as long."""

_log = logging.getLogger("discreet.server")


class ChildEnded(Exception):
    """A child that ended without an answer; its words are one sentence about how."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one long job may use: how far its process may grow (0: no limit), and for how long."""

    memory_mb: int
    seconds: float


class JobProcess:
    """One process that waits for an order, and everything that it starts.

    Guarantee: `end` kills the whole group before its leader's number can be given to anybody else, and
        the group is never signalled afterwards.
    """

    def __init__(
        self, module: str, hidden: Collection[str], *, spare: Sequence[str] | None = None
    ) -> None:
        self._wire, theirs = multiprocessing.Pipe()
        # A fresh interpreter, not a fork: locks of the server's threads would be copied while held.
        # -P: the folder we happen to stand in must not be able to replace a module.
        start = [sys.executable, "-P", "-c", _START.format(module)]
        self._process = subprocess.Popen(  # noqa: S603 our own interpreter and module
            [*start, str(theirs.fileno()), *([] if spare is None else ["spare", *spare])],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
            env=_ALONE | {name: told for name, told in os.environ.items() if name not in hidden},
        )
        theirs.close()
        self._lock = threading.Lock()
        self._over = False
        self._status = 0

    @property
    def number(self) -> int:
        """Return the process's number, which is its group's too."""
        return self._process.pid

    @property
    def waits(self) -> bool:
        """Return whether it lives."""
        return not self._ended(0.0)

    def send(self, order: JobOrder) -> None:
        """Tell it what to do; it is told once."""
        self._wire.send_bytes(pickle.dumps(order))

    def said(self, seconds: float) -> Iterator[dict[str, Any]]:
        """Yield what it says until it ends; TimeoutError when that takes longer than `seconds`."""
        end = time.monotonic() + seconds
        while True:
            if not self._wire.poll(max(0.0, end - time.monotonic())):
                raise TimeoutError
            try:
                frame = self._wire.recv_bytes(LARGEST)
            except (EOFError, OSError):
                return
            yield json.loads(frame)

    def kill(self) -> None:
        """Kill the group; whoever listens hears its end."""
        with self._lock:
            if not self._over:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def end(self, patience: float = 0.0) -> int:
        """Return how the process ended within `patience` or is ended now, with all that it started."""
        with self._lock:
            if not self._over:
                by_itself = self._ended(patience)
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                status = self._process.wait()
                self._wire.close()
                self._over = True
                self._status = status if by_itself else -signal.SIGKILL
        return self._status

    def _ended(self, patience: float) -> bool:
        """Return whether the process is over; its number stays its own until somebody waits for it."""
        end = time.monotonic() + patience
        while not (over := _is_over(self._process)) and time.monotonic() < end:
            time.sleep(0.005)
        return over


def _is_over(process: subprocess.Popen[bytes]) -> bool:
    if not hasattr(os, "waitid"):  # macOS: asking takes the number back, so it is asked seldom
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class Children:
    """Runs orders, each in a process of its own; safe to share among threads."""

    def __init__(
        self,
        state: Path,
        limits: ChildLimits,
        *,
        hidden: Collection[str] = (),
        spare: bool = False,
        warm: Sequence[str] = (),
        module: str = MODULE,
    ) -> None:
        self._state = state
        self._limits = limits
        self._hidden = frozenset(hidden)
        self.module = module
        self._keeps_spare, self._warm = spare, tuple(warm)
        self._spare: JobProcess | None = None
        self._lock = threading.Lock()
        sweep(state)

    def warm(self) -> None:
        """Have a process ready that has started what jobs need: a job is about to come, probably."""
        with self._lock:
            if self._keeps_spare and self._spare is None:
                self._spare = JobProcess(self.module, self._hidden, spare=self._warm)

    def close(self) -> None:
        """End the process that waits, and keep none ready any more."""
        with self._lock:
            self._keeps_spare = False
        spare = self._taken_spare()
        if spare is not None:
            spare.end()

    def _taken_spare(self) -> JobProcess | None:
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None and not spare.waits:
            spare.end()  # somebody killed it meanwhile
            return None
        return spare

    def run(
        self,
        job: Job,
        task: str,
        asked: Mapping[str, Any],
        *,
        catalog: Catalog | None = None,
        asker: str = "",
        probes: Refusals | None = None,
        known: SeenLedger | None = None,
    ) -> Any:
        """Return the answer of a task that a child did for `job`, or raise what it ended in.

        Guarantee: when this returns or raises, no process of the job lives and its folder is gone. A
            child that ended without a word raises ChildEnded, and a cancelled one Cancelled.
        """
        began = time.monotonic()
        how = "done"
        try:
            with workplace(self._state, job.id) as folder:
                limits = self._limits
                told: Told = probes.so_far() if probes is not None else (-1, {})
                order = JobOrder(task, asked, asker, folder, limits.memory_mb, catalog, told, known)
                return self._done(job, order, probes)
        except BaseException as error:
            how = type(error).__name__
            raise
        finally:
            took = round((time.monotonic() - began) * 1000)
            _tell(job, logging.INFO, "job", {"task": task, "ended": how, "ms": took})

    def _done(self, job: Job, order: JobOrder, probes: Refusals | None) -> Any:
        child = self._taken_spare() or JobProcess(self.module, self._hidden)
        try:
            job.stop = lambda _thread: child.kill()
            job.check()  # what was cancelled before there was anything to kill
            with suppress(OSError):  # it has ended already: that is heard next
                child.send(order)
            return self._heard(job, child, probes)
        finally:
            job.stop = None
            child.end()
            self.warm()

    def _heard(self, job: Job, child: JobProcess, probes: Refusals | None) -> Any:
        limits = self._limits
        try:
            for said in child.said(limits.seconds):
                match said:
                    case {"answer": answer}:
                        return answer
                    case {"progress": [int(done), int(of), str(what)]}:
                        job.advance(done, of, what)
                    case {"step": str(step)}:
                        job.tell(step)
                    case {"log": {"level": level, "event": event, "facts": facts}}:
                        _tell(job, level, event, facts)
                    case {"told": list(told)} if probes is not None:
                        probes.add(told)
                    case {"error": error}:
                        raise from_facts(error)
                    case {"lacked": "memory"}:
                        most = f"{limits.memory_mb:,} MB"
                        raise ChildEnded(
                            f"The job needed more memory than the {most} that one may take."
                        )
                    case _:
                        raise ChildEnded("Something went wrong inside the server.")
        except TimeoutError:
            raise ChildEnded(
                f"The job took longer than the {limits.seconds:g} seconds that one may take."
            ) from None
        job.check()  # killed because it was cancelled
        raise ChildEnded(_sentence(child.end(PATIENCE)))


def _tell(job: Job, level: int, event: str, facts: Mapping[str, Any]) -> None:
    whose = {"job": job.id, "request": job.request_id}
    _log.log(level, event, extra={"facts": dict(facts) | whose})


def _sentence(status: int) -> str:
    if status == -signal.SIGKILL:
        return "The job's process was killed, by the system for want of memory or by somebody."
    if status < 0:
        name = signal.Signals(-status).name
        return f"The job's process was ended by a signal ({name}), perhaps for want of memory."
    return "The job's process ended before it had an answer."


FOLDER = "jobs"
_LOCK = "lock"


@contextmanager
def workplace(state: Path, name: str) -> Iterator[Path]:
    """Lend a folder of this name; whatever a job leaves in it, killed or not, goes with it."""
    place = state / FOLDER / name
    lock = _locked(place)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _locked(place: Path) -> int:
    """Return the held lock of a new folder, also if another server swept it before it was held."""
    while True:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            lock = os.open(place / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (place / _LOCK).exists():
                return lock
            os.close(lock)


def sweep(state: Path) -> None:
    """Remove the folders of servers that were killed; those of another living one are locked."""
    if not (state / FOLDER).is_dir():
        return
    for place in (state / FOLDER).iterdir():
        with suppress(OSError):
            lock = os.open(place / _LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(place, ignore_errors=True)
            finally:
                os.close(lock)
