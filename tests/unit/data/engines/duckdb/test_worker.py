"""A database that was opened before its child: nobody can tell it from one that the child opens by itself."""

import json
import os
import socket
import sys

import pytest

from discreet.data.engines import fork_server
from patience import LONG

FACTS = """
import json, os, socket, sys
import duckdb
from discreet.data.engines.duckdb import worker
from discreet.data.engines.child_limits import CLOSED
prepare = worker.prepare
def settings(database):
    return dict(database.sql("SELECT name, value FROM duckdb_settings()").fetchall())
def main():
    with socket.socket(fileno=int(sys.argv[1])) as wire:
        template = f"/proc/{os.getppid()}"
        facts = {
            "prepared": len(worker._prepared),
            "shared chance": worker._prepared[0].sql("SELECT random()").fetchall(),
            "threads": len(os.listdir(f"{template}/task")),
            "files": sorted(os.readlink(f"{template}/fd/{n}") for n in os.listdir(f"{template}/fd")),
        }
        for threads in (None, 3):
            setup = {"memory_mb": 300, "temporary": os.environ["ROOM"], "threads": threads}
            database = worker.open_database(setup)
            folder = settings(database)["temp_directory"]
            config = {**CLOSED, "memory_limit": "300MiB", "temp_directory": folder}
            alone = duckdb.connect(config=config | ({"threads": threads} if threads else {}))
            alone.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
            facts[f"of {threads}"] = [settings(database), settings(alone)]
            facts[f"chance {threads}"] = database.sql("SELECT random()").fetchall()
        wire.sendall(json.dumps(facts).encode())
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="forks are held by pidfd")
def test_a_child_has_the_settings_and_the_chance_of_a_database_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "facts_of_a_worker.py").write_text(FACTS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, sys.path)]))
    monkeypatch.setenv("ROOM", str(tmp_path / "room"))
    found = []
    for _ in range(2):
        ours, theirs = socket.socketpair()
        with theirs:
            module = "facts_of_a_worker"
            started = fork_server.start(module, theirs, ready=module, numpy=False)
        assert started.pid > 0
        ours.settimeout(LONG)
        with ours, ours.makefile() as said:
            found.append(json.loads(said.read()))
        assert started.ended(LONG)
    fork_server._drop("facts_of_a_worker")
    for facts in found:
        assert facts["prepared"] == 1  # it was forked from a template that has one
        assert facts["threads"] == 1
        assert all(name.startswith(("/dev/", "socket:")) for name in facts["files"]), facts["files"]
        for threads in (None, 3):
            ours, alone = facts[f"of {threads}"]
            assert ours == alone
    chances = [facts[f"chance {threads}"] for facts in found for threads in (None, 3)]
    assert len({json.dumps(each) for each in chances}) == len(chances)
    # A child that used the template's own connection would draw what its brothers draw.
    assert found[0]["shared chance"] == found[1]["shared chance"]
