"""Events are values: frozen, comparable, and nothing more."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from discreet.base.event import NOTHING, Composed, Failing, Laplace, Repeated


def test_events_are_equal_by_value_and_frozen():
    one = Laplace(Fraction(2), Fraction(1))
    assert one == Laplace(Fraction(2), Fraction(1))
    assert len({one, Laplace(Fraction(2), Fraction(1)), Repeated(one, 2)}) == 2
    with pytest.raises(FrozenInstanceError):
        one.scale = Fraction(3)


def test_nothing_is_a_composition_of_nothing():
    assert Composed(()) == NOTHING
    assert Failing(NOTHING, Fraction(1, 2)) != NOTHING
