"""The mutation score: small mistakes planted one at a time, and whether the tests notice.

    mutants.py noise --count 300          plant as many as are missing from 300 random ones, and run the room's tests
    mutants.py kernel --all               every one
    mutants.py --summary                  scores with their confidence intervals, and the survivors

A mutant is one token changed in a copy of src: a comparison, an arithmetic or boolean operator, a number, a
condition turned round, a `raise` left out. It is killed if the tests of its room fail or take more than eight times
as long as they do without it. Which ones are drawn follows from --seed alone, so a run goes on where it was stopped;
each outcome is a line of docs/evidence/mutants.jsonl. `--seconds` ends a run early.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "evidence" / "mutants.jsonl"
TESTS = {
    "noise": [["tests/unit/noise", "tests/contract/test_no_float_in_noise.py"], ["tests/statistical/test_audits.py", "tests/statistical/test_additive_laws.py"]],
    "ledger": [["tests/unit/ledger"], ["tests/contract/test_store.py", "tests/property/test_worst.py"]],
    "kernel": [["tests/unit/kernel"], ["tests/security/test_lying_planner.py", "tests/security/test_lying_claims.py", "tests/contract/test_canonical.py"]],
}  # fmt: skip
"""Tests by room, in waves: those of the second run only if the first noticed nothing."""
COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is"}  # fmt: skip
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "*", ast.LShift: ">>", ast.RShift: "<<", ast.Pow: "*"}  # fmt: skip
PATIENCE = 8


@dataclass(frozen=True)
class Mutant:
    """One change: where, and from what to what."""

    room: str
    file: str
    line: int
    column: int
    was: str
    now: str


def mutants_of(room: str, path: Path) -> Iterator[Mutant]:
    """Yield every change of a module, in the order of its text."""
    text = path.read_text(encoding="utf-8")
    whole, starts = text.encode(), [0]
    for each in whole.splitlines(keepends=True):
        starts.append(starts[-1] + len(each))
    for node, now in _changes(ast.parse(text)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first = starts[node.lineno - 1] + node.col_offset
        was = whole[first : starts[node.end_lineno - 1] + node.end_col_offset].decode()
        if was and was != now:
            name = path.relative_to(ROOT).as_posix()
            yield Mutant(room, name, node.lineno, node.col_offset, was, now)


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    for node in ast.walk(tree):
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
                continue


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


def killed(mutant: Mutant | None, copy: Path, limits: list[float]) -> tuple[str, list[float]]:
    """Return what noticed a mutant (a failure, the clock, or nothing), and the seconds of each wave."""
    took: list[float] = []
    room = mutant.room if mutant else copy.name
    for wave, limit in zip(TESTS[room], limits, strict=True):
        settings = os.environ | {"PYTHONPATH": str(copy / "src")}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start hundreds of processes
        order = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        order += [f"--basetemp={copy}/t", *wave]
        began = time.monotonic()
        try:
            done = subprocess.run(
                order, cwd=ROOT, env=settings, capture_output=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            return "the clock", took
        took.append(time.monotonic() - began)
        if done.returncode:
            return "a failing test", took
    return "", took


def _put(target: Path, text: str) -> None:
    """Write a module; what was compiled of it goes, since its time may tell no difference."""
    target.write_text(text, encoding="utf-8")
    for old in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
        old.unlink()


def run(room: str, count: int | None, seed: int, seconds: float) -> None:
    """Plant what is missing; every outcome is kept at once."""
    there = {json.dumps(each["mutant"], sort_keys=True) for each in read()}
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / room
        shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("images"))
        noticed, took = killed(None, copy, [math.inf if seconds > 1e9 else 600.0] * 2)
        if noticed:
            sys.exit(f"the tests of {room} fail without any mutant ({noticed})")
        limits = [PATIENCE * each + 20 for each in took]
        for mutant in drawn(room, count, seed):
            if time.monotonic() > end:
                break
            if json.dumps(asdict(mutant), sort_keys=True) in there:
                continue
            target = copy / mutant.file
            clean = target.read_text(encoding="utf-8")
            _put(target, changed(clean, mutant))
            try:
                noticed, _ = killed(mutant, copy, limits)
            finally:
                _put(target, clean)
            with OUT.open("a", encoding="utf-8") as file:
                line = {"mutant": asdict(mutant), "killed": bool(noticed), "by": noticed}
                file.write(json.dumps(line) + "\n")
            place = f"{mutant.file}:{mutant.line}"
            print(f"{noticed or 'SURVIVED':<16}{place}  {mutant.was[:50]!r} -> {mutant.now[:50]!r}", flush=True)  # fmt: skip


def read() -> list[dict]:
    """Return every outcome."""
    if not OUT.exists():
        return []
    return [json.loads(line) for line in OUT.read_text(encoding="utf-8").splitlines()]


def interval(good: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    z, share = 1.96, good / of
    middle, width = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))  # fmt: skip
    return (middle - width) / (1 + z * z / of), (middle + width) / (1 + z * z / of)


def summary() -> None:
    """Print the score of each room, and what survived."""
    found = read()
    for room in TESTS:
        mine = [each for each in found if each["mutant"]["room"] == room]
        if not mine:
            continue
        good = sum(each["killed"] for each in mine)
        low, high = interval(good, len(mine))
        whole = len(drawn(room, None, 1))
        print(f"{room}: {good} of {len(mine)} killed, {good / len(mine):.0%} ({low:.0%} to {high:.0%}); {whole:,} in all")  # fmt: skip
        for each in mine:
            if not each["killed"]:
                m = each["mutant"]
                print(
                    f"  survived: {m['file']}:{m['line']}  {m['was'][:60]!r} -> {m['now'][:60]!r}"
                )


def main() -> None:
    """Plant mutants, or sum up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", nargs="?", choices=list(TESTS))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--summary", action="store_true")
    asked = parser.parse_args()
    if asked.room:
        run(asked.room, None if asked.all else asked.count, asked.seed, asked.seconds)
    summary()


if __name__ == "__main__":
    main()
