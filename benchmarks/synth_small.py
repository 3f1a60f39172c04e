"""Small tables, on which slow peers finish: mean distance of three-way tables, ours beside AIM, MST, PrivBayes.

python -m benchmarks.synth_small [--epsilon E ...] [--seeds N] [--timeout S] [--columns N] [--python PATH] [--peer NAME ...]

Three generated tables (benchmarks/synth_data.py), every column as at most eight codes, all columns
value by value, delta 1e-9. Peers run in the environment `--python` (or the one that benchmarks.peers
makes for each), each in a process of its own with a time limit; ours with real entropy, in this process.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from benchmarks.peers import environment
from benchmarks.synth import ROOT
from benchmarks.synth_files import example
from benchmarks.synth_holdout import codes_of

from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.noise.rng import SystemRng
from discreet.work.synth.methods.registry import METHODS

DELTA = Fraction(1, 10**9)
MOST = 8
TABLES = {"small": 7, "villages": 6, "likert": 8}
OURS = ("auto", "adaptive", "tree", "independent")
SLOW = {
    "AIM on mbi": "mbi",  # its joint table must be small
    "MST on mbi": "mbi",
    "AIM by dpmm": "dpmm",
    "MST by dpmm": "dpmm",
    "PrivBayes by dpmm": "dpmm",
}
"""Peers, and the environment of each."""


def coded(name: str, columns: int) -> tuple[np.ndarray, Shape]:
    """Return the first columns of a table as at most eight codes each."""
    found = example(name)
    assert found is not None, "generated tables are always there"
    parts = []
    for column in found.rows.column_names[:columns]:
        codes, _, size = codes_of(found.rows.column(column), found.rows.column(column))
        parts.append(codes * MOST // max(size, MOST))
    made = np.stack(parts, axis=1).astype(np.int32)
    sizes = tuple(int(size) + 1 for size in made.max(axis=0))
    return made, Shape(tuple(found.rows.column_names[:columns]), sizes)


def distance(real: np.ndarray, made: np.ndarray, shape: Shape) -> float:
    """Return the mean total variation distance of all triples."""
    apart = []
    for triple in itertools.combinations(range(shape.width), 3):
        sides = []
        for codes in (real, made):
            place = np.zeros(len(codes), dtype=np.int64)
            for column in triple:
                place = place * shape.sizes[column] + codes[:, column]
            sides.append(np.bincount(place, minlength=shape.cells(triple)) / len(codes))
        apart.append(np.abs(sides[0] - sides[1]).sum() / 2)
    return float(np.mean(apart))


def ours(method: str, codes: np.ndarray, shape: Shape, epsilon: str) -> tuple[float, float]:
    """Return distance and processor seconds of one copy of ours."""
    start = time.process_time()
    budget = MarginalBudget(rho_of_target(Fraction(epsilon), DELTA), concentrated=True)
    marginals = PrivateMarginals(
        MemoryCounter(codes, shape), shape, budget, CountSensitivity(), SystemRng()
    )
    made = METHODS[method].fit(marginals).sample(len(codes), dice=np.random.default_rng())
    return distance(codes, made, shape), time.process_time() - start


def peer(
    name: str, python: Path, codes: np.ndarray, shape: Shape, asked: tuple[str, int, int]
) -> tuple[float, float] | str:
    """Return distance and processor seconds of a peer's copy, or why there is none."""
    epsilon, seed, timeout = asked
    with tempfile.TemporaryDirectory() as scratch:
        source, about, out = (Path(scratch) / n for n in ("in.npy", "domain.json", "out.npy"))
        np.save(source, codes)
        about.write_text(json.dumps(dict(zip(shape.names, shape.sizes, strict=True))))
        code = ROOT / "benchmarks" / "synth_peer_code.py"
        order = [str(python), "-W", "ignore", str(code), name, str(source), str(about), epsilon]
        order += [str(float(DELTA)), str(seed), str(out)]
        try:
            done = subprocess.run(
                order,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=timeout,
                check=True,
                env=os.environ | {"PYTHONPATH": ""},
            )
        except subprocess.TimeoutExpired:
            return f"stopped after {timeout} s"
        except subprocess.CalledProcessError:
            return "failed"
        cpu = json.loads(done.stdout.splitlines()[-1])["cpu"]
        return distance(codes, np.load(out), shape), cpu


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epsilon", nargs="*", default=["1"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=300)
    parser.add_argument("--columns", type=int, default=99, help="at most so many of each table")
    parser.add_argument("--python", type=Path)
    parser.add_argument("--peer", nargs="*", choices=SLOW, default=list(SLOW))
    options = parser.parse_args(arguments)
    pythons = {each: options.python or environment(SLOW[each]) for each in options.peer}
    for (name, columns), epsilon in itertools.product(TABLES.items(), options.epsilon):
        codes, shape = coded(name, min(columns, options.columns))
        print(f"{name}: {len(codes):,} x {shape.width}, epsilon {epsilon}", flush=True)
        for method in OURS:
            tell(method, [ours(method, codes, shape, epsilon) for _ in range(options.seeds)])
        for each, python in pythons.items():
            if python is None:
                continue
            runs: list[tuple[float, float] | str] = []
            for seed in range(options.seeds):
                runs.append(peer(each, python, codes, shape, (epsilon, seed, options.timeout)))
                if isinstance(runs[-1], str):
                    break
            tell(each, runs)


def tell(name: str, runs: list[tuple[float, float] | str]) -> None:
    """Print one line: mean distance and seconds, or what went wrong."""
    wrong = next((run for run in runs if isinstance(run, str)), None)
    if wrong is not None:
        print(f"    {name:<20}{wrong}", flush=True)
        return
    apart, cpu = np.mean([run for run in runs if not isinstance(run, str)], axis=0)
    print(f"    {name:<20}{apart:.4f}   {cpu:.1f} s", flush=True)


if __name__ == "__main__":
    main()
