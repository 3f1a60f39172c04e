"""All quick benchmarks, one after the other: python -m benchmarks [--full]

`--full` uses the sizes that the figures in docs/benchmarks.md were measured with and adds TPC-H, one
hundred million rows, and the same plan on three engines. The peers are apart: make bench-peers.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time

QUICK = {
    "sampling": [],
    "accounting": [],
    "worst": ["--charges", "1000"],
    "ledger": ["--charges", "200", "--history", "10000"],
    "curator": ["--rows", "1000000", "--persons", "100000", "--rounds", "3"],
    "snapshots": ["--rows", "1000000", "--persons", "300000", "--pairs", "5"],
    "synth": ["--seeds", "3"],
    "survey": [],
}
FULL = {
    "sampling": [],
    "accounting": [],
    "worst": [],
    "ledger": [],
    "curator": [],
    "snapshots": [],
    "synth": [],
    "survey": [
        "--respondents",
        "1000000",
        "--repeats",
        "25",
        "--words",
        "1000000",
        "--scale",
        "10000000",
        "100000000",
    ],
    "tpch": [],
    "engines": [],
    "large": [],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("only", nargs="*", help="names of benchmarks; none means all")
    options = parser.parse_args()
    chosen = FULL if options.full else QUICK
    for name, arguments in chosen.items():
        if options.only and name not in options.only:
            continue
        print(f"\n== {name} {' '.join(arguments)}".rstrip(), flush=True)
        start = time.perf_counter()
        # Each reads its own options, as if it had been called by itself.
        sys.argv = [f"benchmarks.{name}", *arguments]
        importlib.import_module(f"benchmarks.{name}").main()
        print(f"({time.perf_counter() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
