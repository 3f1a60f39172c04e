from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.ask.plan import expr as e
from discreet.ask.plan.expr import Operator
from discreet.ask.release.post_processing import is_whole

COUNT, MEAN = e.ColumnRef("m0"), e.ColumnRef("q0")
WHOLE = {"m0": True, "q0": False}


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (COUNT, True),
        (MEAN, False),
        (e.ColumnRef("unknown"), False),
        (e.Literal(3), True),
        (e.Literal(Fraction(1, 2)), False),
        (e.Arithmetic(Operator.MULTIPLY, COUNT, e.Literal(2)), True),
        (e.Arithmetic(Operator.MULTIPLY, COUNT, e.Literal(Fraction(1, 2))), False),
        (e.Arithmetic(Operator.DIVIDE, COUNT, e.Literal(1)), False),
        (e.Negate(COUNT), True),
        (e.Call("floor", MEAN), True),
        (e.Call("round", MEAN), True),
        (e.Call("round", MEAN, (2,)), False),
        (e.Call("sqrt", COUNT), False),
        (e.Coalesce((COUNT, e.Literal(0))), True),
        (e.Coalesce((COUNT, MEAN)), False),
        (e.Case(((e.TRUE, COUNT),), e.Literal(None)), True),
        (e.Case(((e.TRUE, COUNT),), MEAN), False),
    ],
)
def test_whole_numbers_are_known_by_their_shape(expr, expected):
    assert is_whole(expr, WHOLE) is expected
