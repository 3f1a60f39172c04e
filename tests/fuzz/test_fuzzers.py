"""Security test 23: coverage-guided fuzzing of the SQL parser and of the PostgreSQL endpoint.

Each run is a process of its own, because the fuzzer ends the process that it runs in.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sittings import FULL

HERE = Path(__file__).parent
TARGETS = ("fuzz_sql", "fuzz_pgwire")
RUNS = 400 if FULL else 80

ENGINES = [
    pytest.param(
        (),
        id="atheris",
        marks=pytest.mark.skipif(
            find_spec("atheris") is None,
            reason="atheris has no wheel for this platform; Hypothesis tries the same targets",
        ),
    ),
    pytest.param(("--hypothesis",), id="hypothesis"),
]


def fuzzed(target: str, *options: str, seconds: float):
    return subprocess.run(
        [sys.executable, HERE / f"{target}.py", *options],
        capture_output=True,
        timeout=seconds,
        check=False,
    )


def clean(
    target: str, engine: tuple[str, ...], runs: int, *, seconds: float, seed: int = 1
) -> None:
    found = fuzzed(target, *engine, f"--runs={runs}", f"--seed={seed}", seconds=seconds)
    said = (found.stdout + found.stderr).decode("utf-8", "replace")
    assert found.returncode == 0, said[-4000:]
    assert "FINDING" not in said
    done = re.search(r"^Done (\d+) runs", said, re.MULTILINE)
    # libFuzzer may run an input once more to see whether it is a smaller one of its kind.
    assert done, said[-4000:]
    assert int(done[1]) >= runs, said[-4000:]


# What is planted in the wire protocol so few inputs find once in seven runs: that one is for the full counts.
@pytest.mark.parametrize(
    "target", [pytest.param(t, marks=pytest.mark.slow) if "pgwire" in t else t for t in TARGETS]
)
def test_a_short_run_finds_nothing(target):
    """Each time with other inputs; one that is found is shown."""
    seed = random.SystemRandom().randrange(10**9)
    clean(target, ("--hypothesis",), RUNS, seconds=550, seed=seed)


@pytest.mark.slow  # half a minute of start-up for each
@pytest.mark.parametrize("engine", ENGINES[:1])
@pytest.mark.parametrize("target", TARGETS)
def test_a_short_run_by_coverage_finds_nothing(target, engine):
    clean(target, engine, 4_000, seconds=550)


@pytest.mark.slow  # it was found in every full run
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("target", TARGETS)
def test_a_planted_bug_is_found(target, engine):
    """The broken twin: one rule raises what nobody foresaw."""
    found = fuzzed(target, *engine, "--runs=400", "--twin", seconds=550)
    assert found.returncode != 0
    assert b"FINDING" in found.stdout
    assert b"INPUT" in found.stdout


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("target", "runs"), [("fuzz_sql", 1_000_000), ("fuzz_pgwire", 1_000_000)])
def test_a_million_inputs_find_nothing(target, runs):
    engine = () if find_spec("atheris") else ("--hypothesis",)
    clean(target, engine, runs, seconds=7000, seed=23)
