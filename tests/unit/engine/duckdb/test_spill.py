"""Folders for what memory does not hold: one for each process, gone when the process is."""

from __future__ import annotations

import os
import subprocess
import sys

from discreet.engine.duckdb.spill import own_folder

OTHER = (
    "import sys; from pathlib import Path; from discreet.engine.duckdb.spill import own_folder\n"
    "folder = own_folder(Path(sys.argv[1])); (folder / 'page').write_text('rows')\n"
    "print(folder, flush=True); sys.stdin.read()"
)


def other(place):
    """Return a process that has put something there, and its folder."""
    command = [sys.executable, "-c", OTHER, str(place)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, place / process.stdout.readline().strip().rpartition("/")[2]


def test_what_a_killed_process_left_goes_and_what_a_living_one_holds_stays(tmp_path):
    place = tmp_path / "spill"
    (killed, left), (alive, held) = other(place), other(place)
    with killed, alive:
        killed.kill()
        killed.wait()
        assert (left / "page").exists()
        mine = own_folder(place)
        assert mine == place / str(os.getpid())
        assert sorted(place.iterdir()) == sorted([mine, held])
        assert (held / "page").read_text() == "rows"
        assert held.stat().st_mode & 0o077 == 0
        assert own_folder(place) == mine  # once more in the same process
        alive.kill()


def test_what_is_no_folder_is_left_alone(tmp_path):
    (tmp_path / "note").write_text("of somebody else")
    own_folder(tmp_path)
    assert (tmp_path / "note").exists()
