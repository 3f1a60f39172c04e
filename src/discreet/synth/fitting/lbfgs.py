"""Minimisation of a smooth convex function by L-BFGS, in numpy."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from discreet.core.arrays import Floats

Slope: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""From a point to the function's value and gradient there."""

MEMORY = 10
SHRINKS = 50


def descend(slope: Slope, start: Floats, *, steps: int, scale: Floats) -> Floats:
    """Return a point near the least value, after at most `steps` steps.

    `scale` is a guess of the inverse of the second derivatives: the first step's length.
    """
    point = start
    value, gradient = slope(point)
    moves: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        direction = _direction(gradient, moves, scale)
        fall = float(gradient @ direction)
        if fall >= 0:
            moves.clear()
            direction = -scale * gradient
            fall = float(gradient @ direction)
        length = 1.0
        for _ in range(SHRINKS):
            ahead = point + length * direction
            there, steeper = slope(ahead)
            if there <= value + 1e-4 * length * fall:
                break
            length /= 2
        else:
            return point  # no step helps any more: rounding errors are all that is left
        if there == value and length < 1:
            return point  # nor does a shortened one that gains nothing
        moved, turned = ahead - point, steeper - gradient
        bend = float(moved @ turned)
        if bend > 1e-12 * float(moved @ moved):
            moves.append((moved, turned, bend))
        point, value, gradient = ahead, there, steeper
    return point


def _direction(
    gradient: Floats, moves: deque[tuple[Floats, Floats, float]], scale: Floats
) -> Floats:
    """Return the quasi-Newton direction from the last few moves: the two-loop recursion."""
    found = -gradient
    weights = []
    for moved, turned, bend in reversed(moves):
        weight = float(moved @ found) / bend
        weights.append(weight)
        found = found - weight * turned
    if moves:
        _, turned, bend = moves[-1]
        found = found * scale * (bend / float(turned @ (scale * turned)))
    else:
        found = found * scale
    for (moved, turned, bend), weight in zip(moves, reversed(weights), strict=True):
        found = found + moved * (weight - float(turned @ found) / bend)
    return found
