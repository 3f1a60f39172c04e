"""Limits on planning: whether a question can be planned in the time and memory allowed, tried in a child process.

The child plans without an engine: what planning a text costs, it costs there first. It speaks in frames as
`engine.child` does. It holds the catalog, which is public to the server, and never a ledger, an engine or a row; it
can be killed at any time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import pickle
import re
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any, cast

from discreet.ask.plan.ir import scans_of
from discreet.ask.plan.plan import ask, make_plan
from discreet.ask.release.desk import Request
from discreet.ask.release.error_bars import expected_errors
from discreet.ask.release.post_processing import nested_in
from discreet.ask.sql.bind import bind
from discreet.ask.sql.parse import ParsedQuestion, parse_everywhere, read, read_checked
from discreet.ask.sql.post_processing.split import split
from discreet.ask.sql.write.statement import render
from discreet.base.numbers import Epsilon
from discreet.base.requests.paid import QuestionFields
from discreet.data.catalog.catalog import Catalog
from discreet.data.engines.base import Capabilities, Engine
from discreet.data.engines.child import Child
from discreet.data.engines.child_limits import limit_memory
from discreet.errors import DiscreetError, EngineFailed, QueryRefused

AT_ONCE = 2
"""Children that plan side by side."""
SECONDS = 3.0
"""CPU time that planning one question may take."""
PATIENCE = 30.0
"""Seconds after which a child is killed in any case: the machine may be busy with other things."""
MEMORY_MB = 400
SHORT = 30
"""Words and signs of a question that is planned without being tried."""
DOUBLINGS = 6
"""Opening brackets and joins in such a question: each may double what the parser does."""
KEPT = 5000
"""Questions that are remembered as plannable, so that explaining, asking and repeating try once."""

_WORD = re.compile(r"\w+|[^\w\s]")
_DOUBLING = frozenset({"(", "[", "{", "<", "join", "apply", "lateral"})
"""Where the parser tries two ways, one inside the other."""


@dataclass(frozen=True, slots=True)
class _Room:
    """The children of one catalog, those that have nothing to do, and what was tried with it."""

    catalog: Catalog
    setup: dict[str, Any]
    idle: list[Child]
    known: OrderedDict[bytes, None]


class PlanningLimits:
    """Tries questions before they are planned where everybody's questions are.

    Guarantee: a text that `check` lets pass is planned with at most `SECONDS` of CPU time and
        `MEMORY_MB` of memory, because that is what the very same work took in a child process; a
        text that takes more, or that kills its planner, is refused and costs only the child.
        Nothing here reads a ledger or a row. (Note 0033.)
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        memory_mb: int = MEMORY_MB,
        spare_short: bool = True,
    ) -> None:
        """Hold trials to these limits; `spare_short` spares small texts the trial."""
        self._spare_short = spare_short
        self._limits = {"seconds": seconds, "memory_mb": memory_mb}
        self._turns = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._room: _Room | None = None

    def check(
        self,
        catalog: Catalog,
        capabilities: Capabilities,
        asked: QuestionFields,
        *,
        datasets: tuple[str, ...],
    ) -> None:
        """Return if what is asked of these datasets can be planned, or refuse it."""
        if self._spare_short and _is_short(str(asked.sql)):
            return
        tried = replace(asked, request_id=None, group_size=None)  # they change no plan
        try:
            frame = b"P" + pickle.dumps((tried, datasets))
        except RecursionError:
            raise _refused(b"D") from None
        self._try(catalog, capabilities, frame)

    def check_text(self, catalog: Catalog, capabilities: Capabilities, text: str) -> None:
        """Return if `text` can be parsed, as a question and as a client's PostgreSQL, or refuse it.

        The parser looks ahead: some texts of a few lines take it longer than anybody lives.
        """
        if not _is_short(text):
            self._try(catalog, capabilities, b"T" + text.encode(errors="replace"))

    def _try(self, catalog: Catalog, capabilities: Capabilities, frame: bytes) -> None:
        key = hashlib.sha256(frame).digest()
        room = self._room_of(catalog, capabilities)
        if key in room.known:
            return
        with self._turns:
            judged = self._judged(room, frame)
        if judged in _WHY:
            raise _refused(judged)
        with self._lock:
            room.known[key] = None
            while len(room.known) > KEPT:
                room.known.popitem(last=False)

    def close(self) -> None:
        """End the children."""
        with self._lock:
            room, self._room = self._room, None
        for child in () if room is None else room.idle:
            child.close()

    def _room_of(self, catalog: Catalog, capabilities: Capabilities) -> _Room:
        with self._lock:
            if self._room is not None and self._room.catalog is catalog:
                return self._room
            old = self._room
            told = base64.b64encode(pickle.dumps((catalog, capabilities))).decode()
            setup = {"catalog": told, "temporary": tempfile.gettempdir(), **self._limits}
            self._room = room = _Room(catalog, setup, [], OrderedDict())
        for child in () if old is None else old.idle:
            child.close()
        return room

    def _judged(self, room: _Room, frame: bytes) -> bytes:
        with self._lock:
            idle = room.idle.pop() if room.idle else None
        child = idle or Child("discreet.ask.release.planning_limits", room.setup, numpy=True)
        judged = b"M"
        try:
            child.wait_ready()
            judged = child.ask(frame, PATIENCE)
        except EngineFailed:
            judged = b"M"  # it has outgrown its limit, or the parser's stack, or our patience
        finally:
            self._give_back(room, child, whole=judged != b"M")
        return judged

    def _give_back(self, room: _Room, child: Child, *, whole: bool) -> None:
        with self._lock:  # what a child has grown to, it would not give back
            keep = whole and child.alive and room is self._room
            if keep:
                room.idle.append(child)
        if not keep:
            child.close()


def _is_short(text: str) -> bool:
    """Return whether a text is so small that the worst of its kind is parsed at once (note 0067)."""
    if len(text) > 1000:
        return False
    words = _WORD.findall(text.lower())
    doubled = sum(word in _DOUBLING for word in words)
    return len(words) <= SHORT and doubled <= DOUBLINGS


_WHY = {
    b"T": "Working out how to answer this question takes too long",
    b"M": "Working out how to answer this question takes too long or too much memory",
    b"D": "This question is nested too deeply",
}


def _refused(letter: bytes) -> QueryRefused:
    hint = "Ask something smaller: fewer conditions, columns or steps, or several questions."
    return QueryRefused(f"{_WHY[letter]}; nothing was charged.", hint=hint, construct="too large")


READ_SECONDS, READ_EACH = 0.1, 1e-5
"""CPU time that reading a text may take in each dialect, and more for each of its characters: compiled code
holds a whole process meanwhile, so that what reading takes, everybody waits for. (Usual texts take a tenth.)"""
GRACE = 1.0
"""Seconds of CPU time that the timer has to be heard, before the system ends the process."""


class _Late(BaseException):
    """The planning has used up its time; not an Exception, so that nothing on the way keeps it."""


def main() -> None:
    """Answer on the socket whose number is the first argument, until the parent is gone."""
    wire = Connection(int(sys.argv[1]))
    setup = json.loads(wire.recv_bytes())
    # What our own parent has pickled: dataclasses of the catalog, and requests.
    catalog, capabilities = pickle.loads(base64.b64decode(setup["catalog"]))  # noqa: S301 see above
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGVTALRM, _late)
    limit_memory(setup["memory_mb"])
    wire.send_bytes(b"K")
    while True:
        try:
            frame = wire.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)
        if frame != b"I":  # an interrupt comes too late to be one: the timer or the kill was first
            end_after(setup["seconds"] + GRACE)
            if frame[:1] == b"T":
                text = frame[1:].decode()
                letter = within(setup["seconds"], partial(read_soon, text, parse_everywhere, 2))
            else:
                asked, datasets = pickle.loads(frame[1:])  # noqa: S301 see above
                letter = judged(asked, datasets, catalog, capabilities, setup["seconds"])
            wire.send_bytes(b"A" + letter)


def judged(
    asked: QuestionFields, datasets: Sequence[str], catalog: Any, capabilities: Any, seconds: float
) -> bytes:
    """Return K if what is asked of `datasets` can be planned within the limits, or the letter of what it lacks."""
    seen = {name: catalog.datasets[name] for name in datasets}

    def work() -> None:
        sql: str | ParsedQuestion = asked.sql
        if isinstance(sql, str):
            read_soon(sql, read, 1)
        try_planning(Request.of_asked(asked), replace(catalog, datasets=seen), capabilities)

    return within(seconds, work)


def read_soon(text: str, reading: Callable[[str], object], dialects: int) -> None:
    """Read a text, and raise if that takes longer than a text of its length may; not for the first time only."""
    allowed = dialects * (READ_SECONDS + READ_EACH * len(text))
    for _ in range(2):  # what is loaded by the first reading is no fault of the text
        begun = time.process_time()
        with suppress(DiscreetError):
            reading(text)
        if time.process_time() - begun <= allowed:
            return
    raise _Late


def within(seconds: float, work: Callable[[], object]) -> bytes:
    """Return K if `work` ends within the limits, or the letter of what it lacks."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        work()
    except _Late:
        return b"T"
    except MemoryError:
        return b"M"
    except RecursionError:
        return b"D"
    except DiscreetError:
        return b"K"  # refused, and will be refused in the same words
    except Exception:  # noqa: BLE001  # a mistake of ours: the server is to make it itself, and say so
        return b"F"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return b"K"


def end_after(seconds: float) -> None:
    """Let the system end this process after so much more CPU time.

    The timer's exception waits for the interpreter, and compiled code may not come back to it.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _late(_signal: int, _frame: FrameType | None) -> None:
    raise _Late


@dataclass(frozen=True, slots=True)
class DialectOnlyEngine:
    """As much of an engine as writing SQL for it needs: no connection, no table, no row."""

    capabilities: Capabilities
    names: tuple[str, ...]

    def relation(self, name: str) -> str:
        """Return a name that stands for the table."""
        return f'"{name}"'

    def columns(self, _name: str) -> list[tuple[str, str]]:
        """Return every declared name, as text."""
        return [(name, "VARCHAR") for name in self.names]

    def has(self, _name: str) -> bool:
        """Return that nothing is stored."""
        return False


def try_planning(request: Request, catalog: Catalog, capabilities: Capabilities) -> None:
    """Plan and write the request's SQL, and throw both away; raise what planning it would raise.

    Guarantee: a function of the text, the catalog and the dialect, and the same work that
        `release` does between reading the text and the charge; what it costs here, it costs there.
    """
    tree = read_checked(request.sql)
    nested = nested_in(tree, catalog)
    if nested is not None:
        for inner in nested.private:
            _try_planning_one(
                replace(request, sql=ParsedQuestion("", inner.select)), catalog, capabilities
            )
        tree = nested.sampled(catalog)
        request = replace(request, sql=ParsedQuestion("", tree))
    program = split(tree, catalog)
    if program is None:
        _try_planning_one(request, catalog, capabilities)
        return
    for part in program.parts:
        _try_planning_one(replace(request, sql=ParsedQuestion("", part)), catalog, capabilities)


def _try_planning_one(request: Request, catalog: Catalog, capabilities: Capabilities) -> None:
    statement = bind(request.sql, catalog, max_rows=request.max_rows)
    scans = [scan for scan in scans_of(statement.source) if scan.dataset is not None]
    question = ask(statement, catalog, {scan.table.name: "1" for scan in scans})
    budget = catalog.budget_of(question.dataset)
    epsilon = request.epsilon or Epsilon.of(1)
    plan = make_plan(question, epsilon=epsilon, budget_delta=budget.delta)
    names = {column.name for scan in scans for column in scan.table.columns}
    paper: Any = DialectOnlyEngine(capabilities, tuple(sorted(names)))
    render(question, cast("Engine", paper))
    expected_errors(plan)
