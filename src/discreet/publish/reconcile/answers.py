"""reconcile(): answers in hand that contradict each other, made consistent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.numbers import Number, to_fraction
from discreet.core.system.extras import needs
from discreet.errors import InternalError, InvalidInput
from discreet.publish.reconcile.equations import Equation, equation_of, independent

FEW = 500
"""Up to this many names, plain least squares are solved without scipy."""


def reconcile(
    values: Mapping[str, Number],
    variances: Mapping[str, Number],
    equations: Iterable[str],
    non_negative: bool = False,
    integer: bool = False,
) -> dict[str, float]:
    """Return the values nearest to `values` for which all `equations` hold.

    Each answer weighs by one over its noise variance; a variance of 0 means exact. Nothing private is
    read, so this is free. `integer` finds whole numbers close to that point.

    >>> found = reconcile({"total": 2005, "male": 1001, "female": 995},
    ...     {"total": 8, "male": 50, "female": 32}, ["total = male + female"])
    >>> {name: round(value, 1) for name, value in found.items()}
    {'total': 2004.2, 'male': 1006.0, 'female': 998.2}
    """
    problem = _checked(values, variances, equations)
    _check_exact(problem, lowest=0 if non_negative else None, integer=integer)
    needed = independent(problem.equations, problem.exact)
    names = [name for name in problem.values if name not in problem.exact]
    found: dict[str, float] = {name: float(value) for name, value in problem.exact.items()}
    if names:
        found |= _solved(problem, needed, names, signed=not non_negative, whole=integer)
    if integer:
        whole = {name: round(found[name]) for name in problem.values}
        _require(problem.equations, whole)
        return dict(whole)
    return {name: found[name] for name in problem.values}


@dataclass(frozen=True, slots=True)
class ReconcileProblem:
    """Checked input; `exact` are the values without noise."""

    values: Mapping[str, Fraction]
    variances: Mapping[str, Fraction]
    equations: tuple[Equation, ...]
    exact: Mapping[str, Fraction]


LARGEST = 10**150
"""Of values and variances: products of two of them are still numbers for the solver."""


def _checked(
    values: Mapping[str, Number], variances: Mapping[str, Number], equations: Iterable[str]
) -> ReconcileProblem:
    if not isinstance(values, Mapping) or not isinstance(variances, Mapping):
        raise InvalidInput("Values and variances must say a number for each name.")
    if isinstance(equations, str) or not isinstance(equations, Iterable):
        raise InvalidInput("Equations must be a list of texts such as 'total = male + female'.")
    known = {name: _number(value, f"'{name}'") for name, value in values.items()}
    for name in variances:
        if name not in known:
            raise InvalidInput(f"There is a variance but no value for '{name}'.")
    spread = {}
    for name in known:
        if name not in variances:
            raise InvalidInput(
                f"There is no variance for '{name}'.", hint="Write 0 for a value without noise."
            )
        spread[name] = _number(variances[name], f"the variance of '{name}'")
        if spread[name] < 0:
            raise InvalidInput(f"The variance of '{name}' is below 0.")
    written = tuple(equation_of(text) for text in equations)
    _check_names(written, known)
    exact = {name: known[name] for name in known if not spread[name]}
    return ReconcileProblem(known, spread, written, exact)


def _number(value: Number, name: str) -> Fraction:
    found = to_fraction(value, name=name)
    if abs(found) > LARGEST:
        raise InvalidInput(f"{name} is out of any sensible range.")
    return found


def _check_names(equations: Sequence[Equation], known: Mapping[str, Fraction]) -> None:
    for equation in equations:
        for name in equation.weights:
            if name not in known:
                raise InvalidInput(
                    f"The equation '{equation.text[:80]}' names '{name}', which has no value.",
                    hint=f"The names are {', '.join(list(known)[:10])}.",
                )


def _check_exact(problem: ReconcileProblem, *, lowest: int | None, integer: bool) -> None:
    for name, value in problem.exact.items():
        if lowest is not None and value < lowest:
            raise InvalidInput(f"'{name}' is exact and below 0, so it cannot be made non-negative.")
        if integer and value.denominator != 1:
            raise InvalidInput(f"'{name}' is exact and not whole, so it cannot be an integer.")


def _solved(
    problem: ReconcileProblem,
    needed: list[Equation],
    names: list[str],
    *,
    signed: bool,
    whole: bool,
) -> dict[str, float]:
    near = np.array([float(problem.values[name]) for name in names])
    if not needed:
        point = near if signed else np.maximum(near, 0)
        return dict(zip(names, (np.round(point) if whole else point).tolist(), strict=True))
    variances = np.array([float(problem.variances[name]) for name in names])
    variances = variances / variances.max()  # only their ratios matter
    if signed and not whole and len(names) <= FEW:
        point = _nearest(near, variances, *_matrix(needed, names))
    else:
        point = _sparsely(near, variances, needed, names, signed=signed, whole=whole)
    return dict(zip(names, point.tolist(), strict=True))


def _nearest(near: Floats, variances: Floats, matrix: Floats, b: Floats) -> Floats:
    """Return the closed form x = v - S A' (A S A')^-1 (A v - b), for few names."""
    found = near
    for _ in range(3):  # the later ones take away the rounding of the first
        wrong = np.linalg.solve((matrix * variances) @ matrix.T, matrix @ found - b)
        found = found - variances * (matrix.T @ wrong)
    return found


def _sparsely(
    near: Floats,
    variances: Floats,
    needed: list[Equation],
    names: list[str],
    *,
    signed: bool,
    whole: bool,
) -> Floats:
    """Return the point for many names, or one that is not negative or whole: scipy's work."""
    with needs("scipy", extra="lab"):
        from discreet.publish.reconcile.constrained_least_squares import (
            System,
            least_squares,
            non_negative,
            sparse_of,
            whole_numbers,
        )
    system = System(near, variances, sparse_of(*_places(needed, names)), _constants(needed))
    point = least_squares(system) if signed else non_negative(system)
    return whole_numbers(system, point, lowest=-math.inf if signed else 0.0) if whole else point


def _matrix(equations: Sequence[Equation], names: Sequence[str]) -> tuple[Floats, Floats]:
    (rows, columns, weights), shape = _places(equations, names)
    matrix = np.zeros(shape)
    matrix[rows, columns] = weights
    return matrix, _constants(equations)


def _places(
    equations: Sequence[Equation], names: Sequence[str]
) -> tuple[tuple[list[int], list[int], list[float]], tuple[int, int]]:
    place = {name: i for i, name in enumerate(names)}
    rows, columns, weights = [], [], []
    for row, equation in enumerate(equations):
        for name, weight in equation.weights.items():
            rows.append(row)
            columns.append(place[name])
            weights.append(float(weight * _scale(equation)))
    return (rows, columns, weights), (len(equations), len(names))


def _constants(equations: Sequence[Equation]) -> Floats:
    return np.array([float(each.constant * _scale(each)) for each in equations])


def _scale(equation: Equation) -> int:
    # Whole weights: what is solved in whole numbers must not be rounded before.
    parts = [weight.denominator for weight in equation.weights.values()]
    return math.lcm(*parts, equation.constant.denominator)


def _require(equations: Iterable[Equation], found: Mapping[str, int]) -> None:
    for equation in equations:
        total = sum(
            (weight * found[name] for name, weight in equation.weights.items()), Fraction(0)
        )
        if total != equation.constant:
            raise InternalError("whole numbers that do not satisfy an equation were found")
