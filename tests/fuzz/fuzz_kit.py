"""What the fuzzers share: the command line, the generated corpus, and what counts as a finding.

`python tests/fuzz/fuzz_sql.py --runs 100000` and `python tests/fuzz/fuzz_pgwire.py --runs 100000`.
The first finding ends the run with its input printed; `--all` prints each different one and goes on.
Inputs are grown by atheris, guided by coverage; where it has no wheel, or with `--hypothesis`, by
Hypothesis from the same corpus with the same mutations.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

try:
    import atheris
except ModuleNotFoundError:
    atheris = None

LONGEST = 4096
"""Bytes of one input: longer ones only take longer."""


def instrumented(*packages: str) -> AbstractContextManager[None]:
    """Import what is watched for coverage inside this block."""
    if atheris is None or "--hypothesis" in sys.argv:
        return nullcontext()
    return atheris.instrument_imports(include=list(packages))


def changed(data: bytes, size: int, rng: random.Random) -> bytes:
    """Return the bytes with some of them changed."""
    if atheris is not None and "--hypothesis" not in sys.argv:
        return atheris.Mutate(data, size)
    place, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    middle = rng.choice([b"", rng.randbytes(end - place), data[place:end] * 2, rng.randbytes(1)])
    return (data[:place] + middle + data[end:])[:size]


def options() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000, help="inputs to try")
    parser.add_argument("--seed", type=int, default=1, help="the same seed tries the same inputs")
    parser.add_argument("--all", action="store_true", help="go on after a finding")
    parser.add_argument("--twin", action="store_true", help="plant a bug that must be found")
    parser.add_argument("--hypothesis", action="store_true", help="do without atheris")
    parser.add_argument("--seconds", type=int, default=0, help="stop after so long; 0 is never")
    return parser.parse_args()


class Findings:
    """Tells each kind of failure once, by the place that it comes from."""

    def __init__(self, *, go_on: bool) -> None:
        self._go_on = go_on
        self._seen: set[tuple[str, ...]] = set()

    def tell(self, error: BaseException, given: object) -> None:
        """Print a failure that is new; end the run unless asked to go on."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "discreet" in f.filename]
        kind = (type(error).__name__, *(f"{Path(f.filename).name}:{f.lineno}" for f in frames[-2:]))
        if kind not in self._seen:
            self._seen.add(kind)
            said = "".join(traceback.format_exception(error)[-6:])
            print(f"FINDING {kind}\nINPUT {given!r}\n{said}", flush=True)
        if not self._go_on:
            raise error


def fuzz(
    wanted: argparse.Namespace,
    one: Callable[[bytes], None],
    mutate: Callable[[bytes, random.Random], bytes],
    corpus: Iterable[bytes],
) -> None:
    """Try inputs grown from `corpus`: half by changed bytes, half by `mutate`. May never return."""

    def mutated(data: bytes, size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.5:
            return changed(data, size, rng)
        return mutate(data, rng)[:size]

    if atheris is None or wanted.hypothesis:
        drawn(wanted, one, mutated, list(corpus))
        return

    with tempfile.TemporaryDirectory() as folder:
        seeds = Path(folder) / "corpus"
        seeds.mkdir()
        for place, data in enumerate(corpus):
            (seeds / f"{place:04}").write_bytes(data)
        arguments = [
            sys.argv[0],
            f"-runs={wanted.runs}",
            f"-seed={wanted.seed}",
            f"-max_len={LONGEST}",
            f"-max_total_time={wanted.seconds}",
            "-timeout=60",
            "-rss_limit_mb=4096",
            "-close_fd_mask=0",
            f"-artifact_prefix={folder}/",
            str(seeds),
        ]
        atheris.Setup(arguments, one, custom_mutator=mutated)
        atheris.Fuzz()


def drawn(
    wanted: argparse.Namespace,
    one: Callable[[bytes], None],
    mutated: Callable[[bytes, int, int], bytes],
    corpus: list[bytes],
) -> None:
    """Try inputs that Hypothesis draws: one of the corpus, changed a few times."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from hypothesis import strategies as st

    changes = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=8)

    @seed(wanted.seed)
    @settings(
        max_examples=wanted.runs,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(corpus), changes)
    def tried(data: bytes, seeds: list[int]) -> None:
        for step in seeds:
            data = mutated(data, LONGEST, step)
        one(data)

    tried()
    print(f"Done {wanted.runs} runs", flush=True)
