"""Servers in processes of their own, forked from a template that has imported what they need."""

import json
import os
import signal
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from child_tasks import tests_on_path
from discreet.data.engines.fork_server import start
from lent import borrow, lend

FREE = {"rate": 1e6, "burst": 10**6, "address_rate": 1e6, "address_burst": 10**6}


class _Process:
    def __init__(self, told: dict) -> None:
        self._wire, theirs = socket.socketpair()
        with theirs, tests_on_path():
            self._process = start(__name__, theirs, ready=__name__, numpy=True)
            self.pid = self._process.pid
        socket.send_fds(self._wire, [json.dumps(told).encode()], lend(planner=True))

    def kill(self) -> None:
        """End it now, wherever it is."""
        self._process.kill()
        self._process.ended()
        self._wire.close()


class ServerProcess(_Process):
    """A server; it says when it is ready."""

    def __init__(self, config: Path, state: Path, port: int) -> None:
        super().__init__({"config": str(config), "state": str(state), "port": port})

    def ready(self) -> bool:
        """Wait until it listens; False: it has ended before."""
        return self._wire.recv(1) == b"1"


class CommandProcess(_Process):
    """`discreet ...`; what it prints can be read."""

    def __init__(self, words: list[str]) -> None:
        super().__init__({"words": words})
        self.stdout = self._wire.makefile()

    def end(self, seconds: float) -> bool:
        """Ask it to end, and return whether it does."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        ended = self._process.ended(seconds)
        self.stdout.close()
        self._wire.close()
        return ended


def main() -> None:
    """Do what comes over the socket of the first argument."""
    wire = socket.socket(fileno=int(sys.argv[1]))
    said, given, _, _ = socket.recv_fds(wire, 1 << 16, 2)
    borrow(*given)
    told = json.loads(said)
    if "words" in told:
        for output in (1, 2):
            os.dup2(wire.fileno(), output)
        import_module("discreet.cli.app").run(told["words"])
        return
    run, settings = (import_module(f"discreet.server.{name}") for name in ("start", "settings"))
    places = {"config": Path(told["config"]), "state": Path(told["state"]), "port": told["port"]}
    chosen = settings.Settings(**places, **FREE, spare_child=False)
    run.serve(chosen, ready=lambda: wire.sendall(b"1"), log_level="ERROR")


if __name__ in sys.argv[2:]:  # this is the template
    for room in ("discreet.curator", "discreet.cli.app", "discreet.server.start"):
        import_module(room)
    import_module("discreet.server.start").features()
