"""Whether a question can be planned within limits that hold: tried in a child that can be killed."""

from __future__ import annotations

import base64
import hashlib
import pickle
import re
import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from discreet.catalog.catalog import Catalog
from discreet.core.requests.question import QuestionFields
from discreet.engine.base import Capabilities
from discreet.engine.process.child import Child
from discreet.errors import EngineFailed, QueryRefused

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
        child = idle or Child("discreet.release.planning.worker", room.setup, numpy=True)
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
