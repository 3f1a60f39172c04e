"""The same questions by this version and by an earlier one, in turn: processor time of a whole question.

python -m benchmarks.before [--revision REV] [--rows N] [--persons N] [--pairs N]

Each version answers in processes of its own (`git worktree` has the earlier one's code; the libraries are
today's), over the same Parquet files. A question is planned, charged, computed, noised and stored; counted is the time of
all its processes. The first question of each kind, which makes snapshots, is shown apart. Ratios are medians over the pairs.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.curator import GROUPS, TOML
from benchmarks.figures import figure

from discreet.lab.town import bench_table

ROOT = Path(__file__).resolve().parent.parent
REVISION = "96214db"
"""The last one before the kernel."""
TASKS = {
    "rows": {
        "count": "SELECT COUNT(*) AS n FROM t",
        "sum": "SELECT SUM(income) AS s FROM t",
        "mean": "SELECT AVG(income) AS m FROM t",
        "sum of a product": "SELECT SUM(income * age) AS s FROM t",
        "count with a condition": "SELECT COUNT(*) AS n FROM t WHERE age BETWEEN 30 AND 40",
        "count by 50 groups": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
        "mean by 50 groups": "SELECT place, AVG(income) AS m FROM t GROUP BY place",
        "median": "SELECT MEDIAN(age) AS m FROM t",
    },
    "people": {
        "count, 3 rows a person": "SELECT COUNT(*) AS n FROM t",
        "sum, 3 rows a person": "SELECT SUM(income) AS s FROM t",
        "count by 50 groups, 3 rows a person": "SELECT place, COUNT(*) AS n FROM t GROUP BY place",
        "people": "SELECT COUNT(DISTINCT person_id) AS n FROM t",
    },
}
UNITS = {
    "rows": 'unit = "row"',
    "people": 'unit = "person_id"\nmax_rows = 3\nbound = "table"',
}
WORKER = """
import sys
import discreet
with discreet.open(sys.argv[1]) as curator:
    print("ready", flush=True)
    for number, sql in enumerate(sys.stdin):
        curator.query(sql.strip(), epsilon="0.001", fresh=True, request_id=f"r{number}")
        print("done", flush=True)
"""


class Version:
    """One version's process, and everything that it starts."""

    def __init__(self, source: Path, config: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER, str(config)],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._hear("ready")

    def ask(self, sql: str) -> float:
        """Return the processor seconds of one question."""
        before = _spent(self._process.pid)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{sql}\n")
        self._process.stdin.flush()
        self._hear("done")
        return _spent(self._process.pid) - before

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _hear(self, word: str) -> None:
        assert self._process.stdout is not None
        said = self._process.stdout.readline().strip()
        if said != word:
            raise SystemExit(f"This version ended: {said or 'see above'}")


def _spent(top: int) -> float:
    """Return the processor seconds of a process and its descendants, by the system's clock of each."""
    parents = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(place.name)] = int(
                (place / "stat").read_text().rpartition(")")[2].split()[1]
            )
    own = {top}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    found = 0.0
    for pid in own:
        with contextlib.suppress(OSError):  # it has ended
            found += time.clock_gettime(~pid << 3 | 2)
    return found


@contextlib.contextmanager
def earlier(revision: str, folder: Path) -> Iterator[Path]:
    """Lend the source of an earlier version."""
    place = folder / "earlier"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(place), revision], check=True)
    try:
        yield place / "src"
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], check=True)


def project(folder: Path, source: Path, unit: str) -> Path:
    """Return the discreet.toml of a new project over one file."""
    folder.mkdir(parents=True)
    width = len(str(GROUPS))
    places = str([f"place {i + 1:0{width}d}" for i in range(GROUPS)]).replace("'", '"')
    text = TOML.format(name="t", source=source, unit=unit, places=places, engine="duckdb:")
    (folder / "discreet.toml").write_text(text, encoding="utf-8")
    return folder / "discreet.toml"


def section(kind: str, sources: dict[str, Path], file: Path, folder: Path, pairs: int) -> None:
    """Ask everything of one kind, in turn."""
    versions = {
        name: Version(source, project(folder / kind / name, file, UNITS[kind]))
        for name, source in sources.items()
    }
    for task, sql in TASKS[kind].items():
        first = {name: version.ask(sql) for name, version in versions.items()}
        found = [[version.ask(sql) for version in versions.values()] for _ in range(pairs)]
        then, now = (1e3 * statistics.median(side) for side in zip(*found, strict=True))
        ratio = statistics.median(new / old for old, new in found)
        met = {"wanted": "1.05x", "met": ratio <= 1.05, "paired": ratio}
        figure(task, now, "ms", beside="before", theirs=then, **met)
        shown = f"{task:<38}{then:>9.0f} ms{now:>9.0f} ms{ratio:>7.2f}x"
        print(f"{shown}   first: {first['before']:.1f} s, {first['now']:.1f} s", flush=True)
    for version in versions.values():
        version.close()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revision", default=REVISION)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--persons", type=int, default=3_000_000)
    parser.add_argument("--pairs", type=int, default=21)
    options = parser.parse_args(arguments)
    print(f"{options.rows:,} rows, {options.pairs} pairs; processor time: {options.revision}, now")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with earlier(options.revision, folder) as source:
            sources = {"before": source, "now": ROOT / "src"}
            for kind, persons in (("rows", options.rows), ("people", options.persons)):
                file = bench_table(options.rows, persons, folder / f"{kind}.parquet", groups=GROUPS)
                section(kind, sources, file, folder, options.pairs)


if __name__ == "__main__":
    main()
