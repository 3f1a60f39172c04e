"""All benchmarks as one report: python -m benchmarks [--full] [--out FOLDER] [--page] [SECTION ...]

Each section runs in processes of its own and is kept in FOLDER/results.json as soon as it has ended, so a
section can be measured alone and an interrupted run goes on with what is missing (`--again` measures
everything anew). Then FOLDER/report.md and its pictures are written from what is kept. `--page` writes them
only. With the folder docs/bench the short table of README.md is written too.
`--full` takes the sizes of docs/benchmarks.md and adds TPC-H, one hundred million rows and all engines. Other
systems in environments of their own are apart: make bench-peers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.figures import PLACE, read
from benchmarks.machine import machine, versions
from benchmarks.report import DOCS, readme, write
from benchmarks.sections import SECTIONS, Section

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 15 * 60
"""Seconds that one quick section may take; the whole quick run has 30 minutes."""


def measured(section: Section, *, full: bool) -> dict[str, object]:
    """Return one section: its figures, what it printed, where and when; what failed is said, not hidden."""
    began, printed, failed = time.monotonic(), [], []
    with tempfile.TemporaryDirectory() as scratch:
        figures = Path(scratch) / "figures.jsonl"
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = os.environ | {PLACE: str(figures), "PYTHONPATH": os.pathsep.join(paths)}
        for options in section.runs(full=full):
            command = [sys.executable, "-m", f"benchmarks.{section.name}", *options]
            printed.append(f"$ python -m benchmarks.{section.name} {' '.join(options)}".rstrip())
            print(f"\n{printed[-1]}", flush=True)
            with subprocess.Popen(
                command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, text=True
            ) as process:
                printed += _printed(process, None if full else LIMIT)
            if process.returncode:
                failed.append(f"{' '.join(options)} ended with {process.returncode}".strip())
        found = [asdict(each) for each in read(figures)]
    return {
        "title": section.title,
        "full": full,
        "figures": found,
        "printed": printed,
        "failed": failed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
        "versions": versions(),
    }


def _printed(process: subprocess.Popen[str], limit: float | None) -> list[str]:
    """Return what a process prints, shown as it comes; it is ended when its time is over."""
    import threading

    watch = threading.Timer(limit, process.kill) if limit else None
    if watch:
        watch.start()
    lines = []
    for line in process.stdout or ():
        print(line, end="", flush=True)
        lines.append(line.rstrip())
    process.wait()
    if watch:
        watch.cancel()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--page", action="store_true", help="measure nothing, write the report")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("only", nargs="*", help="sections; none means all that are missing")
    asked = parser.parse_args()
    unknown = set(asked.only) - {section.name for section in SECTIONS}
    if unknown:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    asked.out.mkdir(parents=True, exist_ok=True)
    place = asked.out / "results.json"
    results = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    for section in SECTIONS:
        there = results.get(section.name, {}).get("full") == asked.full and not asked.again
        wanted = section.name in asked.only if asked.only else not there
        if asked.page or not wanted or not section.runs(full=asked.full):
            continue
        results[section.name] = measured(section, full=asked.full)
        fresh = place.with_suffix(".new")
        fresh.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        fresh.replace(place)
    written = write(results, asked.out)
    if asked.out.resolve() == DOCS:
        readme(results, ROOT / "README.md")
    print(f"\n{written} written.")
    failures = [f"{name}: {f}" for name, kept in results.items() for f in kept["failed"]]
    if failures:
        sys.exit("failed: " + "; ".join(failures))


if __name__ == "__main__":
    main()
