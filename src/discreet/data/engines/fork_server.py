"""Child processes that start at once: forked from a process that has done its imports and little else.

A fresh interpreter takes a quarter of a second to import DuckDB and Arrow, and the planner a whole one;
a fork of a process that has them takes some milliseconds. What a module can do ahead for all its children,
it does in `prepare`. The template is started by exec, never forked from us, so no child has anything of ours
in its memory; it has one thread, opens no file, gives its children no random number and knows no secret. Where
the system has no pidfd (Linux has), a child is started by exec as ever.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

_START_CODE = "import sys; {before}from {module} import main; main()"
# Arrow and DuckDB do without numpy, and a child without it starts in half the time.
_NO_NUMPY = "sys.modules['numpy'] = None; "
_ONE_THREAD = {"JE_ARROW_MALLOC_CONF": "background_thread:false", "OPENBLAS_NUM_THREADS": "1"}
"""With these, importing Arrow and numpy starts no thread: what has threads must not fork."""
_MOST = 1 << 20
"""Bytes of an order: where to stand, and the environment."""


Asked: TypeAlias = tuple[socket.socket, socket.socket]
"""Where a child's handle is told, and where one says that it may begin."""


class Started(Protocol):
    """A process that was started, however that was done."""

    @property
    def pid(self) -> int:
        """Return its number; waits until it has one, and from then on its end is heard on its socket."""

    def kill(self) -> None:
        """End it now."""

    def ended(self, seconds: float | None = None) -> bool:
        """Return whether it ends within `seconds`; None waits as long as it takes."""


def start(module: str, wire: socket.socket, *, ready: str, numpy: bool) -> Started:
    """Start `main` of a module, which finds the number of its socket in its first argument.

    `ready` is the module whose imports the child's template has done. Returns at once: the template may
    still be busy with them.
    """
    if _holds():
        asked = _template(ready, numpy=numpy).order(module, wire)
        if asked is not None:
            return _Forked(asked, lambda: _Executed(module, kept, numpy=numpy), kept := wire.dup())
        _drop(ready)  # it is gone, or the order is too large for it
    return _Executed(module, wire, numpy=numpy)


@functools.cache
def _holds() -> bool:
    """Return whether this system lets processes be held by descriptors; some forbid it, some have none."""
    try:
        handle = os.pidfd_open(os.getpid())
        signal.pidfd_send_signal(handle, 0)
        os.close(handle)
    except (AttributeError, OSError):
        return False
    return True


class _Executed:
    """A process of its own from the beginning."""

    def __init__(self, module: str, wire: socket.socket, *, numpy: bool) -> None:
        self._process = _executed(module, wire, numpy=numpy)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()

    def ended(self, seconds: float | None = None) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
            return True
        return False


class _Held:
    """A process that is not ours to wait for, held by a descriptor: its number might be another's by now."""

    def __init__(self, pid: int, handle: int) -> None:
        self._pid, self._handle = pid, handle

    @property
    def pid(self) -> int:
        return self._pid

    def __del__(self) -> None:
        os.close(self._handle)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def ended(self, seconds: float | None = None) -> bool:
        waits = select.poll()
        waits.register(self._handle, select.POLLIN)
        return bool(waits.poll(None if seconds is None else seconds * 1000))


class _Forked:
    """A process that a template was asked for; it is waited for when something is done with it."""

    def __init__(
        self, asked: Asked, otherwise: Callable[[], _Executed], wire: socket.socket
    ) -> None:
        (self._told, self._go), self._otherwise, self._wire = asked, otherwise, wire
        self._lock = threading.Lock()
        self._found: _Held | _Executed | None = None

    def _settled(self) -> _Held | _Executed:
        with self._lock:
            if self._found is None:
                with (
                    self._told,
                    self._go,
                    self._wire,
                ):  # ours, too: a child that ends must be heard to
                    handles: list[int] = []
                    with contextlib.suppress(OSError):
                        said, handles, _, _ = socket.recv_fds(self._told, 64, 1)
                    if handles:
                        self._found = _Held(int(said), handles[0])
                        with contextlib.suppress(OSError):  # it has ended: that is heard elsewhere
                            self._go.send(b"1")
                    else:
                        self._found = self._otherwise()
            return self._found

    @property
    def pid(self) -> int:
        return self._settled().pid

    def kill(self) -> None:
        self._settled().kill()

    def ended(self, seconds: float | None = None) -> bool:
        return self._settled().ended(seconds)


def _executed(
    module: str, wire: socket.socket, *, numpy: bool, ready: str = ""
) -> subprocess.Popen[bytes]:
    # -P: the folder we happen to stand in must not be able to replace a module.
    code = _START_CODE.format(module=module, before="" if numpy else _NO_NUMPY)
    return subprocess.Popen(  # noqa: S603 our own interpreter and module
        [sys.executable, "-P", "-c", code, str(wire.fileno()), *([ready] if ready else [])],
        env=(os.environ | _ONE_THREAD) if ready else None,
        pass_fds=[wire.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


class _Template:
    """The process that forks, and the socket to it. One that has ended is not asked again."""

    def __init__(self, ready: str, *, numpy: bool) -> None:
        self._wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            self._process = _executed(__name__, theirs, numpy=numpy, ready=ready)

    def order(self, module: str, wire: socket.socket) -> Asked | None:
        """Return where a new child's handle will be told, and where it hears that it may begin.

        It stands where we stand now. None: the template does not answer.
        """
        order = {"module": module, "folder": _here(), "environment": dict(os.environ)}
        told, telling = socket.socketpair()
        go, begins = socket.socketpair()
        with telling, begins, self._lock:
            try:
                given = [wire.fileno(), telling.fileno(), begins.fileno()]
                socket.send_fds(self._wire, [json.dumps(order).encode()], given)
            except OSError:
                told.close()
                go.close()
                return None
        return told, go

    def close(self) -> None:
        """Let it go: it ends when its socket closes; its children have sockets of their own."""
        self._wire.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)


_templates: dict[str, _Template] = {}
_making = threading.Lock()


def _template(ready: str, *, numpy: bool) -> _Template:
    with _making:
        if ready not in _templates:
            _templates[ready] = _Template(ready, numpy=numpy)
        return _templates[ready]


def _drop(ready: str) -> None:
    with _making:
        gone = _templates.pop(ready, None)
    if gone is not None:
        gone.close()


def _end_templates() -> None:
    for template in _templates.values():
        template.close()


atexit.register(_end_templates)


def _forget_templates() -> None:
    global _making  # noqa: PLW0603 its owner may not exist on this side of a fork
    _making = threading.Lock()
    _templates.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_templates)


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it has been deleted
        return "/"


def main() -> NoReturn:
    """Be the template: import and prepare the module of the second argument, then fork for every order."""
    orders = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # what is imported is no garbage: to look for some takes a sixth of the time
    getattr(importlib.import_module(sys.argv[2]), "prepare", lambda: None)()
    gc.collect()
    gc.freeze()  # what is there already stays shared
    gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        order, given, _, _ = socket.recv_fds(orders, _MOST, 3)
        if len(given) != 3:
            os._exit(0)
        wire, told, begins = (socket.socket(fileno=number) for number in given)
        with wire, told, begins:
            if _threads() == 1:  # a fork would leave the locks of others closed for ever
                _fork(json.loads(order), orders, wire, told, begins)


def _fork(order: dict[str, Any], orders: socket.socket, *given: socket.socket) -> None:
    wire, told, begins = given
    # It is not reaped before its handle is open: its number cannot become another's.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    pid = os.fork()
    if pid == 0:
        orders.close()
        told.close()  # or whoever asked would wait for a word of ours
        _be(order, wire.detach(), begins)
    with contextlib.suppress(OSError):  # whoever asked has gone: so will the child
        handle = os.pidfd_open(pid)
        try:
            socket.send_fds(told, [str(pid).encode()], [handle])
        finally:
            os.close(handle)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def _be(order: dict[str, Any], wire: int, begins: socket.socket) -> NoReturn:
    """Do what was ordered in this fresh process, and end it.

    It begins when whoever asked says that they hold it: an asker without its handle starts another one,
    and two must not read one socket.
    """
    status = 1
    try:
        with begins:
            if begins.recv(1) != b"1":
                os._exit(0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        with contextlib.suppress(OSError):
            os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        sys.argv[1:] = [str(wire)]
        importlib.import_module(order["module"]).main()
        status = 0
    finally:
        os._exit(status)


def _reap(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _threads() -> int:
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        return threading.active_count()
