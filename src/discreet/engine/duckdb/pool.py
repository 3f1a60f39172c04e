"""Child processes that are lent out one by one, and taught the tables that a query may name."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from discreet.engine.process.child import Child

Setup = Callable[[], dict[str, Any]]


class ChildPool:
    """Children of one kind. `places` is how many of all kinds may work at the same time."""

    def __init__(self, places: threading.Semaphore, *, seconds: float) -> None:
        self._places = places
        self._seconds = seconds
        self._lock = threading.Lock()
        self._idle: list[Child] = []
        self._busy: dict[Child, int] = {}

    def warm(self, setup: dict[str, Any]) -> None:
        """Start a child while the caller goes on: its imports and ours run side by side."""
        self._idle.append(_spawn(setup, None))

    @contextlib.contextmanager
    def lend(
        self,
        setup: Setup,
        *,
        kept: Mapping[str, Path],
        canon: Mapping[str, Path] | None = None,
        state: object = None,
    ) -> Iterator[Child]:
        """Lend a child that knows these stored tables and snapshots.

        `state` says of what its setup was made: a child that was opened in another one is let go.
        """
        with self._places:
            with self._lock:
                child = self._fit(state) or _spawn(setup(), state)
                self._busy[child] = threading.get_ident()
            try:
                child.wait_ready()
                self._teach(child, kept, canon or {})
                yield child
            finally:
                fit = child.fit
                with self._lock:
                    self._busy.pop(child, None)
                    if fit:
                        self._idle.append(child)
                if not fit:
                    child.close()

    def _fit(self, state: object) -> Child | None:
        """Return an idle child of this state that still runs; the system may have ended one for its memory."""
        while self._idle:
            child = self._idle.pop()
            if child.fit and child.state == state:
                return child
            child.close()
        return None

    def _teach(self, child: Child, kept: Mapping[str, Path], canon: Mapping[str, Path]) -> None:
        for name, place in kept.items():
            if child.known.get(f"kept.{name}") != place:
                child.ask(b"V" + _order(name, place), self._seconds)
                child.known[f"kept.{name}"] = place
        for name, path in canon.items():
            if child.known.get(f"canon.{name}") != path:
                child.ask(b"A" + _order(name, path), self._seconds)
                child.known[f"canon.{name}"] = path

    def interrupt(self, thread: int | None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        with self._lock:  # held throughout: a child must not pass on to another thread meanwhile
            for child, user in self._busy.items():
                if thread in (None, user):
                    child.interrupt()

    def close(self) -> None:
        """End all children, the busy ones at once."""
        with self._lock:
            for child in self._busy:
                child.kill()
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()


def _spawn(setup: dict[str, Any], state: object) -> Child:
    child = Child("discreet.engine.duckdb.worker", setup)
    child.state = state
    return child


def _order(name: str, path: Path) -> bytes:
    return json.dumps({"name": name, "path": str(path)}).encode()
