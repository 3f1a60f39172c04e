"""A server in a process of its own, forked from a template that has imported it."""

import json
import os
import socket
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

from child_tasks import on_path
from discreet.engine.template import start

FREE = {"rate": 1e6, "burst": 10**6, "address_rate": 1e6, "address_burst": 10**6}


class ServerProcess:
    """A process that serves; it says when it is ready."""

    def __init__(self, config: Path, state: Path, port: int) -> None:
        self._wire, theirs = socket.socketpair()
        with theirs, patch.dict(os.environ, PYTHONPATH=on_path()):
            self._process = start(__name__, theirs, ready=__name__, numpy=True)
            self.pid = self._process.pid
        told = {"config": str(config), "state": str(state), "port": port}
        self._wire.sendall(json.dumps(told).encode() + b"\n")

    def ready(self) -> bool:
        """Wait until it listens; False: it has ended before."""
        return self._wire.recv(1) == b"1"

    def kill(self) -> None:
        """End it now, wherever it is."""
        self._process.kill()
        self._process.ended()
        self._wire.close()


def main() -> None:
    """Serve what comes over the socket of the first argument."""
    from discreet.server.run import serve
    from discreet.server.settings import Settings

    wire = socket.socket(fileno=int(sys.argv[1]))
    with wire.makefile() as lines:
        told = json.loads(lines.readline())
    places = {"config": Path(told["config"]), "state": Path(told["state"]), "port": told["port"]}
    settings = Settings(**places, **FREE, spare_child=False)
    serve(settings, ready=lambda: wire.sendall(b"1"), log_level="ERROR")


if __name__ in sys.argv[2:]:  # this is the template
    for room in ("discreet.api", "discreet.server.run"):
        import_module(room)
    import_module("discreet.server.app").features()
