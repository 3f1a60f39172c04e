"""Children forked from a template: each its own process, with nothing of the others and nothing of ours."""

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from discreet.data.engines import fork_server
from patience import LONG, eventually

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="forks are held by pidfd")

FACTS = """
import json, os, socket, sys, threading
def main():
    with socket.socket(fileno=int(sys.argv[1])) as wire:
        facts = {
            "pid": os.getpid(), "parent": os.getppid(), "folder": os.getcwd(),
            "word": os.environ.get("WORD"), "chance": os.urandom(8).hex(),
            "open": sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1],
            "threads": threading.active_count(), "modules": sorted(sys.modules),
        }
        wire.send(json.dumps(facts).encode())
        wire.recv(1)
"""


@pytest.fixture
def begin():
    """Start a module; in the end close what leads to it, and wait until it has ended."""
    kept = []

    def begun(module):
        ours, theirs = socket.socketpair()
        with theirs:
            started = fork_server.start(module, theirs, ready=module, numpy=False)
        kept.append((started, ours))
        assert started.pid > 0
        ours.settimeout(LONG)
        return started, ours

    yield begun
    for started, wire in kept:
        wire.close()
        assert started.ended(LONG)


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """Return the name of a module that children find; its template dies with the test."""
    name = f"facts_of_{request.node.name}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(FACTS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    yield name
    fork_server._drop(name)


def test_each_is_a_process_of_its_own_where_we_stand(begin, module, tmp_path, monkeypatch):
    found = []
    for word in ("one", "two"):
        (folder := tmp_path / word).mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("WORD", word)
        started, wire = begin(module)
        facts = json.loads(wire.recv(1 << 20))
        assert (facts["pid"], facts["folder"]) == (started.pid, str(folder))
        assert facts["word"] == word
        assert facts["threads"] == 1
        found.append((started, wire, facts))
    (one, _, first), (two, _, second) = found
    assert first["parent"] == second["parent"] not in (os.getpid(), first["pid"])
    assert first["chance"] != second["chance"]
    one.kill()
    assert one.ended(LONG)
    assert not two.ended(0)
    found[1][1].close()
    assert two.ended(LONG)


def test_a_child_holds_its_own_socket_and_nothing_else(begin, module):
    kept = [begin(module) for _ in range(3)]
    facts = [json.loads(wire.recv(1 << 20)) for _, wire in kept]
    # Standard input and outputs, and one socket: with another's it would keep that one's open.
    assert [len(each["open"]) for each in facts] == [4, 4, 4]
    assert "discreet.privacy.noise" not in facts[0]["modules"]
    for started, wire in kept:
        wire.close()
        assert started.ended(LONG)


def test_without_a_template_it_is_started_by_itself(begin, module):
    begin(module)[1].close()
    os.kill(fork_server._templates[module]._process.pid, signal.SIGKILL)
    fork_server._templates[module]._process.wait(LONG)
    started, wire = begin(module)
    facts = json.loads(wire.recv(1 << 20))
    assert facts["parent"] == os.getpid()
    started.kill()
    assert started.ended(LONG)
    # A template is found again: by the next one, or by the one after if the first child still held its socket.
    parents = [json.loads(begin(module)[1].recv(1 << 20))["parent"] for _ in range(2)]
    assert parents[-1] != os.getpid()


def test_a_template_with_threads_does_not_fork(begin, module, tmp_path):
    extra = "import threading, time\nthreading.Thread(target=time.sleep, args=[600], daemon=True).start()\n"
    (tmp_path / f"{module}.py").write_text(extra + textwrap.dedent(FACTS))
    started, wire = begin(module)
    assert json.loads(wire.recv(1 << 20))["parent"] == os.getpid()
    started.kill()
    assert started.ended(LONG)


def test_without_handles_it_is_started_by_itself(begin, module, monkeypatch):
    monkeypatch.setattr(fork_server, "_holds", lambda: False)
    started, wire = begin(module)
    assert json.loads(wire.recv(1 << 20))["parent"] == os.getpid()
    started.kill()
    assert started.ended(LONG)


def test_a_fork_that_nobody_can_hold_never_reads_its_socket(begin, module, tmp_path):
    forbid = (
        "import os\ndef pidfd_open(pid):\n    raise PermissionError\nos.pidfd_open = pidfd_open\n"
    )
    (tmp_path / f"{module}.py").write_text(forbid + textwrap.dedent(FACTS))
    started, wire = begin(module)
    assert json.loads(wire.recv(1 << 20))["parent"] == os.getpid()
    started.kill()
    assert started.ended(LONG)
    assert wire.recv(1) == b""  # no other process has it


def test_nothing_outlives_a_killed_owner(module):
    code = f"""
    import socket, time
    from discreet.data.engines import fork_server
    ours, theirs = socket.socketpair()
    started = fork_server.start({module!r}, theirs, ready={module!r}, numpy=False)
    theirs.close()
    print(started.pid, fork_server._templates[{module!r}]._process.pid, flush=True)
    time.sleep(600)
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    with owner.stdout:
        numbers = [int(word) for word in owner.stdout.readline().split()]
    owner.kill()
    owner.wait()
    assert len(numbers) == 2
    for number in numbers:
        eventually(lambda gone=number: not _lives(gone), "it ends")


def _lives(number):
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
