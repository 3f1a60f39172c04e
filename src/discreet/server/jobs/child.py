"""The child process of one long job: it can be killed at any time, and ends when its server does.

A fresh interpreter reads one order from an inherited socket, does it, and says frames of JSON: steps,
progress, lines for the log, and at last the answer or an error. Nothing that it prints goes anywhere.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from discreet.data.engines.child_limits import limit_data
from discreet.errors import DiscreetError, InternalError
from discreet.server.logs import log_failure

if TYPE_CHECKING:
    from discreet.curator import Curator, SeenLedger
    from discreet.data.catalog.catalog import Catalog


Told: TypeAlias = tuple[int, Mapping[tuple[str, str | None], int]]
"""An hour, and how often whom a ledger told in it that others leave no room."""


class Refusals(Protocol):
    """The count of a ledger's refusals, as a job's process goes on with it."""

    def so_far(self) -> Told:
        """Return how often whom, in this hour."""

    def add(self, told: Iterable[tuple[int, str, str | None, int]]) -> None:
        """Count what such a process has told."""


@dataclass(frozen=True, slots=True)
class JobOrder:
    """One long job for a child: a function of ours by its name, and what it was asked in plain data.

    `task` is "package.module:function"; it is called as function(context, **asked). Without a `catalog` it
    gets no ledger and no engine. `folder` is its own, and goes when it ends. It may grow by `memory_mb`
    (0: as far as the machine goes). `told` is how often callers were told this hour that others leave
    no room: its ledger counts on from there. `known` is what the server has seen of that ledger.
    """

    task: str
    asked: Mapping[str, Any]
    asker: str
    folder: Path
    memory_mb: int
    catalog: Catalog | None = None
    told: Told = (-1, {})
    known: SeenLedger | None = None


_TOLD = frozenset({"charging", "charged"})
"""Steps that are told; a long job reads in many small ones, which are told as progress."""

Send = Callable[[dict[str, Any]], None]


class TaskContext:
    """What a task works with: its curator, its folder, and a way to say how far it is."""

    def __init__(self, order: JobOrder, send: Send, curator: Curator | None) -> None:
        self.folder = order.folder
        self._asker = order.asker
        self._send = send
        self._curator = curator

    def curator(self, analyst: str | None = None) -> Curator:
        """Return the curator as this payer sees it; its charges are told before and after."""
        from discreet.server.jobs.watched import watched

        if self._curator is None:
            raise InternalError("this task was given no catalog")
        seen = self._curator.seen_by(analyst)
        alone = threading.Semaphore(1)  # its engine is its own: there is nobody to take turns with
        return watched(seen, tell=self._tell, turn=alone, asker=self._asker)

    def advance(self, done: int, of: int, what: str) -> None:
        """Say how far the work is, in public steps."""
        self._send({"progress": [int(done), int(of), what]})

    def _tell(self, step: str) -> None:
        if step in _TOLD:
            self._send({"step": step})


class _LogFrames(logging.Handler):
    """Sends records to the server's log: the event and its facts, no message of an exception."""

    def __init__(self, send: Send) -> None:
        super().__init__()
        self._send_frame = send

    def emit(self, record: logging.LogRecord) -> None:
        facts = dict(getattr(record, "facts", {}))
        said = {"level": record.levelno, "event": record.getMessage()[:300], "facts": facts}
        self._send_frame({"log": said})


def main() -> None:
    """Do the one order that comes over the socket whose number is the first argument.

    With the word "spare" behind it, it first gets ready what jobs need: the modules named behind that.
    """
    wire = Connection(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    os.umask(0o077)
    if "spare" in sys.argv[2:]:
        get_ready(sys.argv[3:])
    try:
        frame = wire.recv_bytes()
    except (EOFError, OSError):
        return  # never needed
    threading.Thread(target=end_with_parent, args=[wire], daemon=True).start()
    send = _sender(wire)
    _only_log_to(send)
    order: JobOrder = pickle.loads(frame)  # noqa: S301 from our own server: dataclasses of ours
    perform(order, send)
    # Now: daemon threads of libraries, and whatever else would delay an ordinary end, have no say.
    os._exit(0)


def get_ready(modules: Sequence[str]) -> None:
    """Import and start what takes a second or two in a job: our packages, and the drawing of charts."""
    for name in ("discreet.curator", *modules):
        import_module(name)
    from discreet.show.document import to_svg

    with suppress(DiscreetError):  # whoever needs a chart says what is missing
        to_svg({"mark": "point", "data": {"values": []}, "encoding": {}})


def end_with_parent(wire: Connection) -> None:
    """End this process and its own children when the server is gone, however it went.

    Guarantee: the server holds the only other end of the socket, so it closes when the server ends
        and not before; nothing else is ever sent, and whatever came would end us too.
    """
    with suppress(EOFError, OSError):
        wire.recv_bytes()
    end_group()


def end_group() -> None:
    """Kill this process and everything that it has started."""
    os.killpg(0, signal.SIGKILL)


def _sender(wire: Connection) -> Send:
    turn = threading.Lock()

    def send(said: dict[str, Any]) -> None:
        frame = json.dumps(said).encode()
        try:
            with turn:
                wire.send_bytes(frame)
        except OSError:
            end_group()  # nobody listens any more

    return send


def _only_log_to(send: Send) -> None:
    logging.getLogger().handlers = [logging.NullHandler()]
    ours = logging.getLogger("discreet.server")
    ours.handlers, ours.propagate = [_LogFrames(send)], False
    ours.setLevel(logging.INFO)


def perform(order: JobOrder, send: Send) -> None:
    """Do what is asked and say the last frame: the answer, or in which way there is none."""
    curator = None
    try:
        tempfile.tempdir = os.environ["TMPDIR"] = str(order.folder)
        module, _, name = order.task.partition(":")
        task = getattr(import_module(module), name)
        give_way()
        # Opened before the limit: what an engine is, a Java machine say, is not what the job needs.
        curator = _opened(order)
        limit_data(order.memory_mb)
        try:
            answer = task(TaskContext(order, send, curator), **order.asked)
        finally:
            if curator is not None:
                curator.close()
        send({"answer": answer})
    except DiscreetError as error:
        if curator is not None:
            send({"told": curator.ledger.probes.since(order.told)})  # before what it tells
        send({"error": error.facts()})
    except MemoryError:
        send({"lacked": "memory"})
    except BaseException as error:  # noqa: BLE001  # whatever it is, the server must hear of it
        log_failure(error)
        send({"lacked": "reason"})


def _opened(order: JobOrder) -> Curator | None:
    if order.catalog is None:
        return None
    from discreet.curator import child_curator

    curator = child_curator(order.catalog, scratch=order.folder, known=order.known)
    _ = curator.engine
    curator.ledger.probes.go_on(order.told)
    return curator


def give_way() -> None:
    """Be the first to go when the machine's memory ends, before the server; leave no core behind."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # where the system has no such thing
        Path("/proc/self/oom_score_adj").write_text("500")
