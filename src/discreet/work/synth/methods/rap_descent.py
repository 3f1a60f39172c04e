"""Gradient descent on relaxed rows, in JAX: the only file of this package that imports it.

No key of JAX makes noise: the one key here says where the descent begins, and no guarantee hangs
on that. The same code runs on processors and accelerators.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats
from discreet.measure.shape import Columns

Array: TypeAlias = jax.Array
Queries: TypeAlias = npt.NDArray[np.int32]
"""Columns of the table by queries: which code of all columns laid end to end; one past the last
stands for "any"."""

BEGIN = 0
"""The key of the starting point: fixed, so that the same noise gives the same model."""

SLOWER, SLOWEST, TINY = 0.9, 0.999, 1e-8  # Adam's memory of slopes and of their squares


class Relaxed:
    """Relaxed rows under way: a logit for each code of each column, one softmax for each column."""

    def __init__(self, sizes: Sequence[int], rows: int, spread: float = 0.5) -> None:
        self.ends = np.cumsum([0, *sizes])
        codes = int(self.ends[-1])
        owner = np.repeat(np.arange(len(sizes)), sizes)
        # owns[c, k] says that code k belongs to column c: sums over a column are products with it.
        self._owns = jnp.asarray(np.arange(len(sizes))[:, None] == owner, dtype=jnp.float32)
        key = jax.random.key(BEGIN)
        self._logits: Array = spread * jax.random.normal(key, (codes, rows), dtype=jnp.float32)

    def blocks(self) -> tuple[Floats, ...]:
        """Return, for each column, relaxed rows by codes."""
        chances = np.asarray(_softmax(self._logits, self._owns), dtype=np.float64)
        found = []
        for one, other in pairwise(self.ends.tolist()):
            block = chances[one:other].T
            found.append(block / block.sum(axis=1, keepdims=True))
        return tuple(found)

    def fit_cells(
        self,
        queries: Queries,
        targets: Floats,
        counted: Bits,
        *,
        steps: int,
        rate: float,
    ) -> None:
        """Move towards tables of "this code or not" of several columns, those that are `counted`.

        `targets` are shares of all rows: subsets (see `subsets`) by queries.
        """
        self._logits = _fit_cells(
            self._logits,
            self._owns,
            queries=jnp.asarray(queries),
            targets=jnp.asarray(targets, dtype=jnp.float32),
            counted=jnp.asarray(counted, dtype=jnp.float32),
            exactly=jnp.asarray(cells_of_moments(len(queries)), dtype=jnp.float32),
            steps=steps,
            rate=rate,
        )

    def fit_marginals(
        self, wanted: Sequence[Columns], targets: Sequence[Floats], *, steps: int, rate: float
    ) -> None:
        """Move towards whole marginals, each given as shares of all rows."""
        parts = tuple(
            tuple((int(self.ends[c]), int(self.ends[c + 1])) for c in columns) for columns in wanted
        )
        aims = tuple(jnp.asarray(each, dtype=jnp.float32) for each in targets)
        self._logits = _fit_marginals(
            self._logits, self._owns, targets=aims, parts=parts, steps=steps, rate=rate
        )


def cells_of_moments(width: int) -> Floats:
    """Return the matrix from shares of rows with *at least* these codes to *exactly* these.

    >>> cells_of_moments(1).tolist()
    [[1.0, -1.0], [0.0, 1.0]]
    """
    one = np.array([[1.0, -1.0], [0.0, 1.0]])
    found = np.ones((1, 1))
    for _ in range(width):
        found = np.kron(one, found)
    return found


def _softmax(logits: Array, owns: Array) -> Array:
    powers = jnp.exp(logits - logits.max(axis=0))
    return powers * (owns.T @ (1 / (owns @ powers + 1e-30)))


def _uphill(chances: Array, slope: Array, owns: Array) -> Array:
    """Return the slope by logits from the slope by logarithms of chances."""
    return slope - chances * (owns.T @ (owns @ slope))


def _adam(slope: Any, logits: Array, steps: Any, rate: Any) -> Array:
    def step(i: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        point, first, second = state
        here = slope(point)
        first = SLOWER * first + (1 - SLOWER) * here
        second = SLOWEST * second + (1 - SLOWEST) * here**2
        fair = first / (1 - SLOWER ** (i + 1.0))
        size = jnp.sqrt(second / (1 - SLOWEST ** (i + 1.0))) + TINY
        return point - rate * fair / size, first, second

    still = jnp.zeros_like(logits)
    found: Array = jax.lax.fori_loop(0, steps, step, (logits, still, still))[0]
    return found


@jax.jit  # type: ignore[untyped-decorator]
def _fit_cells(
    logits: Array,
    owns: Array,
    *,
    queries: Array,
    targets: Array,
    counted: Array,
    exactly: Array,
    steps: Any,
    rate: Any,
) -> Array:
    width, rows = queries.shape[0], logits.shape[1]

    def slope(point: Array) -> Array:
        chances = _softmax(point, owns)
        factors = [
            jnp.take(chances, queries[column], axis=0, mode="fill", fill_value=1.0)
            for column in range(width)
        ]
        products = [jnp.ones_like(factors[0])]
        for factor in factors:  # in the order of `subsets`: without the column, then with it
            products += [product * factor for product in products]
        moments = jnp.stack([product.mean(axis=1) for product in products])
        misfit = counted * (exactly @ moments - targets)
        pull = (2 / rows) * (exactly.T @ misfit)
        found = jnp.zeros_like(chances)
        for column in range(width):
            mine = sum(
                pull[i][:, None] * product for i, product in enumerate(products) if i >> column & 1
            )
            found = found.at[queries[column]].add(mine, mode="drop")
        return _uphill(chances, found, owns)

    return _adam(slope, logits, steps, rate)


@partial(jax.jit, static_argnames=("parts",))
def _fit_marginals(
    logits: Array,
    owns: Array,
    *,
    targets: tuple[Array, ...],
    parts: tuple[tuple[tuple[int, int], ...], ...],
    steps: Any,
    rate: Any,
) -> Array:
    def loss(point: Array) -> Array:
        chances = _softmax(point, owns)
        off = jnp.zeros(())
        for columns, target in zip(parts, targets, strict=True):
            joint = jnp.ones((1, chances.shape[1]))
            for one, other in columns[:-1]:
                joint = (joint[:, None, :] * chances[one:other]).reshape(-1, chances.shape[1])
            one, other = columns[-1]
            share = (joint @ chances[one:other].T) / chances.shape[1]
            off += ((share.ravel() - target.ravel()) ** 2).sum()
        return off

    return _adam(jax.grad(loss), logits, steps, rate)
