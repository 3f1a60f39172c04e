"""Processes of long jobs that start at once: forked from a template, as engines are.

For tests of what jobs do. How their processes start, end and die is tested with real ones, in
tests/unit/server/jobs/test_children.py and tests/end_to_end/test_server_children.py.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing.connection import Connection
from unittest.mock import patch

from child_tasks import on_path, tests_on_path
from discreet.data.engines.fork_server import start
from discreet.server.jobs import children
from lent import lend

DRAW = "from quick_child import draw; draw()"


@cache
def painter():
    """Return the socket to the process that draws for the jobs of this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        number = theirs.fileno()
        command = [sys.executable, "-P", "-c", DRAW, str(number)]
        environment = os.environ | {"PYTHONPATH": on_path()}
        process = subprocess.Popen(command, pass_fds=[number], env=environment)

    def end():
        ours.shutdown(socket.SHUT_RDWR)
        process.wait()

    atexit.register(end)
    return ours


class QuickProcess(children.JobProcess):
    """A process of a job that has its imports done when it begins."""

    def __init__(self, module, hidden):
        ours, theirs = socket.socketpair()
        with theirs, tests_on_path():
            self._process = start("quick_child", theirs, ready="quick_child", numpy=True)
            _ = self._process.pid  # it begins when it is held
        told = json.dumps([module, sorted(hidden)]).encode()
        socket.send_fds(ours, [told], [painter().fileno(), *lend()])
        self._wire = Connection(ours.detach())
        self._lock = threading.Lock()
        self._over = False
        self._status = 0

    def kill(self):
        with self._lock:
            if not self._over:
                self._kill_all()

    def end(self, patience=0.0):
        with self._lock:
            if not self._over:
                by_itself = self._ended(patience)
                self._kill_all()
                self._process.ended()
                self._wire.close()
                self._over = True
                self._status = 0 if by_itself else -signal.SIGKILL
        return self._status

    def _kill_all(self):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # it may not lead its group yet

    def _ended(self, patience):
        return self._process.ended(patience)


@contextmanager
def quick_jobs(modules=(children.MODULE,)):
    """Let servers of this process start the processes of their jobs so, where these are their modules."""
    real = children.JobProcess

    def process(module, hidden, *, spare=None):
        if spare is not None or module not in modules:
            return real(module, hidden, spare=spare)
        return QuickProcess(module, hidden)

    with patch.object(children, "JobProcess", process):
        yield
