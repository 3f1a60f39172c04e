"""Error, processor time and memory of every method of synthesis on ADULT, beside other systems.

python -m benchmarks.synth [--seeds N] [--epsilon E ...] [--method NAME ...] [--peer NAME ...] [--timeout S]

ADULT discretised (48,842 x 14), delta = 1/n^2 with n declared, n synthetic rows. 64 random triples of
columns whose product of sizes is at most n; max: the greatest |difference of counts| / n over all their
cells; TVD: the mean over the 64 of the total variation distance. Mean of the seeds. Every method runs in
a process of its own; CPU seconds are those of the fit and the rows, start-up excluded; memory is the
greatest of the whole process. `--peer all` adds the systems of synth_peer_code.py, each in an
environment of its own under .venv-peers/, one seed each.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from benchmarks.adult import DATA, adult, errors, triples
from benchmarks.figures import figure
from benchmarks.peers import ENVIRONMENTS, PACKAGES, environment

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

ROOT = Path(__file__).resolve().parents[1]
PEERS = {
    "DataSynthesizer independent": "datasynthesizer",
    "DataSynthesizer correlated": "datasynthesizer",
    "MST on mbi": "mbi",
    "MST by dpmm": "dpmm",
    "AIM by dpmm": "dpmm",
    "PrivBayes by dpmm": "dpmm",
}
PACKAGES |= {
    "datasynthesizer": ("DataSynthesizer==0.1.13", "pandas<2.3"),
    "dpmm": ("dpmm==0.1.9",),
    "mbi": ("mbi==2.0.0",),
}
QUICK = ("tree", "correlated", "independent", "random")
HEAD = f"{'method':<30}{'epsilon':>8}{'max':>9}{'TVD':>9}{'CPU s':>9}{'MB':>7}"


def ours(method: str, epsilon: str, seeds: int, *, pure: bool = False) -> dict[str, float]:
    """Return the figures of one method of ours, fitted with real entropy."""
    codes, shape = adult()
    rows = len(codes)
    rho = rho_of_target(Fraction(epsilon), Fraction(1, rows * rows))
    budget = (
        MarginalBudget(Fraction(epsilon), concentrated=False)
        if pure
        else MarginalBudget(rho, concentrated=True)
    )
    found, seconds = [], []
    options = {"workload": triples(shape, rows)} if method in {"adaptive", "rap"} else {}
    for seed in range(seeds):
        start = time.process_time()
        marginals = PrivateMarginals(
            MemoryCounter(codes, shape), shape, budget, CountSensitivity(), SystemRng()
        )
        model = METHODS[method].fit(marginals, **options)
        made = model.sample(rows, dice=np.random.default_rng(seed))
        seconds.append(time.process_time() - start)
        found.append(errors(codes, made, shape))
    worst, apart = np.mean(found, axis=0)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"max": worst, "tvd": apart, "cpu": float(np.mean(seconds)), "memory": memory}


def floors(codes: np.ndarray, shape: Shape) -> dict[str, dict[str, float]]:
    """Return what no privacy gives: a bootstrap of the rows, and exact independent columns."""
    dice = np.random.default_rng(0)
    again = codes[dice.integers(0, len(codes), len(codes))]
    apart = np.stack([dice.permutation(codes[:, i]) for i in range(shape.width)], axis=1)
    found = {"bootstrap of the real rows": again, "exact one-way marginals": apart}
    return {
        name: dict(zip(("max", "tvd"), errors(codes, made, shape), strict=True))
        for name, made in found.items()
    }


def peer(name: str, epsilon: str, folder: Path, timeout: int) -> dict[str, float] | str:
    """Return the figures of another system, or why there are none."""
    python = environment(PEERS[name])
    if python is None:
        return "does not install"
    codes, shape = adult()
    source, about, out = folder / "codes.npy", folder / "domain.json", folder / "out.npy"
    np.save(source, codes)
    about.write_text(json.dumps(dict(zip(shape.names, shape.sizes, strict=True))))
    code = ROOT / "benchmarks" / "synth_peer_code.py"
    order = [python, "-W", "ignore", code, name, source, about, epsilon, str(len(codes) ** -2)]
    settings = {"env": os.environ | {"PYTHONPATH": ""}, "stderr": subprocess.DEVNULL}
    try:
        done = subprocess.run(
            [*order, "0", out], stdout=subprocess.PIPE, timeout=timeout, check=True, **settings
        )
    except subprocess.TimeoutExpired:
        return f"stopped after {timeout} s"
    except subprocess.CalledProcessError:
        return "failed"
    worst, apart = errors(codes, np.load(out), shape)
    return {"max": worst, "tvd": apart} | json.loads(done.stdout.splitlines()[-1])


def line(name: str, epsilon: str, found: dict[str, float] | str) -> str:
    """Return one line of the table."""
    if isinstance(found, str):
        return f"{name:<30}{epsilon:>8}  {found}"
    spent = f"{found['cpu']:>9.2f}{found['memory']:>7.0f}" if "cpu" in found else ""
    return f"{name:<30}{epsilon:>8}{found['max']:>9.4f}{found['tvd']:>9.4f}{spent}"


def alone(method: str, epsilon: str, seeds: int, *, pure: bool) -> dict[str, float]:
    """Return the figures of one method, measured in a process of its own."""
    order = [sys.executable, "-m", "benchmarks.synth", "--worker", method, "--epsilon", epsilon]
    order += ["--seeds", str(seeds), *(["--pure"] if pure else [])]
    done = subprocess.run(order, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilon", nargs="*", default=["1", "0.1"])
    parser.add_argument("--method", nargs="*", choices=list(METHODS), default=list(QUICK))
    parser.add_argument("--peer", nargs="*", choices=["all", *PEERS], default=[])
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("--pure", action="store_true", help="pure epsilon instead of zCDP")
    parser.add_argument("--worker", choices=list(METHODS), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not (DATA / "adult_discretized.csv").is_file():
        print("The discretised ADULT is not here (../shared/data): nothing to measure.")
        return
    if options.worker:
        (epsilon,) = options.epsilon
        print(json.dumps(ours(options.worker, epsilon, options.seeds, pure=options.pure)))
        return
    print(HEAD)
    floor = floors(*adult())
    for name, found in floor.items():
        print(line(name, "-", found), flush=True)
    for method in options.method:
        for epsilon in options.epsilon:
            found = alone(method, epsilon, options.seeds, pure=options.pure)
            figure(
                f"{method}, epsilon {epsilon}: mean distance of 3-way tables",
                found["tvd"],
                "TVD",
                beside="bootstrap of the real rows",
                theirs=floor["bootstrap of the real rows"]["tvd"],
            )
            figure(f"{method}, epsilon {epsilon}: fit and rows, processor", found["cpu"], "s")
            print(line(method, epsilon, found), flush=True)
    ENVIRONMENTS.mkdir(exist_ok=True)
    for name in PEERS if "all" in options.peer else options.peer:
        for epsilon in options.epsilon:
            with tempfile.TemporaryDirectory() as scratch:
                found = peer(name, epsilon, Path(scratch), options.timeout)
            print(line(name, epsilon, found), flush=True)


if __name__ == "__main__":
    main()
