"""The child process of a long job, forked from a template that has imported what jobs need.

Charts are drawn by one process for all of them: what draws takes most of a second to start.
"""

import json
import os
import socket
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

from lent import borrow


def draw():
    """Draw the charts that come over the socket of the first argument until it is shut down."""
    import vl_convert

    orders = socket.socket(fileno=int(sys.argv[1]))
    while given := socket.recv_fds(orders, 1, 1)[1]:
        with Connection(given[0]) as wire, suppress(EOFError, OSError):
            spec, named = json.loads(wire.recv_bytes())
            try:
                said = {"drawn": vl_convert.vegalite_to_svg(spec, **named)}
            except ValueError as error:
                said = {"wrong": str(error)}
            wire.send_bytes(json.dumps(said).encode())


def drawn_by(orders):
    """Return what has the function of `vl_convert` that reports call, done by the process of `draw`."""

    def vegalite_to_svg(spec, **named):
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(orders, [b"1"], [theirs.fileno()])
        with Connection(ours.detach()) as wire:
            wire.send_bytes(json.dumps([spec, named]).encode())
            said = json.loads(wire.recv_bytes())
        if "wrong" in said:
            raise ValueError(said["wrong"])
        return said["drawn"]

    return SimpleNamespace(vegalite_to_svg=vegalite_to_svg)


def get_ready():
    """Import what jobs need."""
    from discreet.server import features
    from discreet.server.feature import warm_modules

    import_module("pandas")  # Arrow asks for it when it writes
    for name in ("discreet.curator", *warm_modules()):
        import_module(name)
    for file in sorted(Path(features.__file__).parent.glob("*/in_child.py")):
        import_module(f"{features.__name__}.{file.parent.name}.in_child")


def main():
    """Lead a group of its own, forget what is hidden, and be the module of a child whose order comes then."""
    from discreet.show import document

    os.setpgid(0, 0)
    with socket.socket(fileno=os.dup(int(sys.argv[1]))) as wire:
        told, given, _, _ = socket.recv_fds(wire, 1 << 16, 2)
    module, hidden = json.loads(told)
    for name in hidden:
        os.environ.pop(name, None)
    painter = drawn_by(socket.socket(fileno=given[0]))
    borrow(given[1])
    document._converter = lambda: painter
    if "CHILD_HELD" in os.environ:
        import_module("child_held")
    import_module(module).main()


if __name__ in sys.argv[2:]:  # this is the template
    get_ready()
