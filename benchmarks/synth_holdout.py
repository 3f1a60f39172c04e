"""Copies of many tables: none fails after the charge, none strays from its own noisy tables.

python -m benchmarks.synth_holdout [--out copies.jsonl] [--copies 10] [--epsilon 0.1 1 10] [--method auto]
                                   [--data NAME ...] [--summary]

Each copy is one line of `--out`: chi-square of the copy against its own measurements, whether a
simpler model had to step in, and the mean total variation distance of triples (numbers in tenths of
the real rows, the 20 commonest words of long lists). What is there already is not made again, so a run
can be stopped and goes on later. `--summary` prints the geometric mean of each method over the tables
that settings were fixed on and over those held out (benchmarks/synth_data.py), and what failed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import json
import math
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
from benchmarks.synth_data import GENERATED, HELD_OUT, TUNED, Example
from benchmarks.synth_files import example, here
from scipy import stats

import discreet
from discreet.measure.shape import merge_counts

DELTA = "1e-9"
TRIPLES = 60
LEAST = 1e-6


def codes_of(real: pa.ChunkedArray, made: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the real and the made-up values of a column as codes of the real one's making."""
    known, found = real.to_pylist(), made.to_pylist()
    first = next((value for value in known if value is not None), 0)
    if isinstance(first, bool | str):
        kept = [word for word, _ in Counter(known).most_common(20)]
        place = {word: i for i, word in enumerate(kept)}
        sides = ([place.get(value, len(kept)) for value in each] for each in (known, found))
        return *(np.array(side) for side in sides), len(kept) + 1
    numbers = np.array([_number(value) for value in known])
    there = numbers[~np.isnan(numbers)]
    edges = np.unique(np.quantile(there, np.linspace(0, 1, 11)[1:-1])) if there.size else there
    sides = (numbers, np.array([_number(value) for value in found]))
    placed = [
        np.where(np.isnan(s), edges.size + 1, np.searchsorted(edges, s, side="right"))
        for s in sides
    ]
    return placed[0], placed[1], edges.size + 2


def _number(value: object) -> float:
    if isinstance(value, dt.date):
        return float(value.toordinal())
    return math.nan if value is None else float(value)  # type: ignore[arg-type]


def distance(real: pa.Table, made: pa.Table) -> float:
    """Return the mean total variation distance of some triples of columns."""
    names = [name for name in real.column_names if name in made.column_names]
    coded = {name: codes_of(real.column(name), made.column(name)) for name in names}
    triples = list(itertools.combinations(names, 3))
    if len(triples) > TRIPLES:
        chosen = np.random.RandomState(0).choice(len(triples), TRIPLES, replace=False)
        triples = [triples[i] for i in chosen]
    found = []
    for triple in triples:
        sides = []
        for side in (0, 1):
            place = np.zeros(len(coded[triple[0]][side]), dtype=np.int64)
            for name in triple:
                place = place * coded[name][2] + coded[name][side]
            cells = math.prod(coded[name][2] for name in triple)
            sides.append(np.bincount(place, minlength=cells) / max(place.size, 1))
        found.append(np.abs(sides[0] - sides[1]).sum() / 2)
    return float(np.mean(found))


def rows_chance(made: discreet.Synthetic) -> float:
    """Return the chance of the copy's own measurements, were its rows the real ones: the least of all
    tables together and (times their number) of one table, by SciPy's chi-square.

    Nothing of the product's own check: the made-up rows are counted here. Counts of drawn rows add
    the variance of drawing them, at most their number, to that of the noise.
    """
    codes, shape = made.rows.codes, made.encoding.shape
    squares, degrees, chances = 0.0, 0, []
    for table in made.measured:
        place = np.zeros(len(codes), dtype=np.int64)
        for column in table.columns:
            place = place * shape.sizes[column] + codes[:, column]
        counts = np.bincount(place, minlength=math.prod(shape.of(table.columns)))
        counts = merge_counts(counts.reshape(shape.of(table.columns)), table.columns, table.merged)
        variance = table.variance + np.maximum(counts, 1)
        square = float(((table.values - counts) ** 2 / variance).sum())
        squares, degrees = squares + square, degrees + counts.size
        chances.append(stats.chi2.sf(square, counts.size))
    together = float(stats.chi2.sf(squares, degrees))
    return min(1.0, together, len(chances) * float(min(chances)))


def copied(table: Example, epsilon: str, method: str) -> dict[str, object]:
    """Return the figures of one copy, or what went wrong."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        table.write(folder)
        with discreet.open(folder) as curator:
            start = time.process_time()
            try:
                made = curator.synthesize("t", epsilon=epsilon, delta=DELTA, method=method)
            except discreet.DiscreetError as error:
                return {"failed": str(error)}
            cpu = time.process_time() - start
    return {
        "took": made.method,
        "agreement": made.saved.facts["agreement"],
        "rows_agreement": rows_chance(made),
        "simpler": any("instead" in notice for notice in made.notices),
        "distance": round(distance(table.rows, made.table), 5),
        "cpu": round(cpu, 2),
    }


def run(out: Path, options: argparse.Namespace) -> None:
    """Make what is not there yet, one line each."""
    lines = out.read_text(encoding="utf-8").splitlines() if out.is_file() else []
    done = {tuple(json.loads(line)["key"]) for line in lines}
    names = options.data or [*GENERATED, *here(("adult", "hmeq", "acs", "pums"))]
    for copy in range(options.copies):
        for name, epsilon, method in itertools.product(names, options.epsilon, options.method):
            key = (name, epsilon, method, copy)
            table = None if key in done else example(name)
            if table is None:
                continue
            said = {"key": key, **copied(table, epsilon, method)}
            print(json.dumps(said), flush=True)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")


def summary(out: Path) -> None:
    """Print failures, strays and geometric means."""
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    failed = [each for each in found if "failed" in each]
    good = [each for each in found if "failed" not in each]
    strays = [each["key"] for each in good if each["agreement"] < LEAST]
    simpler = [each["key"] for each in good if each["simpler"]]
    print(
        f"{len(found)} copies: {len(failed)} failed, {len(strays)} strayed, {len(simpler)} simpler"
    )
    for title, names in (("tuned on", TUNED), ("held out", HELD_OUT)):
        for method in sorted({each["key"][2] for each in good}):
            print(f"{title:<10}{method:<14}{_mean(good, names, method)}")


def _mean(good: list[dict], names: Iterable[str], method: str) -> str:
    parts = []
    for epsilon in sorted({each["key"][1] for each in good}, key=float):
        mine = [
            math.log(max(each["distance"], 1e-6))
            for each in good
            if each["key"][0] in names and each["key"][1:3] == [epsilon, method]
        ]
        shown = f"{math.exp(sum(mine) / len(mine)):.4f} ({len(mine)})" if mine else "-"
        parts.append(f"epsilon {epsilon}: {shown}")
    return "   ".join(parts)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("copies.jsonl"))
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--epsilon", nargs="*", default=["0.1", "1", "10"])
    parser.add_argument("--method", nargs="*", default=["auto"])
    parser.add_argument("--data", nargs="*")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args(arguments)
    if not options.summary:
        run(options.out, options)
    summary(options.out)


if __name__ == "__main__":
    main()
