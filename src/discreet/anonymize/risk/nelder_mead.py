"""The least value of a function of two numbers, by the simplex of Nelder and Mead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]

STEPS = 400
CLOSE = 1e-9
FIRST_STEP = 0.5


def minimize(function: Callable[[Point], float], start: Point) -> Point:
    """Return where `function` is least near `start`; values that are no numbers count as high."""

    def height(point: Point) -> float:
        try:
            found = function(point)
        except (ValueError, OverflowError, ZeroDivisionError):
            return math.inf
        return found if math.isfinite(found) else math.inf

    corners = [start, (start[0] + FIRST_STEP, start[1]), (start[0], start[1] + FIRST_STEP)]
    simplex = sorted((height(corner), corner) for corner in corners)
    for _ in range(STEPS):
        if _size(simplex) < CLOSE:
            break
        simplex = sorted(_moved(simplex, height))
    return simplex[0][1]


def _size(simplex: list[tuple[float, Point]]) -> float:
    best = simplex[0][1]
    return max(abs(p[0] - best[0]) + abs(p[1] - best[1]) for _, p in simplex)


def _moved(
    simplex: list[tuple[float, Point]], height: Callable[[Point], float]
) -> list[tuple[float, Point]]:
    best, middle, worst = simplex
    centre = ((best[1][0] + middle[1][0]) / 2, (best[1][1] + middle[1][1]) / 2)

    def at(factor: float) -> tuple[float, Point]:
        point = (
            centre[0] + factor * (worst[1][0] - centre[0]),
            centre[1] + factor * (worst[1][1] - centre[1]),
        )
        return height(point), point

    mirrored = at(-1.0)
    if mirrored[0] < best[0]:
        return [best, middle, min(mirrored, at(-2.0))]
    if mirrored[0] < middle[0]:
        return [best, middle, mirrored]
    inner = at(0.5) if mirrored[0] >= worst[0] else at(-0.5)
    if inner[0] < min(worst[0], mirrored[0]):
        return [best, middle, inner]
    return [best, *(_towards(best[1], point, height) for _, point in (middle, worst))]


def _towards(best: Point, point: Point, height: Callable[[Point], float]) -> tuple[float, Point]:
    half = ((best[0] + point[0]) / 2, (best[1] + point[1]) / 2)
    return height(half), half
