"""Every golden question is planned, or refused, exactly as it is written beside it."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kit import HERE, Pair, planned, read, refused, write

FILES = sorted(HERE.glob("*.sql"))
OUTCOMES = {True: refused, False: planned}


def _is_refusal(path: Path) -> bool:
    return path.stem.startswith("refusals")


CASES = [
    pytest.param(path, i, pair, id=f"{path.stem}-{i}")
    for path in FILES
    for i, pair in enumerate(read(path)[1])
]


@pytest.fixture(scope="session", autouse=True)
def _updated(request):
    """Rewrite the files when asked to; the difference is then for a person to read."""
    if request.config.getoption("--update-golden"):
        for path in FILES:
            head, pairs = read(path)
            told = refused if _is_refusal(path) else planned
            write(path, head, [replace(pair, outcome=told(pair)) for pair in pairs])


@pytest.mark.parametrize(("path", "index", "pair"), CASES)
def test_outcome_is_the_golden_one(path: Path, index: int, pair: Pair):
    told = OUTCOMES[_is_refusal(path)](pair)
    assert told == read(path)[1][index].outcome, "if this is meant, run pytest --update-golden"


def test_there_are_enough_pairs():
    counts = dict.fromkeys((True, False), 0)
    for path in FILES:
        counts[_is_refusal(path)] += len(read(path)[1])
    assert counts[False] >= 60
    assert counts[True] >= 60


def test_every_sentence_of_refusal_is_golden():
    from discreet.ask.sql.refuse import SENTENCES

    told = "\n".join(p.outcome for f in FILES if _is_refusal(f) for p in read(f)[1])
    missing = {name for name, (first, _) in SENTENCES.items() if _part(first) not in told}
    # What is said of the step after the noise, of a whole statement, or by the kernel, no plan of one
    # question says.
    assert missing == {"afterwards", "other unit", "long text", "too wide"}


def _part(sentence: str) -> str:
    """Return the longest piece of a sentence that is always said as it is."""
    pieces = [piece.split("}")[-1] for piece in sentence.split("{")]
    return max(pieces, key=len)


def test_a_changed_plan_is_noticed():
    pair = read(HERE / "counts.sql")[1][0]
    assert planned(pair) == pair.outcome
    assert planned(replace(pair, options={"epsilon": "0.5"})) != pair.outcome
    assert planned(replace(pair, sql=f"{pair.sql} WHERE age > 7")) != pair.outcome


def test_pairs_are_read_as_they_are_written(tmp_path):
    pairs = [
        Pair({"epsilon": "0.5"}, "SELECT 1\nFROM t", "one\n\nthree"),
        Pair({}, "SELECT 2", "x"),
    ]
    write(tmp_path / "some.sql", "-- About these.", pairs)
    assert read(tmp_path / "some.sql") == ("-- About these.", pairs)
