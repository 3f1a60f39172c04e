"""The promise that pages show while somebody types is the sentence of account/explain.py, letter for letter."""

import itertools
import random
import sys
from fractions import Fraction
from pathlib import Path

import discreet.server

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import run_node

from discreet.account.explain import Promise, WorldPair, one_sentence, percent

WORDS = Path(discreet.server.__file__).parent / "static" / "words.js"
DICE = random.Random(37)
EPSILONS = [0.0001, 0.01, 0.1, 0.25, 0.5, 1, 1.0986, 2, 3, 7, 20, 500, 1000]
EPSILONS += [float(f"{DICE.uniform(0, 12):.3g}") or 1.0 for _ in range(60)]
DELTAS = [0, 1e-12, 1e-9, 1.5e-9, 9.99e-7, 1e-5, 0.03]
NEIGHBOURS = ["", "add-remove", "replace-one"]


def said(*, words=WORDS):
    """Return what is asked, and what the page says to each."""
    asked = [list(each) for each in itertools.product(EPSILONS, NEIGHBOURS, DELTAS)]
    return list(
        zip(asked, run_node("page_words.mjs", {"words": str(words), "asked": asked}), strict=True)
    )


def differs(found):
    return [
        (asked, shown)
        for asked, (shown, even) in found
        for epsilon, neighbours, delta in [asked]
        if shown != one_sentence(str(epsilon), delta=str(delta), neighbours=neighbours or None)
        or even
        != percent(Promise.of(WorldPair.TAKING_PART, Fraction(str(epsilon)), Fraction(0)).even)
    ]


def test_pages_say_what_python_says():
    found = said()
    assert len(found) > 1500
    assert differs(found) == []


def test_a_page_that_says_the_old_sentence_is_noticed(tmp_path):
    """The broken twins: one step where there are two, a delta that is not enlarged, a share rounded down."""
    text = WORDS.read_text(encoding="utf-8")
    for old, new in (
        ('if you take part", 2]', 'if you take part", 1]'),
        ("delta * (1 + Math.exp(epsilon))", "delta"),
        ("Math.ceil(hundred", "Math.floor(hundred"),
    ):
        assert text.count(old) == 1, old
        twin = tmp_path / "words.mjs"
        twin.write_text(text.replace(old, new), encoding="utf-8")
        assert differs(said(words=twin)), old
