"""Group privacy: what a promise to one person means for a group of several."""

from __future__ import annotations

from fractions import Fraction

from discreet.account.convert import ONE, cost_up
from discreet.core.certified_functions import exp_lower, exp_upper
from discreet.errors import InvalidInput


def group_epsilon(epsilon: Fraction, size: int) -> Fraction:
    """Return the epsilon that a group of `size` people is promised: size times as much."""
    _check(size)
    return epsilon * size


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """Return the delta that goes with `group_epsilon`, rounded up, at most 1.

    Guarantee: delta * (1 + e^eps + ... + e^((size-1) eps)) [Dwork & Roth 2014, Theorem 2.2, hybrid
        argument]. It grows with e^(size epsilon): the promise to large groups is empty.
    """
    _check(size)
    if not epsilon:
        return min(ONE, delta * size)
    ratio = (exp_upper(size * epsilon) - 1) / (exp_lower(epsilon) - 1)
    return min(ONE, cost_up(delta * ratio)) if delta else Fraction(0)


def _check(size: int) -> None:
    if size < 0:
        raise InvalidInput("A group has at least 0 people.")
