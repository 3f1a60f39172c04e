"""One hundred million rows on DuckDB: seconds and the greatest memory of the engine's process.

python -m benchmarks.large [--rows N] [--memory MB]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path

from benchmarks.curator import GROUPS, ROW_TASKS, curator_of
from benchmarks.figures import figure
from benchmarks.timing import seconds

from discreet.data.engines.files import ContentHashes, find_files
from discreet.lab.town import bench_table


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--persons", type=int, default=None, help="rows of people: a third of rows")
    options = parser.parse_args(arguments)
    persons = options.persons or options.rows // 3
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        path = folder / "large.parquet"
        wrote = seconds(lambda: bench_table(options.rows, persons, path, groups=GROUPS))
        print(f"{options.rows:,} rows written in {wrote:.0f} s, {path.stat().st_size / 1e9:.2f} GB")
        with curator_of(folder / "rows", path, 'unit = "row"') as curator:
            first = seconds(lambda: ContentHashes(None).of(find_files("t", path.name, folder)))
            print(f"{'hash of the file, once':<44}{first:>9.2f} s")
            for task, sql in ROW_TASKS.items():
                took = seconds(lambda sql=sql: curator.query(sql, epsilon=1, fresh=True))
                print(f"{task:<44}{took:>9.2f} s", flush=True)
                figure(f"{task}, {options.rows:,} rows", took, "s")
        bound = 'unit = "person_id"\nmax_rows = 3'
        with curator_of(folder / "people", path, bound) as curator:
            sql = ROW_TASKS["count by 50 groups"]
            took = seconds(lambda: curator.query(sql, epsilon=1, fresh=True))
            print(f"{f'3 rows a person, {persons:,} persons':<44}{took:>9.2f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"greatest memory: {peak:.1f} GiB in the engine's process, {own:.1f} GiB in ours")


if __name__ == "__main__":
    main()
