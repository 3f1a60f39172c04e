"""Tests are collected once and shared among as many processes as one asks for: `pytest --workers 2`.

A worker is a fork made after the collection: it has every module and every test in a memory that all share, and
begins at once. It is given a file at a time, all of Spark's together (a session takes ten seconds of two cores to
start), what takes long first; whoever is done takes the next. Tests that load JAX come first of all, in a worker
that ends with them, since a process that has loaded JAX must not fork.

A worker that dies fails the test that it was at, and another one goes on after it. With DISCREET_SHUFFLE=SEED the
files come in another order, so that one which leaves something behind for the next one is found.
"""

from __future__ import annotations

import atexit
import io
import mmap
import os
import random
import signal
import sys
import traceback
from collections import deque
from multiprocessing.connection import Pipe, wait
from pathlib import Path

import pytest

LONG_FIRST = ("spark", "tests/browser/", "tests/end_to_end/", "tests/contract/", "tests/docs/")
JAX = "jax"
"""The group of all tests that load it."""

_NUMBER = "DISCREET_TEST_WORKER"


def worker():
    """Return which worker this process is, or None if it runs all tests by itself."""
    found = os.environ.get(_NUMBER)
    return None if found is None else int(found)


def group(item):
    """Return what a test must share a process with: its file, or a thing that is dear to start."""
    if item.get_closest_marker("jax"):
        return JAX
    return "spark" if item.get_closest_marker("spark") else item.nodeid.partition("::")[0]


def turn(name):
    """Return the place of a group in the queue."""
    if name == JAX:
        return -1
    if seed := os.environ.get("DISCREET_SHUFFLE"):
        return random.Random(seed + name).random()
    found = [i for i, word in enumerate(LONG_FIRST) if word in name]
    return found[0] if found else len(LONG_FIRST)


def queue_of(items):
    """Return the numbers of the tests, those of one group together, in the order of their turns."""
    found = {}
    for number, item in enumerate(items):
        found.setdefault(group(item), []).append(number)
    return deque(found[name] for name in sorted(found, key=turn))


def threads():
    """Return the names of this process's threads, without the one that asks."""
    tasks = [each for each in Path("/proc/self/task").iterdir() if int(each.name) != os.getpid()]
    return {(each / "comm").read_text().strip() for each in tasks}


class Workers:
    """The plugin that shares the tests among forks of this process."""

    def __init__(self, count):
        self.count = count

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.config.option.collectonly or session.testsfailed:
            return None
        assert threads() <= {"jemalloc_bg_thd"}, (
            "a collection starts no threads: workers are forks of it"
        )
        session.config._tmp_path_factory.getbasetemp()
        queue, free, alive = queue_of(session.items), list(range(self.count)), {}
        try:
            while queue or alive:
                while queue and free:
                    each = Fork(session, free.pop(0), queue.popleft())
                    alive[each.line] = each
                ended = [line for line in wait(list(alive)) if not alive[line].heard(queue)]
                free += [alive.pop(line).number for line in ended]
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
        finally:
            for each in alive.values():
                each.end()
        return True


class Fork:
    """A worker, seen from the process that started it."""

    def __init__(self, session, number, first):
        self.session, self.number, self.given = session, number, list(first)
        # How many of the tests given to it were begun: to be known when it cannot say so any more.
        self.begun = mmap.mmap(-1, 8)
        self.line, other = Pipe()
        self.process = os.fork()
        if self.process == 0:
            self.line.close()
            work(session, number, first, other, self.begun)
        other.close()

    def heard(self, queue):
        """Take what the worker says or give what it asks for; False if it has ended."""
        try:
            said = self.line.recv()
        except (EOFError, ConnectionResetError):
            self._buried(queue)
            return False
        if said is None:
            more = queue.popleft() if queue else []
            self.given += more
            self.line.send(more)
        else:
            config = self.session.config
            report = config.hook.pytest_report_from_serializable(config=config, data=said)
            self._tell(report)
        return True

    def _tell(self, report):
        hook = self.session.config.hook
        hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)

    def _buried(self, queue):
        """Fail the test that a worker died of; the rest of its tests are left to others."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        if code == 0:
            return
        begun = int.from_bytes(self.begun[:], "little")
        item = self.session.items[self.given[max(begun - 1, 0)]]
        why = f"worker {self.number} ended with {code} at this test"
        self._tell(pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call"))
        if left := self.given[max(begun, 1) :]:
            queue.appendleft(left)

    def end(self):
        os.kill(self.process, signal.SIGTERM)
        os.waitpid(self.process, 0)


def work(session, number, first, line, begun):
    """Run what one is given until there is no more, and end: a fork's whole life."""
    code = 1
    try:
        settle(session.config, number)
        session.config.pluginmanager.register(Teller(session.config, line), "teller")
        alone = group(session.items[first[0]]) == JAX
        given, done = deque(first), 0
        while given:
            item = session.items[given.popleft()]
            if (
                not given and not alone
            ):  # what follows is asked for before: fixtures may live on for it
                line.send(None)
                given.extend(line.recv())
            done += 1
            begun[:] = done.to_bytes(8, "little")
            following = session.items[given[0]] if given else None
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        atexit._run_exitfuncs()
        code = 0
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def settle(config, number):
    """Give a fork its number, its folder, and files for what tests print; the terminal is not its own."""
    atexit._clear()
    os.environ[_NUMBER] = str(number)
    config.get_terminal_writer()._file = io.StringIO()
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    factory = config._tmp_path_factory
    factory._basetemp = factory.getbasetemp() / f"w{os.getpid()}"
    factory._basetemp.mkdir()


class Teller:
    """A fork's plugin that says what came out; of a part that went well only that of the test itself."""

    def __init__(self, config, line):
        self.config, self.line = config, line

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
            self.line.send(data)
