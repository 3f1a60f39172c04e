"""Surveys: errors beside theory, speed beside pure-ldp and multi-freq-ldpy, and one hundred million reports.

python -m benchmarks.survey [--respondents N] [--repeats R] [--only NAME ...] [--peers] [--scale N ...]

Speeds are reports per second of processor time, ours and the peers' measured in the same run; peers have
environments of their own under .venv-peers/. Errors are n times the mean squared error of all shares, over
repeats until its standard error is below one per cent, beside what the probabilities say. Mechanisms that
estimate one number (Warner's coin, means) do so for 1,000 groups of respondents.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.figures import figure

from discreet.data.engines.base import EngineLimits
from discreet.data.engines.connect import connect
from discreet.survey.columns import ColumnReports
from discreet.survey.plan import SurveyPlan
from discreet.survey.randomizers.base import STEPS, NumberRange
from discreet.survey.randomizers.bits import KeystreamRng
from discreet.survey.randomizers.count_mean import CountMeanSketch
from discreet.survey.randomizers.hadamard import HadamardSketch
from discreet.survey.randomizers.kary import KaryResponse
from discreet.survey.randomizers.local_hash import LocalHash
from discreet.survey.randomizers.numbers import DuchiResponse, HybridResponse, PiecewiseResponse
from discreet.survey.randomizers.prefix_tree import PrefixTree
from discreet.survey.randomizers.projective import ProjectiveResponse
from discreet.survey.randomizers.rappor import Rappor, RapporSketch
from discreet.survey.randomizers.unary import UnaryEncoding
from discreet.survey.specification import survey_of

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv-peers"
PACKAGES = {
    "pure-ldp": (
        "pure-ldp==1.2.0",
        "scikit-learn",
        "statsmodels",
        "bitarray",
        "numpy<2",
        "xxhash<4",
    ),
    "multi-freq-ldpy": ("multi-freq-ldpy==0.2.5", "xxhash<4"),
}
DOMAIN = 1000
EPSILONS = (1, 2, 4)
GOAL, HASH_GOAL = 20, 500
LARGE_VOCABULARY = 100_000
GROUPS = 1000
SPAN = NumberRange(0.0, 1.0)


def randomizers(epsilon):
    value = Fraction(epsilon)
    return (
        KaryResponse.of(DOMAIN, value),
        UnaryEncoding.of(DOMAIN, value),
        LocalHash.of(DOMAIN, value),
        ProjectiveResponse.of(DOMAIN, value),
        Rappor.of(DOMAIN, value),
        CountMeanSketch.of(value),
        HadamardSketch.of(value),
        PrefixTree.of(value),
        RapporSketch.of(value),
    )


def single_numbers(epsilon):
    """Return the mechanisms that estimate one number, not one for each of many answers."""
    value = Fraction(epsilon)
    return (
        KaryResponse.of(2, value, name="warner"),
        DuchiResponse.of(SPAN, value),
        PiecewiseResponse.of(SPAN, value),
        HybridResponse.of(SPAN, value),
    )


def answers(respondents, domain, randomizer):
    """Return codes (a long tail) and what the randomizer takes for them."""
    codes = np.minimum(np.random.default_rng(0).geometric(20 / domain, respondents) - 1, domain - 1)
    values = [f"word {code}" for code in codes] if asks_words(randomizer) else codes
    return codes, values


def asks_words(randomizer):
    return "sketch" in randomizer.name or randomizer.name == "prefix-tree"


def measured(randomizer, respondents, repeats, domain=DOMAIN):
    """Return speeds, and n times the mean squared error with its standard error, beside theory."""
    codes, values = answers(respondents, domain, randomizer)
    truth = np.bincount(codes, minlength=domain) / respondents
    asked = [f"word {code}" for code in range(domain)] if asks_words(randomizer) else range(domain)
    own, other = float(randomizer.own), float(randomizer.other)
    best, errors = [np.inf, np.inf], []
    randomizer.tally(randomizer.encode_many(values[: respondents // 2], KeystreamRng()))  # warm
    for _ in range(repeats):
        start = time.process_time()
        reports = randomizer.encode_many(values, KeystreamRng())
        encoded = time.process_time()
        tally = randomizer.tally(reports)
        best = [min(best[0], encoded - start), min(best[1], time.process_time() - encoded)]
        told = randomizer.deepest(tally).sum() if randomizer.name == "prefix-tree" else respondents
        shares = (randomizer.supporters(tally, asked) / told - other) / (own - other)
        errors.append(told * np.mean((shares - truth) ** 2))
    noise = truth * own * (1 - own) + (1 - truth) * other * (1 - other)
    # Collisions under the fixed hashes add what the squares of the other shares say.
    fixed = told * randomizer.hash_variance * float((truth**2).sum())
    theory = float(np.mean(noise) / (own - other) ** 2 + fixed)
    return summary(errors, theory, best, reports)


def summary(errors, theory, best, reports):
    return {
        "encode": len(reports) / best[0],
        "aggregate": len(reports) / best[1],
        "bytes": reports.nbytes / len(reports),
        "n_mse": float(np.mean(errors)),
        "standard_error": float(np.std(errors) / np.sqrt(max(1, len(errors) - 1))),
        "theory": theory,
    }


def measured_in_groups(randomizer, respondents, repeats):
    """Return the same where one number is estimated: for each of 1,000 groups of the respondents."""
    codes = np.random.default_rng(0).integers(0, 2, respondents)
    places = np.random.default_rng(0).integers(0, STEPS + 1, respondents)
    if randomizer.name == "warner":
        own, other = float(randomizer.own), float(randomizer.other)
        values, truth = codes, codes.astype(np.float64)
        unbiased = np.array([-other, 1 - other]) / (own - other)
        theory = own * (1 - own) / (own - other) ** 2
    else:
        values = truth = places / STEPS
        unbiased, theory = randomizer.unbiased(), float(randomizer.variances()[places].mean())
    best, errors = [np.inf, np.inf], []
    for _ in range(repeats):
        start = time.process_time()
        reports = randomizer.encode_many(values, KeystreamRng())
        encoded = time.process_time()
        randomizer.tally(reports)
        best = [min(best[0], encoded - start), min(best[1], time.process_time() - encoded)]
        apart = (unbiased[reports] - truth).reshape(GROUPS, -1).mean(axis=1)
        errors.append(respondents / GROUPS * np.mean(apart**2))
    return summary(errors, theory, best, reports)


def peer(name, epsilon):
    """Return what a peer does in its own environment, or None where it cannot be installed."""
    place = ENVIRONMENTS / name
    if not (place / "bin" / "python").exists():
        uv = shutil.which("uv") or str(ROOT / ".venv" / "tools" / "bin" / "uv")
        subprocess.run([uv, "venv", "-q", str(place)], check=True)
        python = str(place / "bin" / "python")
        subprocess.run(
            [uv, "pip", "install", "-q", "--python", python, *PACKAGES[name]], check=True
        )
    code = str(ROOT / "benchmarks" / "survey_peer_code.py")
    command = [str(place / "bin" / "python"), code, name, str(epsilon), str(DOMAIN)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def show_errors(respondents, repeats, only):
    print(f"n = {respondents:,}, domain {DOMAIN:,}; n x mean squared error")
    print(f"{'mechanism':<20}{'eps':>4}{'measured':>10}{'s.e.':>7}{'theory':>9}{'ratio':>7}{'encode/s':>12}{'agg/s':>13}{'bytes':>7}")  # fmt: skip
    speeds = {}
    for epsilon in EPSILONS:
        jobs = [(each, measured) for each in randomizers(epsilon)]
        jobs += [(each, measured_in_groups) for each in single_numbers(epsilon)]
        for randomizer, measure in jobs:
            if only and randomizer.name not in only:
                continue
            found = measure(randomizer, respondents, repeats)
            speeds[epsilon, randomizer.name] = found
            if epsilon == 1:
                figure(
                    f"{randomizer.name}: n x mean squared error",
                    found["n_mse"],
                    "squares",
                    beside="theory",
                    theirs=found["theory"],
                )
                figure(f"{randomizer.name}: reports randomised", found["encode"], "a second")
                figure(f"{randomizer.name}: reports counted", found["aggregate"], "a second")
            print(f"{randomizer.name:<20}{epsilon:>4}{found['n_mse']:>10.4f}{found['standard_error'] / found['n_mse']:>7.1%}{found['theory']:>9.4f}{found['n_mse'] / found['theory']:>7.3f}{found['encode']:>12,.0f}{found['aggregate']:>13,.0f}{found['bytes']:>7.0f}", flush=True)  # fmt: skip
    return speeds


def show_vocabulary(respondents):
    for epsilon in EPSILONS:
        found = measured(CountMeanSketch.of(Fraction(epsilon)), respondents, 1, LARGE_VOCABULARY)
        print(f"count mean sketch, {LARGE_VOCABULARY:,} words, epsilon {epsilon}: {found['n_mse']:.4f}, theory {found['theory']:.4f}", flush=True)  # fmt: skip


def show_peers(speeds, epsilon=1):
    for name in PACKAGES:
        theirs = peer(name, epsilon)
        if theirs is None:
            print(f"{name}: could not be run here")
            continue
        for mechanism, (encode, aggregate) in theirs.items():
            if (epsilon, mechanism) not in speeds:
                continue
            ours = speeds[epsilon, mechanism]
            print(f"{name} {mechanism}: encode {encode:,.0f}/s, ours {ours['encode'] / encode:,.0f}x; aggregate {aggregate:,.0f}/s, ours {ours['aggregate'] / aggregate:,.0f}x", flush=True)  # fmt: skip


def show_scale(sizes, mechanism):
    """Count columns of Parquet by DuckDB through our engine: numbers of two bytes, or strings of bits."""
    options = [str(code) for code in range(DOMAIN)]
    question = {"kind": "choice", "options": options, "mechanism": mechanism}
    stated = {"title": "Large", "epsilon": 2, "questions": {"street": question}}
    plan = SurveyPlan.of(survey_of(stated, name="large"))
    randomizer = plan.choices[0].randomizer
    many = min([1_000_000, *sizes])
    some = randomizer.encode_many(np.arange(many) % DOMAIN, KeystreamRng())
    each = some.nbytes // many
    batch = pa.table({"q0": some if some.ndim == 1 else strings(some)})
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "reports.parquet"
            with pq.ParquetWriter(path, batch.schema) as writer:
                for _ in range(size // len(some)):
                    writer.write_table(batch)
            engine = connect("duckdb:", {"reports": path.name}, base=Path(folder), limits=EngineLimits(seconds=600))  # fmt: skip
            try:
                start = time.perf_counter()
                (found,) = ColumnReports(engine, "reports", plan).tallies()
                shares = randomizer.supporters(found.tally, range(DOMAIN))
                seconds = time.perf_counter() - start
            finally:
                engine.close()
            figure(f"{size:,} reports of {mechanism} counted by DuckDB", size / seconds, "a second")
            assert found.answers == size
            assert len(shares) == DOMAIN
            print(f"{size:,} reports of {mechanism} ({path.name}, {each} bytes each): {seconds:.2f} s, {size / seconds:,.0f}/s", flush=True)  # fmt: skip


def strings(rows):
    """Return rows of bytes as a column."""
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(rows.tobytes())])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--respondents", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[], help="mechanisms; all if not given")
    parser.add_argument("--words", type=int, default=0, help="respondents of the large vocabulary")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--scale", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--strings", type=int, nargs="*", default=[], help="the same for unary")
    options = parser.parse_args()
    speeds = show_errors(options.respondents, options.repeats, options.only)
    if options.words:
        show_vocabulary(options.words)
    if options.peers:
        show_peers(speeds)
    show_scale(options.scale, "projective")
    show_scale(options.strings, "unary")


if __name__ == "__main__":
    main()
