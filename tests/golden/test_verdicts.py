"""What the kernel says of final SQL is what is written beside it: every bound, every region, every refusal."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kit import Pair, read, write
from verdicts import FILE, verdict

HEAD, PAIRS = read(FILE)


@pytest.fixture(scope="session", autouse=True)
def _updated(request):
    """Rewrite the file when asked to; the difference is then for a person to read."""
    if request.config.getoption("--update-golden"):
        write(FILE, HEAD, [replace(pair, outcome=verdict(pair)) for pair in PAIRS])


@pytest.mark.parametrize("pair", PAIRS, ids=map(str, range(len(PAIRS))))
def test_the_verdict_is_the_golden_one(pair: Pair):
    assert verdict(pair) == pair.outcome, (
        f"if this is meant, run pytest --update-golden: {pair.sql}"
    )


def test_both_ends_are_there():
    refused = [pair for pair in PAIRS if pair.outcome.startswith("refused")]
    assert len(refused) > 40
    assert len(PAIRS) - len(refused) > 60
