"""The curator's tasks beside OpenDP, SmartNoise SQL and Tumult, each as a ratio to plain DuckDB.

python -m benchmarks.peers [--rows N] [--persons N] [--timeout SECONDS] [--peer NAME ...]

Every peer has an environment of its own under .venv-peers/, made by uv when it is not there; one that
cannot be installed is named and left out. A peer runs in a process of its own, with a time limit, and
times DuckDB in that same process, so that its ratio is its own. See peer_code.py for what they are
asked. Ours is measured in the same way, in this process.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.curator import PERSON_TASK, ROW_TASKS, ROWS_A_PERSON, curator_of
from benchmarks.timing import in_turn

from discreet.lab.town import bench_table

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv-peers"
PACKAGES = {
    "opendp": ("opendp[polars]==0.16.0",),
    "smartnoise": ("smartnoise-sql==1.0.10",),
    "tumult": ("tmlt.analytics==0.21.0", "setuptools"),
}
GROUPS = 50
OURS = {
    "count": ROW_TASKS["count by 50 groups"],
    "sum and mean": ROW_TASKS["sum and mean by groups"],
    "median": ROW_TASKS["median by groups"],
}


def environment(peer: str) -> Path | None:
    """Return the interpreter of a peer's environment, made now if need be; None if it fails."""
    python = ENVIRONMENTS / peer / "bin" / "python"
    if (ENVIRONMENTS / peer / ".ready").is_file():
        return python
    uv = shutil.which("uv") or str(ROOT / ".venv" / "tools" / "bin" / "uv")
    orders = (
        [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, python.parents[1]],
        [uv, "pip", "install", "--quiet", "--python", python, *PACKAGES[peer], "duckdb"],
    )
    try:
        for order in orders:
            subprocess.run(order, check=True, timeout=900)
    except (OSError, subprocess.SubprocessError):
        return None
    (ENVIRONMENTS / peer / ".ready").touch()
    return python


def measured(peer: str, rows: Path, people: Path, timeout: int) -> list[dict[str, object]]:
    """Return what a peer's process printed before its time was over."""
    python = environment(peer)
    if python is None:
        return [{"peer": peer, "task": task, "error": "does not install"} for task in OURS]
    order = [python, "-W", "ignore", ROOT / "benchmarks" / "peer_code.py", peer, rows, people]
    settings = {"env": os.environ | {"PYTHONPATH": ""}, "stderr": subprocess.DEVNULL}
    try:
        done = subprocess.run(
            [*order, str(GROUPS)],
            stdout=subprocess.PIPE,
            timeout=timeout,
            check=False,
            **settings,
        )
        printed = done.stdout
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"") + json.dumps(
            {"peer": peer, "task": "the rest", "error": f"stopped after {timeout} s"}
        ).encode()
    return [json.loads(line) for line in printed.splitlines()]


def ours(folder: Path, rows: Path, people: Path) -> list[dict[str, object]]:
    """Return our own lines, the floor in the same process."""
    bound = f'unit = "person_id"\nmax_rows = {ROWS_A_PERSON}'
    tables = (
        ("", 'unit = "row"', rows, OURS),
        (" (bounded in the query)", bound, people, {"3 rows a person": PERSON_TASK}),
        (" (stored view)", f'{bound}\nbound = "table"', people, {"3 rows a person": PERSON_TASK}),
    )
    found = []
    for label, unit, source, tasks in tables:
        with curator_of(folder / label.strip(" ()"), source, unit) as curator:
            relation = curator.engine.relation("bench.t")
            for task, sql in tasks.items():
                plain = sql.replace("FROM t", f"FROM {relation} AS t")
                times = in_turn(
                    {
                        "floor": lambda c=curator, s=plain: c.engine.owner_reader().run(s),
                        "seconds": lambda c=curator, s=sql: c.query(s, epsilon=1, fresh=True),
                    },
                    5,
                )
                found.append({"peer": "discreet", "task": task + label, **times})
    return found


def words(line: dict[str, object]) -> str:
    """Return one line of the table."""
    head = f"{line['peer']:<12}{line['task']:<40}"
    if "error" in line:
        return f"{head}{line['error']}"
    ratio = line["seconds"] / line["floor"]
    return f"{head}{line['floor']:>9.3f} s{line['seconds']:>9.3f} s{ratio:>9.1f}x"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--persons", type=int, default=333_333)
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--peer", nargs="*", choices=list(PACKAGES), default=list(PACKAGES))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rows = bench_table(options.rows, options.rows, folder / "rows.parquet", groups=GROUPS)
        people = bench_table(
            ROWS_A_PERSON * options.persons,
            options.persons,
            folder / "people.parquet",
            groups=GROUPS,
        )
        print(f"{options.rows:,} rows; {options.persons:,} persons with {ROWS_A_PERSON} rows each")
        print(f"{'system':<12}{'task':<40}{'DuckDB':>11}{'private':>11}{'ratio':>10}")
        for line in ours(folder, rows, people):
            print(words(line), flush=True)
        for peer in options.peer:
            for line in measured(peer, rows, people, options.timeout):
                print(words(line), flush=True)


if __name__ == "__main__":
    main()
