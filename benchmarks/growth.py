"""Growth curves: time, processor time and memory against rows, persons, groups, columns, ledger, reports, areas.

python -m benchmarks.growth [CURVE ...] [--upto N] [--least N] [--out FILE] [--page]

Every point is prepared by one process and measured by another, so that its greatest memory is its own, and is
appended to FILE as soon as it is known: a run that was stopped goes on with what is missing. `--upto` leaves out
larger sizes. `--page` measures nothing and writes docs/scale.md and its pictures from FILE.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.descendants import Descendants
from benchmarks.growth_work import CURVES

ROOT = Path(__file__).resolve().parents[1]
POINTS = ROOT / "docs" / "bench" / "growth.jsonl"


# --- one point, in a process of its own ------------------------------------------------------


def processor() -> float:
    """Return the processor seconds of this process and all that descend from it, ended or not (Linux)."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for place in Path("/proc").iterdir():
        if not place.name.isdigit():
            continue
        try:
            fields = (place / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended; its parent counts it
        parents[int(place.name)] = int(fields[1])
        used[int(place.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    found, ours = 0.0, {os.getpid()}
    for process in sorted(parents):
        line = process
        while line in parents and line not in ours:
            line = parents[line]
        if line in ours:
            ours.add(process)
            found += used[process]
    return found


class Steps:
    """The measured steps of one point."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, float]] = {}
        self.facts: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), processor()
        yield
        self.found[name] = {
            "wall": round(time.perf_counter() - wall, 4),
            "cpu": round(processor() - cpu, 3),
        }

    def fact(self, name: str, value: float) -> None:
        """Keep a figure beside the times: bytes on disk, rows."""
        self.facts[name] = value


def staged(stage: str, curve: str, size: int, folder: Path) -> None:
    """Do one stage of one point; what was measured is the last line printed."""
    work = CURVES[curve]
    if stage == "prepare":
        work.prepare(size, folder)
        return
    steps = Steps()
    with Descendants() as children:
        work.measure(size, folder, steps)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    engine = round(1000 * children.gigabytes)
    found = {"steps": steps.found, "own_mb": round(own), "engine_mb": engine}
    print(json.dumps(found | {"facts": steps.facts}))


# --- all of them -----------------------------------------------------------------------------


def point(curve: str, size: int) -> dict[str, object]:
    """Return one point, prepared and measured in processes of their own."""
    with tempfile.TemporaryDirectory() as folder:
        printed = ""
        for stage in ("prepare", "measure"):
            command = [sys.executable, "-m", "benchmarks.growth", "--stage", stage]
            done = subprocess.run(
                [*command, "--size", str(size), "--folder", folder, curve],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            printed = done.stdout
    found = json.loads(printed.splitlines()[-1])
    load = round(os.getloadavg()[0], 1)
    date = dt.datetime.now(dt.UTC).date().isoformat()
    return {"curve": curve, "size": size, **found, "load": load, "date": date}


def read(path: Path) -> list[dict[str, object]]:
    """Return the points of a file; of one that was measured again, the last."""
    if not path.exists():
        return []
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    kept = {(each["curve"], each["size"]): each for each in lines}
    return [kept[key] for key in sorted(kept, key=lambda key: (list(CURVES).index(key[0]), key[1]))]


def missing(
    path: Path, curves: list[str], *, least: int, upto: Callable[[str, int], bool]
) -> Iterator[tuple[str, int]]:
    """Yield the points that are not there yet, the small ones of every curve first."""
    there = {(each["curve"], each["size"]) for each in read(path)}
    wanted = [(size, curve) for curve in curves for size in CURVES[curve].sizes]
    for size, curve in sorted(wanted):
        if (curve, size) not in there and size >= least and upto(curve, size):
            yield curve, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("curve", nargs="*", help=f"of {', '.join(CURVES)}; none means all")
    parser.add_argument("--upto", type=float, default=float("inf"))
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--out", type=Path, default=POINTS)
    parser.add_argument("--page", action="store_true")
    for hidden in ("--stage", "--size", "--folder"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.stage:
        staged(asked.stage, asked.curve[0], int(asked.size), Path(asked.folder))
        return
    unknown = set(asked.curve) - set(CURVES)
    if unknown:
        parser.error(f"no such curve: {', '.join(sorted(unknown))}")
    if not asked.page:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        chosen = asked.curve or list(CURVES)
        for curve, size in missing(
            asked.out, chosen, least=int(asked.least), upto=lambda _, n: n <= asked.upto
        ):
            found = point(curve, size)
            with asked.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(found) + "\n")
            said = ", ".join(f"{k} {v['wall']:.2f} s" for k, v in found["steps"].items())
            memory = f"{found['own_mb']} + {found['engine_mb']} MB"
            print(f"{curve:<10}{size:>15,}  {said}; {memory}", flush=True)
    if asked.out == POINTS:
        from benchmarks.growth_page import write

        print(f"{write(read(POINTS))} written.")


if __name__ == "__main__":
    main()
