"""Tests shared among forks: every one runs once, what fails is told, and one that kills its worker is named."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

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
    found = subprocess.run(order, capture_output=True, text=True, check=False, timeout=300)
    return found.stdout + found.stderr


def outcomes(said):
    return {word: int(n) for n, word in re.findall(r"(\d+) (\w+)[,\s]", said.splitlines()[-1])}


def test_each_runs_once_in_the_worker_that_has_its_file(tmp_path):
    said = run(tmp_path, plain=PLAIN, other=PLAIN.replace('"noted"', '"others"'))
    assert outcomes(said)["passed"] == 80
    found = []
    for name in ("noted", "others"):
        first, *lines, last = (tmp_path / name).read_text().splitlines()
        assert (first, last) == ("made", "ended")
        numbers, processes, folders = zip(*map(str.split, lines), strict=True)
        assert sorted(map(int, numbers)) == list(range(40))
        assert len(set(processes)) == 1
        assert len(set(folders)) == 40
        found += folders
    assert len(set(found)) == 80


def test_what_came_out_is_told(tmp_path):
    said = run(tmp_path, mixed=MIXED, plain=PLAIN)
    assert outcomes(said) == {"failed": 1, "passed": 40, "skipped": 1, "xfailed": 1, "error": 1}
    assert "assert [1] == [2]" in said
    assert "what it said" in said
    assert "a broken fixture" in said


def test_a_test_that_ends_its_worker_fails_and_the_others_run(tmp_path):
    said = run(tmp_path, deadly=DEADLY, plain=PLAIN)
    assert outcomes(said) == {"failed": 2, "passed": 43}
    for name, code in (("test_dies", 3), ("test_killed", -9)):
        assert re.search(rf"_ \S*{name} _.*\n(.*\n)?worker \d ended with {code} at this test", said)


def test_it_may_stop_at_the_first_failure(tmp_path):
    said = run(tmp_path, "-x", mixed=MIXED)
    assert outcomes(said) == {"failed": 1}


def test_nothing_is_forked_beside_threads(tmp_path):
    started = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    said = run(tmp_path, threaded=f"{started}\ndef test_nothing(): pass")
    assert "a collection starts no threads" in said


def test_one_that_loads_jax_is_alone_in_its_process(tmp_path):
    jax = PLAIN.replace("@pytest.mark.param", "@pytest.mark.jax\n@pytest.mark.param")
    run(tmp_path, plain=PLAIN.replace('"noted"', '"others"'), jax=jax)
    processes = [
        {line.split()[1] for line in (tmp_path / name).read_text().splitlines() if " " in line}
        for name in ("noted", "others")
    ]
    assert len(processes[0]) == len(processes[1]) == 1
    assert processes[0] != processes[1]
