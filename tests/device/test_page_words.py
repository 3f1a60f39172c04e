"""The promise that pages show while somebody types is the sentence of privacy/account/explain.py, letter for letter."""

import itertools
import random
import sys
from fractions import Fraction
from pathlib import Path

import discreet.server

sys.path.insert(0, str(Path(__file__).resolve().parent))

from node import run_node

from discreet.privacy.account.explain import Promise, WorldPair, one_sentence, percent

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


SIZES = [DICE.uniform(0, 10) ** DICE.randint(-3, 4) for _ in range(2000)] + [
    9.96,
    99.5,
    99.0,
    0.1,
    1,
    12,
    100,
    5e-7,
]


def too_small(*, words=WORDS):
    """Return the sizes of noise that a page says too small, or more than a tenth too large."""
    asked = {"words": str(words), "asked": [], "sizes": SIZES}
    shown, _ = run_node("page_words.mjs", asked)
    said = [float(each.replace(",", "")) for each in shown]
    return [
        (size, told)
        for size, told in zip(SIZES, said, strict=True)
        if not size * (1 - 1e-8) <= told <= size * 1.1 + 1e-6
    ]


def test_no_page_says_noise_too_small(tmp_path):
    assert too_small() == []
    twin = tmp_path / "words.mjs"
    text = WORDS.read_text(encoding="utf-8")
    assert text.count("tenths += 1;") == 1
    twin.write_text(text.replace("tenths += 1;", ";"), encoding="utf-8")
    assert too_small(words=twin)


def test_what_is_promised_while_somebody_types_has_the_delta_of_the_data_set():
    asked = [list(each) for each in itertools.product([0.25, 1, 3], NEIGHBOURS, DELTAS)]
    _, typed = run_node("page_words.mjs", {"words": str(WORDS), "asked": asked, "sizes": [1]})
    for (epsilon, neighbours, delta), said in zip(asked, typed, strict=True):
        assert said == one_sentence(str(epsilon), delta=str(delta), neighbours=neighbours or None)
