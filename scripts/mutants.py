"""The mutation score: small mistakes planted one at a time, and whether the tests notice.

    mutants.py noise --count 300          plant as many as are missing from 300 random ones, and run the room's tests
    mutants.py kernel --all               every one
    mutants.py --summary                  scores with their confidence intervals, and the survivors

What a mutant is says scripts/mutant_changes.py. It is killed if a test of its room fails or takes more than eight
times as long as without it.

Tests are collected once. For each mutant a child is forked, the code of the function with the mistake in it is
exchanged in that child, and the tests that ran one of its lines without the mistake run again, quick ones first,
until one fails or `--tests` seconds of them have passed. Tests that noticed most of what was planted in the same
file before go first. What runs only when a module is imported (tables, defaults) cannot be exchanged: it is planted
in a copy of src, for the tests that run anything of its file, in a process of their own. `--known FILE` keeps what was learnt about the tests (how long
they take, which lines they run) for a further run of the same code.

Which mutants are drawn follows from --seed alone, so a run goes on where it was stopped; each outcome is a line of
docs/evidence/mutants.jsonl. A survivor that no test can or need tell from the code stands in
docs/evidence/survivors.md with the reason; the others are listed. `--seconds` ends a run early; `--part 0/2` takes
every second one; `--again` plants those that survived once more. While writing tests for one module:

    mutants.py kernel --all --only privacy/kernel/rows.py --with tests/unit/privacy/kernel/test_rows.py --out /tmp/rows.jsonl --again
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mutant_changes import ROOT, Mutant, changed, drawn, exchange

OUT = ROOT / "docs" / "evidence" / "mutants.jsonl"
WHY = OUT.with_name("survivors.md")
TESTS = {
    "noise": ["tests/unit/privacy/noise", "tests/contract/test_no_float_in_noise.py", "tests/statistical/test_audits.py", "tests/statistical/test_additive_laws.py"],
    "ledger": ["tests/unit/privacy/ledger", "tests/contract/test_store.py", "tests/contract/test_checkpoint.py", "tests/contract/test_charge_all.py", "tests/property/test_worst.py", "tests/property/test_worst_plain.py", "tests/property/test_checkpoint.py", "tests/property/test_ledger.py", "tests/unit/curator/test_budgets.py", "tests/unit/cli/test_ledger.py", "tests/unit/ask/release/test_outcome.py", "tests/end_to_end/test_ledger_tampering.py", "tests/end_to_end/test_ledger_power.py"],
    "kernel": ["tests/unit/privacy/kernel", "tests/golden/test_golden.py", "tests/golden/test_verdicts.py", "tests/security/test_lying_planner.py", "tests/security/test_lying_claims.py", "tests/security/test_hunt.py", "tests/security/test_second_hunt.py", "tests/security/test_rehearsal.py", "tests/security/test_synth_lying.py", "tests/contract/test_canonical.py", "tests/contract/test_total_cells.py", "tests/contract/test_spelled_cells.py", "tests/property/test_sensitivity.py", "tests/unit/data/engines/duckdb/test_snapshots.py"],
}  # fmt: skip
MARKED = "not slow and not jax and not clients"
PATIENCE = 8
LONGEST = 900.0
FAILED, PASSED, ELSEWHERE = 1, 0, 3
"""How a child ends: a test failed; none did; the mistake runs on import only."""


def in_a_child(work: Callable[[], int], limit: float) -> int | None:
    """Return how a forked child ended; None if it had to be stopped."""
    child = os.fork()
    if not child:
        status = FAILED
        try:
            os.setsid()
            quiet = os.open(os.devnull, os.O_RDWR)
            for each in (0, 1, 2):
                os.dup2(quiet, each)
            status = work()
        finally:
            os._exit(status)
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return FAILED if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        time.sleep(0.005)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


class Planting:
    """Takes pytest's place once the tests are collected."""

    def __init__(self, mutants: list[Mutant], asked: argparse.Namespace) -> None:
        self.room, self.mutants, self.out = asked.room, mutants, asked.out
        self.end = time.monotonic() + asked.seconds
        self.most, self.known = asked.tests, asked.known
        self.touched: dict[int, set[tuple[str, int]]] = {}
        self.took: dict[int, float] = {}
        self.noticed: Counter[tuple[str, int]] = Counter()

    def pytest_runtestloop(self, session: Any) -> bool:
        for path in sorted((ROOT / "src" / "discreet" / "privacy" / self.room).rglob("*.py")):
            name = path.relative_to(ROOT / "src").with_suffix("").as_posix().replace("/", ".")
            importlib.import_module(name.removesuffix(".__init__"))
        self.items = session.items
        with tempfile.TemporaryDirectory() as scratch:
            self._learn(Path(scratch))
            print(f"{len(self.items)} tests of {self.room}, {sum(self.took.values()):.0f} s without a mistake", flush=True)  # fmt: skip
            for mutant in self.mutants:
                if time.monotonic() > self.end:
                    break
                keep(mutant, self._noticed(mutant, Path(scratch)), self.out)
        return True

    def _learn(self, scratch: Path) -> None:
        """Measure every test that is not known from an earlier run."""
        had = json.loads(self.known.read_text()) if self.known and self.known.exists() else {}
        for number, item in enumerate(self.items):
            if item.nodeid in had:
                took, lines = had[item.nodeid]
                self.took[number], self.touched[number] = (
                    took,
                    {(name, line) for name, line in lines},
                )
            else:
                self._measure(number, scratch / "touched")
        if self.known:
            now = {self.items[n].nodeid: [self.took[n], sorted(self.touched[n])] for n in self.took}
            self.known.write_text(json.dumps(had | now))

    def _measure(self, number: int, file: Path) -> None:
        """Learn how long a test takes, and which lines of the room it runs."""
        began = time.monotonic()
        if in_a_child(lambda: self._run([number]), LONGEST) != PASSED:
            print(f"left out, since it fails alone: {self.items[number].nodeid}", flush=True)
            return
        took = time.monotonic() - began
        home = str(ROOT / "src" / "discreet" / "privacy" / self.room)

        def traced() -> int:
            lines: set[tuple[str, int]] = set()

            def line(frame: types.FrameType, _what: str, _arg: Any) -> Any:
                lines.add((frame.f_code.co_filename, frame.f_lineno))
                return line

            def call(frame: types.FrameType, _what: str, _arg: Any) -> Any:
                return line if frame.f_code.co_filename.startswith(home) else None

            threading.settrace(call)
            sys.settrace(call)
            self._run([number])
            sys.settrace(None)
            file.write_text(json.dumps(sorted(lines)))
            return PASSED

        in_a_child(traced, 10 * LONGEST)
        self.took[number] = took
        self.touched[number] = {(name, line) for name, line in json.loads(file.read_text())}

    def _run(self, numbers: list[int], first: Path | None = None) -> int:
        from _pytest.runner import runtestprotocol

        for place, number in enumerate(numbers):
            after = self.items[numbers[place + 1]] if place + 1 < len(numbers) else None
            if any(each.failed for each in runtestprotocol(self.items[number], log=False, nextitem=after)):  # fmt: skip
                if first:
                    first.write_text(str(number))
                return FAILED
        return PASSED

    def _reaching(self, mutant: Mutant, *, whole: bool) -> list[int]:
        """Return the tests that run one of a mutant's lines (`whole`: of its file), as many as there is time for."""
        span = range(mutant.line, mutant.line + mutant.was.count("\n") + 1)
        name = str(ROOT / mutant.file)
        here = {(name, line) for line in span}
        found = [
            number
            for number, lines in self.touched.items()
            if (any(file == name for file, _ in lines) if whole else lines & here)
        ]
        if whole and not found:
            found = list(self.touched)
        found.sort(key=lambda number: (-self.noticed[mutant.file, number], self.took[number]))
        until = itertools.accumulate(map(self.took.__getitem__, found))
        return [number for number, sofar in zip(found, until, strict=True) if sofar < self.most]

    def _noticed(self, mutant: Mutant, scratch: Path) -> str:
        reached = self._reaching(mutant, whole=False)
        limit = min(LONGEST, PATIENCE * sum(map(self.took.__getitem__, reached)) + 20)

        first = scratch / "first"
        first.unlink(missing_ok=True)

        def work() -> int:
            return self._run(reached, first) if exchange(mutant) else ELSEWHERE

        match in_a_child(work, limit):
            case None:
                return "the clock"
            case int(status) if status == FAILED:
                if first.exists():
                    self.noticed[mutant.file, int(first.read_text())] += 1
                return "a failing test"
            case int(status) if status == ELSEWHERE:
                return self._noticed_on_import(mutant, scratch)
            case _:
                return ""

    def _noticed_on_import(self, mutant: Mutant, scratch: Path) -> str:
        copy = scratch / "copy"
        if not copy.exists():
            shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
            shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("images"))
        target = copy / mutant.file
        clean = target.read_text(encoding="utf-8")
        settings = os.environ | {"PYTHONPATH": str(copy / "src")}
        reached = self._reaching(mutant, whole=True)
        names = [self.items[number].nodeid for number in reached]
        order = [sys.executable, "-m", "pytest", "-x", "-q", "-m", MARKED, "-p", "no:cacheprovider", f"--basetemp={scratch}/t", *names]  # fmt: skip
        try:
            put(target, changed(clean, mutant))
            limit = PATIENCE * sum(map(self.took.__getitem__, reached)) + 60
            done = subprocess.run(order, cwd=ROOT, env=settings, capture_output=True, timeout=limit, check=False)  # fmt: skip
        except subprocess.TimeoutExpired:
            return "the clock"
        finally:
            put(target, clean)
        return "a failing test" if done.returncode else ""


def put(target: Path, text: str) -> None:
    """Write a module; what was compiled of it goes, since its time may tell no difference."""
    target.write_text(text, encoding="utf-8")
    for old in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
        old.unlink()


def keep(mutant: Mutant, noticed: str, out: Path) -> None:
    """Write an outcome down at once, and say it."""
    with out.open("a", encoding="utf-8") as file:
        line = {"mutant": asdict(mutant), "killed": bool(noticed), "by": noticed}
        file.write(json.dumps(line) + "\n")
    place = f"{mutant.file}:{mutant.line}"
    print(f"{noticed or 'SURVIVED':<16}{place}  {mutant.was[:50]!r} -> {mutant.now[:50]!r}", flush=True)  # fmt: skip


def run(mutants: list[Mutant], asked: argparse.Namespace) -> None:
    """Plant what is missing; again: and what survived."""
    import pytest

    there = {
        Mutant(**each["mutant"]).as_key()
        for each in read(asked.out)
        if each["killed"] or not asked.again
    }
    missing = [each for each in mutants if each.as_key() not in there]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start processes
    os.chdir(ROOT)
    if missing:
        with tempfile.TemporaryDirectory() as scratch:
            order = [
                "-q",
                "-m",
                MARKED,
                "-p",
                "no:cacheprovider",
                f"--basetemp={scratch}/t",
            ]
            pytest.main([*order, *TESTS[asked.room]], plugins=[Planting(missing, asked)])


def read(out: Path) -> list[dict]:
    """Return every outcome, the last one of a mutant that was planted more than once."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
    found = map(json.loads, lines)
    return list({Mutant(**each["mutant"]).as_key(): each for each in found}.values())


def explained() -> set[tuple[str, str]]:
    """Return the place and the change of every survivor whose reason is written down."""
    rows = WHY.read_text(encoding="utf-8").splitlines() if WHY.exists() else []
    cells = [each.strip("| ").split(" | ") for each in rows if each.startswith("| ")]
    return {(place, change) for place, change, _why in cells}


def row(mutant: dict) -> tuple[str, str]:
    """Return a mutant's place and change as a reason names them."""
    place = f"{mutant['file'].removeprefix('src/discreet/')} {mutant['inside'] or 'module'} {mutant['nth']}"
    return place, f"`{' '.join(mutant['was'].split())}` to `{' '.join(mutant['now'].split())}`"


def interval(good: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    z, share = 1.96, good / of
    middle, width = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))  # fmt: skip
    return (middle - width) / (1 + z * z / of), (middle + width) / (1 + z * z / of)


def summary(out: Path) -> None:
    """Print the score of each room, and what survived."""
    found, reasons = read(out), explained()
    for room in TESTS:
        mine = [each for each in found if each["mutant"]["room"] == room]
        if not mine:
            continue
        good = sum(each["killed"] for each in mine)
        low, high = interval(good, len(mine))
        whole = len(drawn(room, None, 1))
        lost = [each["mutant"] for each in mine if not each["killed"]]
        known = sum(row(m) in reasons for m in lost)
        print(f"{room}: {good} of {len(mine)} killed, {good / len(mine):.0%} ({low:.0%} to {high:.0%}); {whole:,} in all; {known} of {len(lost)} survivors explained")  # fmt: skip
        for m in lost:
            if row(m) not in reasons:
                print(f"  survived: {m['file']}:{m['line']}  {m['was'][:60]!r} -> {m['now'][:60]!r}")  # fmt: skip


def main() -> None:
    """Plant mutants, or sum up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", nargs="?", choices=list(TESTS))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--tests", type=float, default=math.inf, help="seconds of tests a mutant")
    parser.add_argument("--part", default="0/1", help="which of how many parts of them")
    parser.add_argument("--known", type=Path, help="a file for what was learnt about the tests")
    parser.add_argument("--again", action="store_true", help="also what survived before")
    parser.add_argument(
        "--only", default="", help="only mutants of files whose name has this in it"
    )
    parser.add_argument(
        "--with", dest="tests_too", nargs="*", help="these tests, not all of the room's"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="the file of outcomes")
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    if asked.room:
        part, parts = map(int, asked.part.split("/"))
        if asked.tests_too:
            TESTS[asked.room] = asked.tests_too
        chosen = drawn(asked.room, None if asked.all else asked.count, asked.seed)
        chosen = [each for each in chosen if asked.only in each.file]
        run(chosen[part::parts], asked)
    summary(asked.out)


if __name__ == "__main__":
    main()
