"""The set-up script without a network: a stand-in for uv writes down what it is told.

(tests/start/test_fresh_machine.py does it for real.)
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

UV = """#!/bin/sh
echo "$@" >>"{log}"
[ "$1" = --version ] && exit 0
if [ "$1" = venv ]; then
  "{python}" -m venv --without-pip .venv
  mkdir -p .venv/tools/bin
fi
case " $* " in *" -r requirements-run.lock "*) [ ! -e stop-here ] || kill -TERM $$ ;; esac
exit 0
"""
OLD = """#!/bin/sh
case "$*" in *version_info\\ \\<*) exit 1 ;; *print*) echo "Python 3.9" ;; *) exit 1 ;; esac
"""


@pytest.fixture
def clone(tmp_path):
    """A copy without git history, in a folder with spaces."""
    folder = tmp_path / "a new  folder"
    (folder / "scripts").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements.lock", "requirements-run.lock"):
        shutil.copy(ROOT / name, folder)
    shutil.copy(ROOT / "scripts" / "set-up", folder / "scripts")
    program(folder / ".venv/tools/bin/uv", UV.format(log=tmp_path / "log", python=sys.executable))
    return folder


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def set_up(folder, what, **environment):
    known = {**os.environ, "PYTHON": sys.executable, "HOME": str(folder / "pyproject.toml")}
    known.pop("UV_CACHE_DIR", None)
    known.pop("XDG_CACHE_HOME", None)
    return subprocess.run(
        ["scripts/set-up", what],
        cwd=folder,
        env=known | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def planned(folder, target):
    command = ["make", "-n", target]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def told(folder):
    log = folder.parent / "log"
    return log.read_text() if log.exists() else ""


def test_running_installs_the_small_lock_from_wheels_and_removes_nothing(clone):
    done = set_up(clone, "run")
    assert done.returncode == 0, done.stderr
    assert "--require-hashes --only-binary :all: -r requirements-run.lock" in told(clone)
    assert "sync" not in told(clone)
    assert "requirements.lock" not in told(clone)
    assert (clone / ".venv" / ".ready-run").exists()
    assert not (clone / ".venv" / ".ready").exists()


def test_testing_installs_everything_and_then_running_needs_nothing(clone):
    assert set_up(clone, "all").returncode == 0
    assert "--only-binary :all: --no-binary pyspark requirements.lock" in told(clone)
    before = told(clone)
    assert "set-up" not in planned(clone, "run")
    assert told(clone) == before


def test_a_set_up_that_was_stopped_begins_again(clone):
    (clone / "stop-here").touch()
    assert set_up(clone, "run").returncode != 0
    half = clone / ".venv" / "lib" / "half-linked"
    half.touch()
    assert not (clone / ".venv" / ".ready-run").exists()
    (clone / "stop-here").unlink()
    again = set_up(clone, "run")
    assert "stopped half-way" in again.stdout
    assert again.returncode == 0
    assert not half.exists()
    assert (clone / ".venv" / ".ready-run").exists()


@pytest.mark.parametrize("marker", [".ready", ".ready-run"])
def test_make_never_takes_half_an_environment_for_a_whole_one(clone, marker):
    """Running was set up again, and stopped, in an environment that had been whole for tests."""
    assert set_up(clone, "all").returncode == 0
    what = "run" if marker == ".ready-run" else "types"
    assert "set-up" not in planned(clone, what)
    (clone / ".venv" / ".unfinished").touch()
    assert "set-up" in planned(clone, what)


def test_a_folder_that_moved_is_set_up_again(clone):
    assert set_up(clone, "run").returncode == 0
    moved = clone.rename(clone.with_name("elsewhere"))
    assert "set-up run" in planned(moved, "run")
    assert "This folder has moved" in set_up(moved, "run").stdout


def test_a_newer_python_is_found_beside_an_old_one(clone, tmp_path):
    program(tmp_path / "bin" / "python3", OLD)
    program(tmp_path / "bin" / "python3.14", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = set_up(clone, "run", PYTHON="python3", PATH=path)
    assert done.returncode == 0, done.stderr
    assert "python3 is Python 3.9, and 3.11 is needed: using python3.14." in done.stdout


def test_without_a_python_that_is_new_enough_it_says_what_to_do(clone, tmp_path):
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        program(tmp_path / "bin" / name, OLD)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    done = set_up(clone, "run", PYTHON="python3", PATH=path)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, and python3 is Python 3.9." in done.stderr
    assert "make run PYTHON=" in done.stderr
    assert told(clone) == ""


def test_downloads_stay_here_only_where_home_cannot_be_written(clone, tmp_path):
    uv = clone / ".venv/tools/bin/uv"
    uv.write_text(uv.read_text().replace('echo "$@"', 'echo "$UV_CACHE_DIR" "$@"'))
    assert set_up(clone, "run").returncode == 0
    assert f"{clone}/.venv/cache pip install" in told(clone)
    assert not (clone / ".venv" / "cache").exists()
    (tmp_path / "log").unlink()
    (tmp_path / "home").mkdir()
    assert set_up(clone, "run", HOME=str(tmp_path / "home")).returncode == 0
    assert ".venv/cache" not in told(clone)
