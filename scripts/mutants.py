"""The mutation score: small mistakes planted one at a time, and whether the tests notice.

    mutants.py noise --count 300          plant as many as are missing from 300 random ones, and run the room's tests
    mutants.py kernel --all               every one
    mutants.py --summary                  scores with their confidence intervals, and the survivors

A mutant is one token changed: a comparison, an arithmetic or boolean operator, a number, a condition turned round, a
`raise` left out; decorators and annotations are left alone. It is killed if a test of its room fails or takes more
than eight times as long as without it.

Tests are collected once. For each mutant a child is forked, the code of the function with the mistake in it is
exchanged in that child, and the tests that ran one of its lines without the mistake run again, quick ones first,
until one fails or `--tests` seconds of them have passed. What runs only when a module is imported (tables, defaults) cannot be exchanged: it is planted in a
copy of src, for tests in a process of their own.

Which mutants are drawn follows from --seed alone, so a run goes on where it was stopped; each outcome is a line of
docs/evidence/mutants.jsonl. A survivor that no test can or need tell from the code stands in
docs/evidence/survivors.md with the reason; the others are listed. `--seconds` ends a run early; `--part 0/2` takes every second one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import importlib
import inspect
import itertools
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "evidence" / "mutants.jsonl"
WHY = OUT.with_name("survivors.md")
TESTS = {
    "noise": ["tests/unit/noise", "tests/contract/test_no_float_in_noise.py", "tests/statistical/test_audits.py", "tests/statistical/test_additive_laws.py"],
    "ledger": ["tests/unit/ledger", "tests/contract/test_store.py", "tests/property/test_worst.py"],
    "kernel": ["tests/unit/kernel", "tests/golden/test_golden.py", "tests/golden/test_verdicts.py", "tests/security/test_lying_planner.py", "tests/security/test_lying_claims.py", "tests/security/test_hunt.py", "tests/security/test_second_hunt.py", "tests/security/test_rehearsal.py", "tests/security/test_synth_lying.py", "tests/contract/test_canonical.py", "tests/contract/test_total_cells.py", "tests/contract/test_spelled_cells.py", "tests/property/test_sensitivity.py", "tests/unit/engine/duckdb/test_snapshots.py"],
}  # fmt: skip
COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "*", ast.LShift: ">>", ast.RShift: "<<", ast.Pow: "*"}  # fmt: skip
PATIENCE = 8
LONGEST = 900.0
FAILED, PASSED, ELSEWHERE = 1, 0, 3
"""How a child ends: a test failed; none did; the mistake runs on import only."""


@dataclass(frozen=True)
class Mutant:
    """One change: in which function, the how-manieth of its kind there, from what to what; and where that is today."""

    room: str
    file: str
    inside: str
    nth: int
    was: str
    now: str
    line: int = field(compare=False)
    column: int = field(compare=False)

    def as_key(self) -> str:
        """Return what names it whatever is written above it."""
        return json.dumps([self.file, self.inside, self.nth, self.was, self.now])


def mutants_of(room: str, path: Path) -> Iterator[Mutant]:
    """Yield every change of a module, in the order of its text."""
    text = path.read_text(encoding="utf-8")
    whole, starts = text.encode(), [0]
    for each in whole.splitlines(keepends=True):
        starts.append(starts[-1] + len(each))
    seen: Counter[tuple[str, str, str]] = Counter()
    name = path.relative_to(ROOT).as_posix()
    for inside, node, now in _placed(ast.parse(text), ""):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        was = whole[first : starts[node.end_lineno - 1] + node.end_col_offset].decode()
        if was and was != now:
            seen[inside, was, now] += 1
            yield Mutant(room, name, inside, seen[inside, was, now], was, now, node.lineno, node.col_offset)  # fmt: skip


def _placed(tree: ast.AST, inside: str) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    aside = {*getattr(tree, "decorator_list", ()), getattr(tree, "annotation", None), getattr(tree, "returns", None)}  # fmt: skip
    for node in ast.iter_child_nodes(tree):
        if node in aside:
            continue
        for target, now in _changes(node):
            yield inside, target, now
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _placed(node, f"{inside}.{node.name}".strip(".") if named else inside)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in COMPARED:
            yield node, f"{ast.unparse(left)} {COMPARED[type(op)]} {ast.unparse(right)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in COMPUTED:
            if not isinstance(left, ast.Constant) or not isinstance(left.value, str):
                yield node, f"({ast.unparse(left)} {COMPUTED[type(op)]} {ast.unparse(right)})"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield node, "(" + word.join(f"({ast.unparse(v)})" for v in values) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield node, str(not value)
        case ast.Constant(value=int() as value):
            yield node, str(value + 1)
        case ast.If(test=test):
            yield test, f"not ({ast.unparse(test)})"
        case ast.Raise():
            yield node, "pass"
        case _:
            return


def changed(text: str, mutant: Mutant) -> str:
    """Return a module with one mutant in it."""
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: mutant.line - 1])) + mutant.column
    whole = text.encode()
    was = mutant.was.encode()
    assert whole[start : start + len(was)] == was, mutant
    return (whole[:start] + mutant.now.encode() + whole[start + len(was) :]).decode()


def drawn(room: str, count: int | None, seed: int) -> list[Mutant]:
    """Return the first `count` of a room's mutants in an order that the seed alone decides."""
    files = sorted((ROOT / "src" / "discreet" / room).rglob("*.py"))
    found = [mutant for path in files for mutant in mutants_of(room, path)]
    random.Random(f"{seed} {room}").shuffle(found)
    return found[:count]


def exchange(mutant: Mutant) -> bool:
    """Put a mistake into the functions of this process; False if it runs on import only."""
    path = ROOT / mutant.file
    text = path.read_text(encoding="utf-8")
    clean, wrong = (compile(each, str(path), "exec", dont_inherit=True) for each in (text, changed(text, mutant)))  # fmt: skip
    if not _same(clean, wrong, outside=True):
        return False
    both = zip(_functions(clean), _functions(wrong), strict=True)
    pairs = [(old, new) for old, new in both if not _same(old, new)]
    assert len(pairs) <= 1, mutant
    planted = not pairs
    for function in [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]:
        for old, new in pairs:
            code = function.__code__
            if code.co_firstlineno == old.co_firstlineno and code.co_filename == str(path) and _same(code, old):  # fmt: skip
                function.__code__ = new
                planted = True
    return planted  # a generator of a module's own has run by now, and is no function


def _functions(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the functions that importing a module makes, those of its classes among them."""
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from (each,) if each.co_flags & inspect.CO_OPTIMIZED else _functions(each)


def _same(one: types.CodeType, other: types.CodeType, *, outside: bool = False) -> bool:
    """Return whether two codes do the same; from outside, what their functions do counts for nothing."""
    if (one.co_code, one.co_names, len(one.co_consts)) != (other.co_code, other.co_names, len(other.co_consts)):  # fmt: skip
        return False
    for a, b in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
            if not (outside and a.co_flags & inspect.CO_OPTIMIZED) and not _same(a, b, outside=outside):  # fmt: skip
                return False
        elif (type(a), repr(a)) != (type(b), repr(b)):
            return False
    return True


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

    def __init__(self, room: str, mutants: list[Mutant], seconds: float, most: float) -> None:
        self.room, self.mutants, self.end = room, mutants, time.monotonic() + seconds
        self.most = most
        self.touched: dict[int, set[tuple[str, int]]] = {}
        self.took: dict[int, float] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        for path in sorted((ROOT / "src" / "discreet" / self.room).rglob("*.py")):
            name = path.relative_to(ROOT / "src").with_suffix("").as_posix().replace("/", ".")
            importlib.import_module(name.removesuffix(".__init__"))
        self.items = session.items
        with tempfile.TemporaryDirectory() as scratch:
            for number in range(len(self.items)):
                self._measure(number, Path(scratch) / "touched")
            print(f"{len(self.items)} tests of {self.room}, {sum(self.took.values()):.0f} s without a mistake", flush=True)  # fmt: skip
            for mutant in self.mutants:
                if time.monotonic() > self.end:
                    break
                keep(mutant, self._noticed(mutant, Path(scratch)))
        return True

    def _measure(self, number: int, file: Path) -> None:
        """Learn how long a test takes, and which lines of the room it runs."""
        began = time.monotonic()
        if in_a_child(lambda: self._run([number]), LONGEST) != PASSED:
            print(f"left out, since it fails alone: {self.items[number].nodeid}", flush=True)
            return
        took = time.monotonic() - began
        home = str(ROOT / "src" / "discreet" / self.room)

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

    def _run(self, numbers: list[int]) -> int:
        from _pytest.runner import runtestprotocol

        for place, number in enumerate(numbers):
            after = self.items[numbers[place + 1]] if place + 1 < len(numbers) else None
            if any(each.failed for each in runtestprotocol(self.items[number], log=False, nextitem=after)):  # fmt: skip
                return FAILED
        return PASSED

    def _noticed(self, mutant: Mutant, scratch: Path) -> str:
        span = range(mutant.line, mutant.line + mutant.was.count("\n") + 1)
        here = {(str(ROOT / mutant.file), line) for line in span}
        reached = [number for number, lines in self.touched.items() if lines & here]
        reached.sort(key=self.took.__getitem__)
        until = itertools.accumulate(map(self.took.__getitem__, reached))
        reached = [number for number, sofar in zip(reached, until, strict=True) if sofar < self.most]
        limit = min(LONGEST, PATIENCE * sum(map(self.took.__getitem__, reached)) + 20)

        def work() -> int:
            return self._run(reached) if exchange(mutant) else ELSEWHERE

        match in_a_child(work, limit):
            case None:
                return "the clock"
            case int(status) if status == FAILED:
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
        order = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", f"--basetemp={scratch}/t", *TESTS[self.room]]  # fmt: skip
        try:
            put(target, changed(clean, mutant))
            limit = PATIENCE * sum(self.took.values()) + 60
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


def keep(mutant: Mutant, noticed: str) -> None:
    """Write an outcome down at once, and say it."""
    with OUT.open("a", encoding="utf-8") as file:
        line = {"mutant": asdict(mutant), "killed": bool(noticed), "by": noticed}
        file.write(json.dumps(line) + "\n")
    place = f"{mutant.file}:{mutant.line}"
    print(f"{noticed or 'SURVIVED':<16}{place}  {mutant.was[:50]!r} -> {mutant.now[:50]!r}", flush=True)  # fmt: skip


def run(room: str, mutants: list[Mutant], seconds: float, most: float) -> None:
    """Plant what is missing."""
    import pytest

    there = {Mutant(**each["mutant"]).as_key() for each in read()}
    missing = [each for each in mutants if each.as_key() not in there]
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start processes
    os.chdir(ROOT)
    if missing:
        with tempfile.TemporaryDirectory() as scratch:
            order = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={scratch}/t"]
            pytest.main([*order, *TESTS[room]], plugins=[Planting(room, missing, seconds, most)])


def read() -> list[dict]:
    """Return every outcome."""
    if not OUT.exists():
        return []
    return [json.loads(line) for line in OUT.read_text(encoding="utf-8").splitlines()]


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


def summary() -> None:
    """Print the score of each room, and what survived."""
    found, reasons = read(), explained()
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
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    if asked.room:
        part, parts = map(int, asked.part.split("/"))
        chosen = drawn(asked.room, None if asked.all else asked.count, asked.seed)
        run(asked.room, chosen[part::parts], asked.seconds, asked.tests)
    summary()


if __name__ == "__main__":
    main()
