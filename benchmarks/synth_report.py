"""How honest the publishable report is: what it tells, beside the truth it never saw.

    python -m benchmarks.synth_report [SEEDS]

ADULT as in docs/benchmarks.md, needs ../shared/data. For each method and epsilon: the mean total
variation distance of one-, two- and three-way tables, told by the rehearsal and measured against the
real rows; and how often the limits that follow from the noise laws held.
"""

from __future__ import annotations

import json
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

from discreet.base.schema import IntegerDomain
from discreet.measure.columns import Coded, Encoding
from discreet.measure.private_marginals import (
    CountSensitivity,
    MarginalBudget,
    PrivateMarginals,
    implied,
    whole,
)
from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Codes
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.noise.rng import SystemRng
from discreet.work.synth.methods.registry import METHODS
from discreet.work.synth.report.publishable import Subject, rehearse
from discreet.work.synth.report.quality import compare

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
NAMES = ("tree", "correlated", "independent")


def adult() -> tuple[Encoding, Codes]:
    """Return the discretised table and its columns."""
    sizes = json.loads((DATA / "adult_discretized-domain.json").read_text())
    file = DATA / "adult_discretized.csv"
    with file.open() as lines:
        names = lines.readline().strip().split(",")
    codes = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int32)
    columns = tuple(Coded(name, IntegerDomain(0, sizes[name] - 1)) for name in names)
    return Encoding("adult", columns), codes


def synthesis(name: str, epsilon: Fraction, encoding: Encoding, codes: Codes) -> Subject:
    """Return one finished synthesis with all that a report needs."""
    shape, unit = encoding.shape, CountSensitivity()
    budget = MarginalBudget(rho_of_target(epsilon, Fraction(1, len(codes) ** 2)), concentrated=True)
    method = METHODS[name]

    def refit(counter: MemoryCounter):
        return method.fit(PrivateMarginals(counter, shape, budget, unit, SystemRng()))

    marginals = PrivateMarginals(MemoryCounter(codes, shape), shape, budget, unit, SystemRng())
    model = method.fit(marginals)
    drawn = model.sample(len(codes), dice=np.random.default_rng())
    measured = tuple(marginals.measured)
    return Subject("adult", name, "", encoding, model, drawn, measured, (), refit)


def held(subject: Subject, real: MemoryCounter, synthetic: MemoryCounter) -> tuple[int, int]:
    """Return how many limits of measured tables hold, and how many there are."""
    found = whole(subject.measured, subject.encoding.shape)
    kept = 0
    for each in found:
        exact, made = (c.marginals([each.columns])[0] for c in (real, synthetic))
        apart = np.abs(exact - made * (exact.sum() / made.sum())).sum() / (2 * exact.sum())
        kept += apart <= implied(each, synthetic, subject.rows, len(subject.codes)).bound
    return kept, len(found)


def main() -> None:
    """Print the table."""
    if not DATA.is_dir():
        raise SystemExit("../shared/data is missing: this needs ADULT.")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    encoding, codes = adult()
    real = MemoryCounter(codes, encoding.shape)
    print("method       epsilon  told 1/2/3-way        true 1/2/3-way        limits held  seconds")
    for name in NAMES:
        for epsilon in ("1", "1/10"):
            told, true, kept, every, spent = [], [], 0, 0, 0.0
            for _ in range(seeds):
                subject = synthesis(name, Fraction(epsilon), encoding, codes)
                synthetic = MemoryCounter(subject.codes, encoding.shape)
                lens = subject.lens()
                started = time.process_time()
                told.append(_means(rehearse(subject, lens)))
                spent += time.process_time() - started
                true.append(_means(compare(real, synthetic, lens)))
                some, all_of = held(subject, real, synthetic)
                kept, every = kept + some, every + all_of
            print(
                f"{name:12} {float(Fraction(epsilon)):<8g} {_row(told)}   {_row(true)}   "
                f"{kept:>4} of {every:<4}  {spent / seeds:.1f}"
            )


def _means(found) -> list[float]:
    return [
        float(np.mean([a.tvd for a in way])) for way in (found.ones, found.pairs, found.triples)
    ]


def _row(values) -> str:
    return " / ".join(f"{value:.4f}" for value in np.mean(values, axis=0))


if __name__ == "__main__":
    main()
