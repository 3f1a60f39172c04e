"""Which of many equations are needed, and whether any two of them contradict: exact elimination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from discreet.errors import InvalidInput
from discreet.publish.reconcile.equations import Equation


def independent(equations: Iterable[Equation], known: Mapping[str, Fraction]) -> list[Equation]:
    """Return equations that say all there is to say about names that are not `known`.

    Equations that follow from others are left out; one that contradicts them, or what is known
    exactly, is refused. All arithmetic is exact.
    """
    pivots: dict[str, tuple[dict[str, Fraction], Fraction]] = {}
    needed = []
    for equation in equations:
        open_ones = _without(equation, known)
        weights, constant = _reduced(dict(open_ones.weights), open_ones.constant, pivots)
        if weights:
            pivot = min(weights, key=lambda name: (name in pivots, len(name), name))
            scale = weights[pivot]
            pivots[pivot] = {n: w / scale for n, w in weights.items()}, constant / scale
            needed.append(open_ones)
        elif constant:
            raise _contradiction(equation, known)
    return needed


def _without(equation: Equation, known: Mapping[str, Fraction]) -> Equation:
    """Return the equation with exact values put in."""
    constant = equation.constant
    weights = {}
    for name, weight in equation.weights.items():
        if name in known:
            constant -= weight * known[name]
        else:
            weights[name] = weight
    return Equation(equation.text, weights, constant)


def _reduced(
    weights: dict[str, Fraction],
    constant: Fraction,
    pivots: Mapping[str, tuple[dict[str, Fraction], Fraction]],
) -> tuple[dict[str, Fraction], Fraction]:
    """Return what is left of an equation after taking out every pivot in it."""
    # A row of an older pivot may hold newer ones, never older: each step goes forward.
    while found := next((name for name in weights if name in pivots), None):
        factor = weights[found]
        row, value = pivots[found]
        for name, weight in row.items():
            left = weights.get(name, Fraction(0)) - factor * weight
            if left:
                weights[name] = left
            else:
                weights.pop(name, None)
        constant -= factor * value
    return weights, constant


def _contradiction(equation: Equation, known: Mapping[str, Fraction]) -> InvalidInput:
    exact = [name for name in equation.weights if name in known]
    beside = " and the values without noise" if exact else ""
    return InvalidInput(
        f"The equation '{equation.text[:80]}' contradicts the others{beside}.",
        hint="Take it away, or give one of its names a variance above 0.",
    )
