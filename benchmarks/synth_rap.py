"""Relaxed Adaptive Projection on ADULT: seconds and error, on a processor or an accelerator.

python -m benchmarks.synth_rap [--seeds N] [--epsilon E] [--rounds T] [--queries K] [--rows N'] [--steps S] [--data DIR]

The 64 triples of benchmarks/synth.py: 458,996 queries. `--steps` counts all steps of a run together.
Seconds are of a whole run (relaxed rows, choices, noisy counts, descent, synthetic rows) on a warm
process; the first run, with compilation, is told apart. Noise from the operating system's entropy.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from benchmarks.adult import DATA, adult, errors, triples

from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
)
from discreet.measure.sealing import MemoryCounter
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.noise.rng import SystemRng
from discreet.work.synth.methods import rap


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=25)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args(arguments)
    if not (options.data / "adult_discretized.csv").is_file():
        print("The discretised ADULT is not here (../shared/data): nothing to measure.")
        return
    codes, shape = adult(options.data)
    wanted = triples(shape, len(codes))
    rho = rho_of_target(Fraction(options.epsilon), Fraction(1, len(codes) ** 2))
    settings = {
        "workload": wanted,
        "rounds": options.rounds,
        "queries": options.queries,
        "relaxed_rows": options.rows,
        "steps": -(-options.steps // options.rounds),
    }

    def run(seed: int) -> tuple[float, float, float]:
        begin = time.perf_counter()
        counter = MemoryCounter(codes, shape)
        marginals = PrivateMarginals(
            counter, shape, MarginalBudget(rho, concentrated=True), CountSensitivity(), SystemRng()
        )
        made = rap.fit(marginals, **settings).sample(len(codes), dice=np.random.default_rng(seed))
        took = time.perf_counter() - begin
        return took, *errors(codes, made, shape)

    begin = time.perf_counter()
    import jax

    device = jax.devices()[0]
    print(f"{device.device_kind} ({device.platform}), {sum(map(shape.cells, wanted)):,} queries")
    print(f"start of the library: {time.perf_counter() - begin:.2f} s")
    print(f"first run, with compilation: {run(0)[0]:.2f} s")
    found = np.array([run(seed) for seed in range(options.seeds)])
    print(f"{'seconds':>9}{'fastest':>9}{'max':>9}{'worst':>9}{'TVD':>9}   mean of {options.seeds}")
    mean, most = found.mean(axis=0), found.max(axis=0)
    fastest = found[:, 0].min()
    print(f"{mean[0]:>9.2f}{fastest:>9.2f}{mean[1]:>9.4f}{most[1]:>9.4f}{mean[2]:>9.4f}")


if __name__ == "__main__":
    main()
