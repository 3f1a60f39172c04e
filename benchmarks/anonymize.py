"""Anonymization and --check on Adult beside other systems, and a million rows.

python -m benchmarks.anonymize [--peer NAME ...] [--million] [--timeout SECONDS]

Adult with 30,162 complete rows, 8 quasi-identifiers and their hierarchies (6,480 nodes), k = 5; the
check on the 48,842 rows of the discretised Adult. "whole command" is a process of its own from
start to exit (the first one compiles its modules), with files read and written, the exposure recorded; "warm" the same work in a process
that has the table open. Peers run in environments of their own (see anonymize_peer_code.py), reading
and imports not timed. ARX needs Java and its own jar: it is not run here.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from benchmarks.adult import DATA
from benchmarks.figures import figure
from benchmarks.peers import PACKAGES, ROOT, environment

from discreet.anonymize.risk import measure
from discreet.anonymize.run import AnonymizeRequest, groups_of, hierarchies_of, run
from discreet.anonymize.search import anonymize
from discreet.anonymize.source import open_source

QUASI = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
]
SENSITIVE = "salary-class"
HIERARCHIES = DATA / "adult_hierarchies"
CHECKED = [
    "age",
    "workclass",
    "education-num",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
]
INCOME = "income>50K"
PACKAGES |= {
    "pycanon": ("pycanon==1.1.0", "pandas<3"),
    "anjana": ("anjana==1.1.0", "pandas<3"),
    "anonypy": ("anonypy==0.2.1", "pandas<3"),
}


def said(system: str, task: str, seconds: float, cpu: float | None = None, more: str = "") -> None:
    used = "" if cpu is None else f"{cpu:>9.2f} s"
    figure(f"{system}: {task}", seconds, "s")
    print(f"{system:<10}{task:<44}{seconds:>9.3f} s{used:>11}  {more}", flush=True)


def command(folder: Path, source: Path, *options: str) -> None:
    """Time one whole process of ours."""
    work = folder / f"work{len(list(folder.iterdir()))}"
    work.mkdir()
    shutil.copy(source, work)
    discreet = Path(sys.executable).parent / "discreet"
    order = [str(discreet), "anonymize", source.name, "--json", "--k", "5"]
    order += ["--quasi", ",".join(QUASI), "--hierarchies", str(HIERARCHIES), "--out", "o.csv"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*order, *options], cwd=work, capture_output=True, check=True, env=compiled(folder)
    )
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = json.loads(done.stdout)
    facts = f"discernibility {found['discernibility']:,}, {found['suppressed']} left out"
    said("discreet", f"whole command {' '.join(options)}"[:43], seconds, cpu, facts)


def compiled(folder: Path) -> dict[str, str]:
    """Return the environment of a program in use: modules are compiled once, not at every start."""
    found = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return found | {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONPATH": ""}


def warm(source: Path) -> None:
    """Time the parts in this process: the search alone, and everything but the writing."""
    with open_source(str(source)) as table:
        run(table, AnonymizeRequest.of(k=5, quasi=QUASI[:2]))  # what is loaded at the first use
        for method, suppress in (("optimal", 0.0), ("optimal", 0.02), ("mondrian", 0.0)):
            request = AnonymizeRequest.of(
                k=5, quasi=QUASI, hierarchies=HIERARCHIES, suppress=suppress, method=method
            )
            groups, levels = groups_of(table, request), hierarchies_of(table, request)
            start, cpu = time.perf_counter(), time.process_time()
            found = anonymize(groups, levels, k=5, suppress=suppress, method=request.method)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            facts = f"discernibility {found.costs.discernibility:,}, {found.classes:,} classes"
            said(
                "discreet", f"warm: {method}, at most {suppress:.0%} left out", seconds, cpu, facts
            )
            start, cpu = time.perf_counter(), time.process_time()
            run(table, request)
            seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
            said("discreet", "warm: the same, with rows and risks", seconds, cpu)


def checked(csv: Path) -> float:
    """Return the median seconds of --check in this process: k, l, t and all risks."""
    with open_source(str(csv)) as table:
        times = []
        for _ in range(6):
            start = time.perf_counter()
            found = measure(table, CHECKED, sensitive=[INCOME])
            times.append(time.perf_counter() - start)
        facts = f"k {found.sizes.k}, l {found.diversity[0].distinct}, t {found.diversity[0].t:.4f}"
        said("discreet", "--check, 48,842 rows, with risks", sorted(times[1:])[2], None, facts)
        return sorted(times[1:])[2]


def peers(names: list[str], complete: Path, whole: Path, timeout: int) -> None:
    """Run the peers, each in its own environment."""
    asked = {
        "pycanon": [whole, ",".join(CHECKED), INCOME],
        "anjana": [complete, ",".join(QUASI), SENSITIVE, HIERARCHIES],
        "anonypy": [complete, ",".join(QUASI), SENSITIVE],
    }
    for name in names:
        python = environment(name)
        if python is None:
            print(f"{name:<10}does not install")
            continue
        order = [python, "-W", "ignore", ROOT / "benchmarks" / "anonymize_peer_code.py", name]
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [*map(str, order), *map(str, asked[name])],
                capture_output=True,
                timeout=timeout,
                check=False,
                env=compiled(complete.parent),
            )
            printed, failed = done.stdout, done.stderr[-300:].decode() if done.returncode else ""
        except subprocess.TimeoutExpired as late:
            printed, failed = late.stdout or b"", f"stopped after {timeout} s"
        for line in map(json.loads, printed.splitlines()):
            keys = ("peer", "task", "seconds", "cpu")
            more = ", ".join(f"{k} {v:,}" for k, v in line.items() if k not in keys)
            said(line["peer"], line["task"], line["seconds"], line["cpu"], more)
        said(name, "whole process, all of the above", time.perf_counter() - start)
        if failed:
            print(f"{name:<10}{failed.strip().splitlines()[-1]}")


def million(folder: Path, source: Path) -> None:
    """Time a whole command on a million rows made of halves of Adult's, as CSV and as Parquet."""
    table = arrow_csv.read_csv(source, parse_options=arrow_csv.ParseOptions(delimiter=";"))
    dice = np.random.default_rng(1)
    one, two = (table.take(pa.array(dice.integers(len(table), size=1_000_000))) for _ in "ab")
    # Half of the columns from another row: otherwise a million rows have the classes of 30,162.
    half = dict(zip(table.column_names, [*one.columns[:4], *two.columns[4:]], strict=True))
    drawn = pa.table(half)
    pq.write_table(drawn, folder / "million.parquet")
    arrow_csv.write_csv(drawn, folder / "million.csv")
    for name in ("million.parquet", "million.csv"):
        command(folder, folder / name, "--suppress", "0.02", "--sensitive", SENSITIVE)
    command(folder, folder / "million.parquet", "--method", "mondrian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", nargs="*", choices=["pycanon", "anjana", "anonypy"], default=[])
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--timeout", type=int, default=400)
    options = parser.parse_args()
    source = DATA / "adult_complete.csv"
    if not source.is_file():
        print("the folder shared/data is not there: nothing is measured")
        return
    print(f"{'system':<10}{'task':<44}{'wall':>11}{'CPU':>11}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for extra in ((), (), ("--suppress", "0.02"), ("--method", "mondrian")):
            command(folder, source, *extra)
        warm(source)
        ours = checked(DATA / "adult_discretized.csv")
        plain = folder / "adult.csv"
        plain.write_text(source.read_text(encoding="utf-8").replace(";", ","), encoding="utf-8")
        peers(options.peer, plain, DATA / "adult_discretized.csv", options.timeout)
        print(f"(20 times faster than a peer's check means above {20 * ours:.2f} s)")
        if options.million:
            million(folder, source)


if __name__ == "__main__":
    main()
