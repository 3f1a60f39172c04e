"""The point nearest to noisy values, in units of their noise, that satisfies linear equations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import null_space
from scipy.optimize import Bounds, LinearConstraint, milp, nnls
from scipy.sparse.linalg import splu

from discreet.base.arrays import Floats
from discreet.errors import InvalidInput

FEW = 300
"""Up to this many names, the exact method is the quicker one."""
STEPS = 200
SECONDS = 60.0
SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """Noisy values with their variances, and equations matrix @ x = b with independent rows."""

    values: Floats
    variances: Floats
    matrix: sparse.csr_array
    b: Floats

    def solved(self, variances: Floats, wrong: Floats) -> Floats:
        """Return (A S A')^-1 `wrong`; damped by what is far below rounding in its effect."""
        gram = (self.matrix @ sparse.diags_array(variances) @ self.matrix.T).tocsc()
        size = max(float(gram.diagonal().max(initial=0)), 1e-300)
        damping = 1e-13 * size * sparse.identity(len(wrong), format="csc")
        return np.asarray(splu((gram + damping).tocsc()).solve(wrong))

    def misses(self, found: Floats) -> float:
        """Return by how much `found` misses the equations, against the size of the numbers."""
        size = 1 + float(np.abs(self.b).max()) + float(np.abs(self.values).max())
        return float(np.abs(self.matrix @ found - self.b).max()) / size

    def at(self, duals: Floats) -> tuple[float, Floats]:
        """Return the dual function and the non-negative point that belongs to `duals`."""
        found = np.maximum(self.values - self.variances * (self.matrix.T @ duals), 0)
        return float((found**2 / (2 * self.variances)).sum() + self.b @ duals), found


def sparse_of(
    places: tuple[list[int], list[int], list[float]], shape: tuple[int, int]
) -> sparse.csr_array:
    """Return the matrix with these rows, columns and weights."""
    rows, columns, weights = places
    return sparse.csr_array((weights, (rows, columns)), shape=shape)


def least_squares(system: System) -> Floats:
    """Return the x with matrix @ x = b that is nearest to the values.

    The closed form x = v - S A' (A S A')^-1 (A v - b).
    """
    return _onto(system, system.values, system.variances)


def _onto(system: System, start: Floats, variances: Floats) -> Floats:
    """Return `start` moved onto the equations, each entry by as much as its variance lets it."""
    found = start
    for _ in range(3):  # the later ones take away the rounding of the first
        wrong = system.matrix @ found - system.b
        found = found - variances * (system.matrix.T @ system.solved(variances, wrong))
    return np.asarray(found)


def non_negative(system: System) -> Floats:
    """Return the nearest x with matrix @ x = b and no entry below zero."""
    if len(system.values) > FEW:
        found = _by_newton(system)
        if found is not None:
            return found
    start = least_squares(system)
    exact = _nearest_above_zero(start, system.variances, system.matrix.toarray())
    if exact is None or system.misses(exact) > 1e-7:
        raise InvalidInput(
            "No numbers that are all at least 0 satisfy the equations.",
            hint="Check the signs and constants of the equations.",
        )
    return _polished(system, exact)


def _nearest_above_zero(start: Floats, variances: Floats, matrix: Floats) -> Floats | None:
    """Return the x >= 0 with the same matrix @ x as `start` that is nearest to `start`.

    `start` is the least-squares solution, so what is nearest to it is nearest to the noisy values. In
    units of the noise x = start + s Q u with orthonormal Q, and the least |u| with s Q u >= -start is
    found by non-negative least squares [Lawson and Hanson, chapter 23]. None: there is no such x.
    """
    scales = np.sqrt(variances)
    free = null_space(matrix * scales)
    if not free.shape[1]:
        return np.maximum(start, 0) if float(start.min()) >= -1e-9 * _size(start) else None
    push = free * scales[:, None]
    size = float(np.maximum(-start, 0).max())
    if not size:
        return start
    # Equations such as a + b = 0 leave one point only: a hair of slack keeps rounding from closing it.
    stacked = np.vstack([push.T, -(start + SLACK * _size(start))[None, :] / size])
    target = np.zeros(len(stacked))
    target[-1] = 1
    found, left = nnls(stacked, target, maxiter=50 * len(start))
    if left < 1e-12:
        return None
    rest = stacked @ found - target
    moved = start + push @ (-rest[:-1] / rest[-1] * size)
    found_point: Floats = np.maximum(np.asarray(moved), 0)
    return found_point


def _size(values: Floats) -> float:
    return 1 + float(np.abs(values).max())


def _polished(system: System, found: Floats) -> Floats:
    """Return the same point without its rounding: entries above zero solved again on their own."""
    above = found > 1e-7 * (1 + float(found.max()))
    start = np.where(above, system.values, 0.0)
    again = _onto(system, start, np.where(above, system.variances, 0.0))
    better = float(again.min()) >= 0 and system.misses(again) <= system.misses(found)
    return again if better else found


def _by_newton(system: System) -> Floats | None:
    """Return the same for many names, or None where it does not settle.

    Newton's method on the dual: x = max(0, v - S A' m), and m is moved until the equations hold.
    """
    duals = np.zeros(len(system.b))
    _, found = system.at(duals)
    for _ in range(STEPS):
        size = system.misses(found)
        if size <= 1e-11:
            polished = _onto(system, found, np.where(found > 0, system.variances, 0.0))
            return np.maximum(polished, 0)
        # Entries at zero count a little, and less and less: no equation is ever without any.
        little = min(0.01, size)
        weights = np.where(found > 0, system.variances, little * system.variances)
        step = system.solved(weights, system.matrix @ found - system.b)
        duals, found = _moved(system, duals, step)
    return None


def _moved(system: System, duals: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Return the duals after as much of `step` as lowers the dual function, and their x."""
    before, start = system.at(duals)
    slope = float((system.matrix @ start - system.b) @ step)
    length = 1.0
    while length > 1e-12:
        tried = duals + length * step
        height, found = system.at(tried)
        if height <= before - 1e-4 * length * slope + 1e-12 * abs(before):
            return tried, found
        length /= 2
    return duals, start


def whole_numbers(system: System, near: Floats, *, lowest: float) -> Floats:
    """Return whole numbers, none below `lowest`, that satisfy the equations close to `near`.

    Close in the sum of absolute distances in units of the noise: a mixed-integer programme whose
    unknowns are the distances from `near` rounded down, so that it is as easy for large numbers.
    """
    count = len(near)
    base = np.floor(near)
    part = near - base
    weights = 1 / np.sqrt(system.variances)
    eye = sparse.identity(count, format="csr")
    # d is the move, t its distance from the fraction: t >= d - part and t >= part - d.
    left = system.b - system.matrix @ base
    wide = sparse.hstack([system.matrix, sparse.csr_array(system.matrix.shape)])
    equal = LinearConstraint(wide, left, left)
    above = LinearConstraint(sparse.hstack([eye, -eye]), -np.inf, part)
    below = LinearConstraint(sparse.hstack([eye, eye]), part, np.inf)
    low = np.concatenate([np.full(count, lowest) - base, np.zeros(count)])
    answer = milp(
        np.concatenate([np.zeros(count), weights / weights.max()]),
        constraints=[equal, above, below],
        integrality=np.concatenate([np.ones(count), np.zeros(count)]),
        bounds=Bounds(low, np.inf),
        options={"time_limit": SECONDS},
    )
    if answer.x is None:
        raise InvalidInput("No whole numbers that satisfy the equations were found.")
    return np.asarray(base + np.round(answer.x[:count]))
