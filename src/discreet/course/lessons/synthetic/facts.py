"""Copies of the made-up town by each method and epsilon: how wrong their tables of two columns are."""

from __future__ import annotations

from decimal import Decimal
from itertools import combinations
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from discreet.api import open as open_curator
from discreet.catalog.edits import with_totals
from discreet.catalog.writer import change_file
from discreet.course.facts import Sweep, SweepBar, SweepStep, epsilons, facts_json
from discreet.examples import town

COLUMNS = ("sex", "education", "married", "smoker", "job", "household_size")
METHODS = ("random", "independent", "correlated", "tree")
PEOPLE = 5_000
TOTALS = {"epsilon": Decimal(100), "delta": Decimal("1e-5")}


def facts() -> str:
    """Return the sweep, made on the town."""
    steps = []
    for label, epsilon in epsilons((0.05, 0.2, 1.0, 5.0)).items():
        bars = tuple(SweepBar(method, _error(method, epsilon)) for method in METHODS)
        best = min(bars, key=lambda bar: bar.value)
        steps.append(SweepStep(label, bars, f"Closest at this price: {best.name}."))
    sweep = Sweep(
        "price of a copy:",
        "average distance of a table of two columns from the true one (0 the same, 1 nothing in common)",
        tuple(steps),
        2,
    )
    return facts_json({"": sweep})


def _error(method: str, epsilon: float) -> float:
    with TemporaryDirectory() as folder:
        made = town(PEOPLE, folder=folder, tables=("people",))
        change_file(made.toml, lambda text: with_totals(text, TOTALS))
        real = made.load("people")
        with open_curator(made.toml) as curator:
            copy = curator.synthesize("people", method=method, epsilon=epsilon, rows=PEOPLE)
        return _distance(real, copy.to_arrow())


def _distance(real: pa.Table, copy: pa.Table) -> float:
    """Return the average total variation distance over all pairs of the columns."""
    found = []
    for pair in combinations(COLUMNS, 2):
        shares = [_shares(table, pair) for table in (real, copy)]
        keys = shares[0].keys() | shares[1].keys()
        found.append(sum(abs(shares[0].get(k, 0.0) - shares[1].get(k, 0.0)) for k in keys) / 2)
    return float(np.mean(found))


def _shares(table: pa.Table, pair: tuple[str, str]) -> dict[tuple[str, str], float]:
    counts: dict[tuple[str, str], float] = {}
    for one, two in zip(*(table.column(name).to_pylist() for name in pair), strict=True):
        key = (str(one), str(two))
        counts[key] = counts.get(key, 0.0) + 1 / table.num_rows
    return counts
