"""Results as a notebook shows them: a sentence or a table, not the inside of an object."""

import random

import pytest

import discreet


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    dice = random.Random(3)
    rows = "".join(f"{dice.choice('xyz')},{dice.randint(0, 90)}\n" for _ in range(400))
    (folder / "p.csv").write_text("a,b\n" + rows)
    config = folder / "discreet.toml"
    asked = {"epsilon": "100", "delta": "1e-6", "unit": "row", "accept": True}
    discreet.init(folder / "p.csv", out=config, **asked)
    return config


PAID = {"epsilon": "1", "delta": "1e-9"}
RESULTS = {
    "explanation": lambda c: c.explain("SELECT COUNT(*) FROM p", epsilon="1"),
    "model": lambda c: c.learn("p", target="a", **PAID),
    "regression": lambda c: c.regress("p", target="b", **PAID),
    "choice": lambda c: c.select("p", column="a", epsilon="1"),
    "copy": lambda c: c.synthesize("p", **PAID),
    "epsilon": lambda _: discreet.explain("0.5"),
    "attack": lambda _: discreet.attack("floating-point", answers=200),
    "curator": lambda c: c,
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_shown_in_few_words(place, name):
    with discreet.open(place) as curator:
        shown = repr(RESULTS[name](curator))
    assert len(shown) < 700
    for inside in ("Fraction(", "=Spent", "array(", "Encoding("):
        assert inside not in shown
