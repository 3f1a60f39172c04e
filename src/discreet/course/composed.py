"""What several pure releases cost together, by the product's own accountant."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from discreet.account.pure import PureAccountant
from discreet.core.event import Composed, Pure


def total_epsilon(amounts: Iterable[Fraction]) -> Fraction:
    """Return the epsilon of releases one after the other, about the same people.

    >>> total_epsilon([Fraction(1, 2), Fraction(1, 4)])
    Fraction(3, 4)
    """
    return PureAccountant().cost(Composed(tuple(Pure(amount) for amount in amounts))).epsilon
