"""A child process and the socket to it: asked with a time limit, killed when it does not stop."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from discreet.data.engines.base import engine_failed
from discreet.data.engines.child_limits import remove_left
from discreet.data.engines.fork_server import start

_GRACE = 0.25
"""Seconds between an interrupt and the kill."""
_START = 60.0
"""Seconds that a fresh child may take to open its sources."""
_READY = "discreet.data.engines.duckdb.worker"
"""What children without numpy find imported."""


class Unreadable(Exception):
    """A source could not be opened; carries the public name of its table only."""


class Child:
    """One running module of ours, spoken to in frames."""

    def __init__(self, module: str, setup: dict[str, Any], *, numpy: bool = False) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = start(module, theirs, ready=module if numpy else _READY, numpy=numpy)
        self._wire = Connection(ours.detach())
        self._temporary = Path(setup["temporary"])
        self._wire.send_bytes(json.dumps(setup).encode())
        self._ready = False
        self._sending = threading.Lock()
        self.alive = True
        self.failed = False
        """Whether it ever could not answer: what that left behind in it is unknown."""
        self.known: dict[str, object] = {}
        """What this child has been told to open, by relation."""
        self.state: object = None
        """Of what its setup was made, where that can change."""

    def wait_ready(self, seconds: float = _START) -> None:
        """Wait until the child has opened its sources; raise Unreadable if one is broken."""
        if self._ready:
            return
        _ = self._process.pid  # it runs: from here on its end is heard
        reply = self._receive(seconds)
        if reply != b"K":
            self.kill()
            if reply[:1] == b"U":
                raise Unreadable(reply[1:].decode())
            raise engine_failed()
        self._ready = True

    def ask(self, frame: bytes, seconds: float) -> bytes:
        """Return the body of the reply; fail after `seconds`, with the child stopped or killed."""
        try:
            self._send(frame)
        except OSError:
            self.kill()
            raise engine_failed() from None
        reply = self._receive(seconds)
        if reply == b"E":
            self.failed = True
            raise engine_failed()
        return reply[1:]

    @property
    def fit(self) -> bool:
        """Return whether it may be asked: it runs, and has answered all that it was asked."""
        ended = self._ready and self._process.ended(0)  # one that starts is not waited for here
        return self.alive and not self.failed and not ended

    def interrupt(self) -> None:
        """Ask the child to stop what it is doing."""
        with contextlib.suppress(OSError):
            self._send(b"I")

    def _send(self, frame: bytes) -> None:
        # cancel() speaks from another thread than ask(): frames must not mix.
        with self._sending:
            self._wire.send_bytes(frame)

    def _receive(self, seconds: float) -> bytes:
        try:
            if not self._wire.poll(seconds):
                self.interrupt()
                # A late answer is no answer: whether it came is not to depend on our patience.
                if self._wire.poll(_GRACE):
                    self._wire.recv_bytes()
                else:
                    self.kill()
                return b"E"
            return self._wire.recv_bytes()
        except (EOFError, OSError):
            self.kill()
            return b"E"
        except BaseException:
            # Interrupted from outside (Ctrl-C): the next reply would be this one's.
            self.kill()
            raise

    def kill(self) -> None:
        """End the child now, whatever it does."""
        self.alive = False
        self._wire.close()
        self._end()

    def close(self) -> None:
        """Let an idle child go: it ends when its socket closes."""
        if not self.alive:
            return
        self.alive = False
        self._wire.close()
        self._process.ended(1.0)
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.ended()
        remove_left(self._temporary)
