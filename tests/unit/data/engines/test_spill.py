"""Folders for what memory does not hold: one for each process, gone when the process is."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from discreet.data.engines.child_limits import own_folder, remove_left

OTHER = (
    "import sys; from pathlib import Path; from discreet.data.engines.child_limits import own_folder\n"
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
        assert sorted(place.iterdir()) == sorted([mine, held])
        assert (held / "page").read_text() == "rows"
        assert {folder.stat().st_mode & 0o077 for folder in (place, mine, held)} == {0}
        alive.kill()
        alive.wait()
        remove_left(place)
        assert list(place.iterdir()) == [mine]


def test_each_call_has_its_own_and_none_loses_it_to_another(tmp_path):
    with ThreadPoolExecutor(8) as many:
        found = list(many.map(lambda _: own_folder(tmp_path), range(200)))
    assert len(set(found)) == 200
    assert all(folder.exists() for folder in found)


def test_what_is_not_ours_is_left_alone(tmp_path):
    (tmp_path / "note").write_text("of somebody else")
    (tmp_path / "folder").mkdir()
    own_folder(tmp_path)
    assert (tmp_path / "note").exists()
    assert (tmp_path / "folder").exists()
