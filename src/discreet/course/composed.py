"""What several pure releases cost together, by the product's own price list."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from discreet.account.price import price
from discreet.core.event import Composed, Pure
from discreet.core.numbers import Delta, Epsilon
from discreet.errors import InternalError


def total_epsilon(amounts: Iterable[Fraction]) -> Fraction:
    """Return the epsilon of releases one after the other, about the same people.

    >>> total_epsilon([Fraction(1, 2), Fraction(1, 4)])
    Fraction(3, 4)
    """
    event = Composed(tuple(Pure(amount) for amount in amounts))
    found = price(event, epsilon=Epsilon.of(1), delta=Delta.of(0)).cost.epsilon
    if found is None:
        raise InternalError("pure releases have no pure price")
    return found
