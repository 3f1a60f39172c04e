"""Tests shared among forks: every one runs once, what fails is told, and one that kills its worker is named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CONFTEST = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from workers import Workers

def pytest_configure(config):
    config.addinivalue_line("markers", "jax: loads it")
    config.pluginmanager.register(Workers(2))
"""
PLAIN = """
import os, pathlib, pytest
NOTED = pathlib.Path(__file__).with_name("noted")

@pytest.fixture(scope="module", autouse=True)
def once():
    with NOTED.open("a") as out: out.write("made\\n")
    yield
    with NOTED.open("a") as out: out.write("ended\\n")

@pytest.mark.parametrize("n", range(40))
def test_each(n, tmp_path):
    with NOTED.open("a") as out: out.write(f"{n} {os.getpid()} {tmp_path}\\n")
"""
MIXED = """
import pytest
def test_fails():
    print("what it said")
    assert [1] == [2]
@pytest.fixture
def broken(): raise ValueError("a broken fixture")
def test_error(broken): pass
def test_skipped(): pytest.skip("not today")
@pytest.mark.xfail(strict=True)
def test_expected(): assert 0
"""
DEADLY = """
import os
def test_before(): pass
def test_dies(): os._exit(3)
def test_after(): pass
def test_killed(): os.kill(os.getpid(), 9)
def test_last(): pass
"""


def run(folder, *options, **files):
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    order = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, *options]
    order += ["--rootdir", str(folder), "--basetemp", str(folder / "base"), str(folder)]
    # Other plugins take three times as long to import as these tests take.
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    found = subprocess.run(
        order, capture_output=True, text=True, check=False, timeout=300, env=alone
    )
    return found.stdout + found.stderr


def outcomes(said):
    return {word: int(n) for n, word in re.findall(r"(\d+) (\w+)[,\s]", said.splitlines()[-1])}


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory):
    """Run every kind of file once, for all tests that read what came of it: the folder and what was said."""
    folder = tmp_path_factory.mktemp("kinds")
    plain = {name: PLAIN.replace('"noted"', f'"{name}"') for name in ("noted", "others", "jax")}
    plain["jax"] = plain["jax"].replace(
        "@pytest.mark.param", "@pytest.mark.jax\n@pytest.mark.param"
    )
    return folder, run(folder, **plain, mixed=MIXED, deadly=DEADLY)


def test_each_runs_once_in_the_worker_that_has_its_file(all_kinds):
    folder, _ = all_kinds
    found = []
    for name in ("noted", "others"):
        first, *lines, last = (folder / name).read_text().splitlines()
        assert (first, last) == ("made", "ended")
        numbers, processes, folders = zip(*map(str.split, lines), strict=True)
        assert sorted(map(int, numbers)) == list(range(40))
        assert len(set(processes)) == 1
        assert len(set(folders)) == 40
        found += folders
    assert len(set(found)) == 80


def test_what_came_out_is_told(all_kinds):
    _, said = all_kinds
    # Of the mixed ones one each, of the deadly ones two that fail, all the others pass.
    told = {"failed": 1 + 2, "passed": 3 * 40 + 3, "skipped": 1, "xfailed": 1, "error": 1}
    assert outcomes(said) == told
    assert "assert [1] == [2]" in said
    assert "what it said" in said
    assert "a broken fixture" in said


def test_a_test_that_ends_its_worker_fails_and_the_others_run(all_kinds):
    _, said = all_kinds
    for name, code in (("test_dies", 3), ("test_killed", -9)):
        assert re.search(rf"_ \S*{name} _.*\n(.*\n)?worker \d ended with {code} at this test", said)
    # Those between and after the deadly ones were run: their file has no failure more.
    assert set(re.findall(r"^FAILED \S*test_deadly.py::(\w+)", said, re.MULTILINE)) == {
        "test_dies",
        "test_killed",
    }


def test_it_may_stop_at_the_first_failure(tmp_path):
    said = run(tmp_path, "-x", mixed=MIXED)
    assert outcomes(said) == {"failed": 1}


def test_nothing_is_forked_beside_threads(tmp_path):
    started = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    said = run(tmp_path, threaded=f"{started}\ndef test_nothing(): pass")
    assert "a collection starts no threads" in said


def test_one_that_loads_jax_is_alone_in_its_process(all_kinds):
    folder, _ = all_kinds
    processes = [
        {line.split()[1] for line in (folder / name).read_text().splitlines() if " " in line}
        for name in ("jax", "noted", "others")
    ]
    assert [len(each) for each in processes] == [1, 1, 1]
    assert not processes[0] & (processes[1] | processes[2])
