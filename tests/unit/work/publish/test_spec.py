"""Specs that nobody means: each is refused with one sentence, at once, and never fills the memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import InvalidInput
from discreet.work.publish.specification import parse_spec

SPEC = """
[release]
name = "r"
dataset = "d"
epsilon = 1.0
[tables.t]
sql = "SELECT COUNT(*) AS n FROM people"
"""
HUGE = "1e400000000"
FACT = '\n[[exact]]\nfact = "SELECT COUNT(*) AS n FROM people"\nreason = "x"\n'

BAD = {
    "epsilon": SPEC.replace("1.0", HUGE),
    "tiny epsilon": SPEC.replace("1.0", "1e-400000000"),
    "beyond decimals": SPEC.replace("1.0", "1e99999999999999999999999"),
    "delta": SPEC.replace("1.0", "1.0\ndelta = 1e-400000000"),
    "share": SPEC + "share = 1e-400000000\n",
    "edge": SPEC + f'[cuts.x]\ncolumn = "age"\nedges = [1, {HUGE}]\n',
    "digits": SPEC.replace("1.0", "1." + "3" * 100_000),
    "whole digits": SPEC.replace("1.0", "9" * 5000),
    "hexadecimal": SPEC.replace("1.0", "0x" + "f" * 100_000),
    "infinite": SPEC.replace("1.0", "inf"),
    "accuracy": SPEC + f'accuracy = "95% of cells over {"9" * 5000} within 5%"\n',
    "no accuracy": SPEC + 'accuracy = ".% of cells over 5 within 5%"\n',
    "no cuts": "cuts = 5\n" + SPEC,
    "no fact": "exact = [5]\n" + SPEC,
    "deep": "x = " + "[" * 5000 + "]" * 5000 + "\n" + SPEC,
    "date": SPEC.replace("1.0", "2026-01-01"),
    "approver": SPEC + FACT + 'file = "f.csv"\napprover = [1]\n',
}


def test_the_spec_itself_is_fine(tmp_path: Path):
    assert parse_spec(SPEC + FACT + 'file = "f.csv"\n', base=tmp_path).files == {"f.csv": ""}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_bad_spec_is_refused_with_one_sentence(text: str, tmp_path: Path):
    with pytest.raises(InvalidInput) as found:
        parse_spec(text, base=tmp_path)
    assert "\n" not in found.value.message
    assert len(found.value.message) < 300
