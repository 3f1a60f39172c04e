"""Curves in straight pieces: near the function, monotone, and within what is declared of them."""

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.ask.plan.evaluate import MOST, Curve, curve
from discreet.errors import QueryRefused

CENTS = Fraction(1, 100)
CASES = [
    ("ln", None, Fraction(1), Fraction(500_001), CENTS, math.log),
    ("ln", None, Fraction(-5), Fraction(10**9), CENTS, math.log),
    ("log10", None, Fraction(0), Fraction(500_000), CENTS, math.log10),
    ("log2", None, Fraction(1), Fraction(10**12), Fraction(1), math.log2),
    ("sqrt", None, Fraction(0), Fraction(500_000), CENTS, math.sqrt),
    ("exp", None, Fraction(-5), Fraction(5), Fraction(1, 10_000), math.exp),
    ("power", Fraction(1, 10), Fraction(0), Fraction(10**10), CENTS, lambda x: x**0.1),
    ("power", Fraction(3, 2), Fraction(0), Fraction(10**6), CENTS, lambda x: x**1.5),
    ("power", Fraction(-1), Fraction(1), Fraction(10**6), CENTS, lambda x: 1 / x),
]


def value(drawn: Curve, at: int) -> int:
    """Return what the SQL gives for a whole step."""
    piece = max((p for p in drawn.pieces if p.first <= at), key=lambda p: p.first)
    along = (at - piece.first) * abs(piece.rise) // piece.run
    return piece.value + (along if piece.rise > 0 else -along)


def farthest(drawn: Curve, function, last: int, step: Fraction) -> float:
    """Return the greatest distance to the function: at ends of pieces, inside them, and anywhere."""
    dice = random.Random(4)
    tried = {p.first + k for p in drawn.pieces for k in (0, 1, p.run // 3, p.run // 2, p.run - 1)}
    tried |= {dice.randint(drawn.pieces[0].first, last) for _ in range(500)}
    return max(
        abs(float(value(drawn, at) * drawn.step) - function(at * float(step)))
        for at in tried
        if at <= last
    )


@pytest.mark.parametrize(("name", "power", "low", "high", "step", "function"), CASES)
def test_a_curve_is_as_near_as_it_says(name, power, low, high, step, function):
    drawn = curve(name, power, low=low, high=high, step=step)
    last = int(high / step)
    assert len(drawn.pieces) <= MOST + 1
    assert farthest(drawn, function, last, step) <= drawn.error
    assert drawn.error < 1e-4 * float((drawn.upper - drawn.lower) * drawn.step)
    ends = [value(drawn, at) for at in (*(p.first for p in drawn.pieces), last)]
    assert ends == sorted(ends, reverse=power is not None and power < 0)
    assert sorted({ends[0], ends[-1]}) == [drawn.lower, drawn.upper]
    # The test would see a single point that is wrong.
    middle = len(drawn.pieces) // 2
    far = 2 * math.ceil(drawn.error / drawn.step) + 2
    odd = replace(drawn.pieces[middle], value=drawn.pieces[middle].value + far)
    broken = replace(drawn, pieces=(*drawn.pieces[:middle], odd, *drawn.pieces[middle + 1 :]))
    assert farthest(broken, function, last, step) > drawn.error


def test_what_has_no_value_and_what_is_too_large():
    assert curve("ln", None, low=Fraction(-5), high=Fraction(0), step=CENTS) is None
    assert curve("sqrt", None, low=Fraction(0), high=Fraction(0), step=CENTS).upper == 0
    for name, high in (("exp", 2000), ("sqrt", 10**17)):
        with pytest.raises(QueryRefused, match="too large"):
            curve(name, None, low=Fraction(0), high=Fraction(high), step=CENTS)
