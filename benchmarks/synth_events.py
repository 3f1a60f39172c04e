"""Visits of patients in order: how well a linked copy keeps first days, gaps and what follows what.

python -m benchmarks.synth_events [--people N] [--epsilon E ...] [--seeds S]

Patients with an age group and a sex; up to eight visits each, whose first day depends on the age,
whose kind depends on the kind before (a chain), and whose gap depends on the kind before and the age.
Printed are total variation distances of: the number of visits, the first day (by quarter), the gap (12
bins), gap by kind before, kind by kind before, gap by age; and the share of visits in order. `plain` is
the same copy without `events`: days as any other column.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet

MOST = 8
KINDS = ("ill", "check", "wound", "birth", "dental")
TOML = """
[datasets.clinic]
epsilon = 1000
delta = 1e-6
[datasets.clinic.tables.patients]
source = "patients.parquet"
unit = "patient"
max_rows = 1
[datasets.clinic.tables.patients.columns]
patient = {{ type = "identifier" }}
age = {{ type = "integer", lower = 0, upper = 9 }}
sex = {{ type = "category", values = ["F", "M"] }}
[datasets.clinic.tables.visits]
source = "visits.parquet"
unit = "patient"
max_rows = 8
{events}
[datasets.clinic.tables.visits.columns]
patient = {{ type = "identifier" }}
day = {{ type = "date", lower = 2015-01-01, upper = 2020-12-31 }}
kind = {{ type = "category", values = ["ill", "check", "wound", "birth", "dental"] }}
cost = {{ type = "integer", lower = 0, upper = 499 }}
"""
START = np.datetime64("2015-01-01")
DAYS = 2191
BINS = np.array([1, 3, 7, 14, 28, 56, 84, 120, 180, 270, 365])


def write(folder: Path, people: int, *, events: bool) -> None:
    """Write patients, their visits and the declarations."""
    rng = np.random.default_rng(1)
    age, sex = rng.integers(0, 10, people), rng.integers(0, 2, people)
    many = np.minimum(rng.poisson(0.7 + 0.35 * age), MOST)
    stay = np.array([0.2, 0.5, 0.3, 0.1, 0.6])  # chance that a kind is followed by itself
    mean = np.array([7.0, 120.0, 14.0, 40.0, 180.0])  # days until what follows
    day = (rng.beta(1.2, 2.5, people) * 1000 * (0.6 + 0.1 * age)).astype(int)
    kind = rng.choice(5, people, p=[0.4, 0.25, 0.15, 0.05, 0.15])
    rows: list[np.ndarray] = []
    for step in range(MOST):
        going = np.flatnonzero((many > step) & (day < DAYS))
        cost = np.exp(rng.normal(3 + 0.3 * kind[going] + 0.05 * age[going], 0.5))
        parts = (going, day[going], kind[going], cost.clip(0, 499).astype(int))
        rows.append(np.stack(parts, axis=1))
        gap = rng.gamma(2, mean[kind] * (1.6 - 0.1 * age) / 2).astype(int)
        day = day + gap
        follows = np.where(rng.random(people) < stay[kind], kind, (kind + 1 + age % 2) % 5)
        kind = np.where(rng.random(people) < 0.85, follows, rng.integers(0, 5, people))
    table = np.concatenate(rows)
    table = table[rng.permutation(len(table))]
    patients = {"patient": np.arange(people), "age": age, "sex": [("F", "M")[i] for i in sex]}
    pq.write_table(pa.table(patients), folder / "patients.parquet")
    visits = {
        "patient": table[:, 0],
        "day": pa.array(START + table[:, 1].astype("timedelta64[D]")),
        "kind": [KINDS[i] for i in table[:, 2]],
        "cost": table[:, 3],
    }
    pq.write_table(pa.table(visits), folder / "visits.parquet")
    text = TOML.format(events='events = "day"' if events else "")
    (folder / "discreet.toml").write_text(text, encoding="utf-8")


class Story:
    """What is compared: a table of visits as shares of cells."""

    def __init__(self, patients: pa.Table, visits: pa.Table) -> None:
        people = np.array(patients.column("patient").to_pylist())
        ages = np.zeros(people.max() + 1, dtype=int)
        ages[people] = np.array(patients.column("age").to_pylist())
        who = np.array(visits.column("patient").to_pylist())
        day = (np.array(visits.column("day").to_pylist(), dtype="datetime64[D]") - START).astype(
            int
        )
        kind = np.array([KINDS.index(word) for word in visits.column("kind").to_pylist()])
        written = who[1:] == who[:-1]
        self.in_order = float(np.mean((day[1:] >= day[:-1])[written])) if written.any() else 1.0
        order = np.lexsort((day, who))
        who, day, kind = who[order], day[order], kind[order]
        later = np.flatnonzero(who[1:] == who[:-1]) + 1
        first = np.flatnonzero(np.r_[True, who[1:] != who[:-1]])
        gap = np.searchsorted(BINS, day[later] - day[later - 1], side="right")
        age = ages[who[later]] // 2
        _, many = np.unique(who, return_counts=True)
        counts = np.bincount(np.minimum(many, MOST), minlength=MOST + 1)
        counts[0] = len(people) - len(many)
        self.shares = {
            "visits": counts / len(people),
            "first day": _shares((day[first] // 91, 25)),
            "first by age": _shares((day[first] // 182, 13), (ages[who[first]] // 2, 5)),
            "gap": _shares((gap, 12)),
            "gap by kind before": _shares((gap, 12), (kind[later - 1], 5)),
            "kind by kind before": _shares((kind[later], 5), (kind[later - 1], 5)),
            "gap by age": _shares((gap, 12), (age, 5)),
        }


def _shares(*columns: tuple[np.ndarray, int]) -> np.ndarray:
    place = np.zeros(len(columns[0][0]), dtype=int)
    cells = 1
    for values, size in columns:
        place, cells = place * size + values, cells * size
    return np.bincount(place, minlength=cells) / max(len(place), 1)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--epsilon", nargs="*", default=["1"])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    for events in (True, False):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write(folder, options.people, events=events)
            real = Story(*(pq.read_table(folder / f"{n}.parquet") for n in ("patients", "visits")))
            with discreet.open(folder) as curator:
                for epsilon in options.epsilon:
                    made = [
                        Story(*curator.synthesize_linked("clinic", epsilon=epsilon).tables.values())
                        for _ in range(options.seeds)
                    ]
                    told(real, made, f"{'events' if events else 'plain'}, epsilon {epsilon}")


def told(real: Story, made: list[Story], what: str) -> None:
    """Print the mean distances of some copies."""
    print(f"{what} ({len(made)} copies); in order {np.mean([m.in_order for m in made]):.3f}")
    for name, share in real.shares.items():
        apart = [np.abs(share - each.shares[name]).sum() / 2 for each in made]
        print(f"    {name:<22}{np.mean(apart):.4f}", flush=True)


if __name__ == "__main__":
    main()
