"""What clipping each example's gradient costs beside a plain step of training, on whatever JAX runs on.

python benchmarks/dpsgd.py [--batch N] [--width W] [--layers L] [--steps K]

Needs jax and numpy only. A network of ReLU layers on made-up images (784 inputs, 10 classes). Five ways to
one gradient: plain (not private); each example's gradient written down and clipped; clipped by lengths
that follow from inputs and errors, without writing one down; the same with errors cut to a public lattice;
and that in whole numbers held by doubles, where sums are exact (docs/notes/0053). Prints examples a
second and the ratio to the plain step: medians of interleaved rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", val=True)

INPUTS, CLASSES, LATTICE = 784, 10, 2.0**14


def network(width: int, layers: int) -> list[tuple[jax.Array, jax.Array]]:
    rng = np.random.default_rng(0)
    sizes = [INPUTS, *[width] * layers, CLASSES]
    return [
        (jnp.asarray(rng.normal(0, (2 / a) ** 0.5, (a, b)), jnp.float32), jnp.zeros(b, jnp.float32))
        for a, b in pairwise(sizes)
    ]


def scores(weights, x):
    for matrix, offset in weights[:-1]:
        x = jax.nn.relu(x @ matrix + offset)
    return x @ weights[-1][0] + weights[-1][1]


def loss(weights, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores(weights, x)), y[..., None], axis=-1).sum()


def plain(weights, x, y):
    return jax.grad(loss)(weights, x, y)


def written_down(weights, x, y):
    each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))(weights, x, y)
    squares = sum((p.reshape(len(x), -1) ** 2).sum(axis=1) for p in jax.tree.leaves(each))
    factor = jnp.minimum(1.0, 1 / jnp.sqrt(squares))
    return jax.tree.map(lambda p: jnp.tensordot(factor, p, axes=1), each)


def passes(weights, x, y):
    """Return the inputs and the errors of every layer, for every example."""
    inputs, before = [], []
    for matrix, offset in weights:
        inputs.append(x)
        found = x @ matrix + offset
        before.append(found)
        x = jax.nn.relu(found)
    error = jax.nn.softmax(before[-1]) - jax.nn.one_hot(y, CLASSES, dtype=x.dtype)
    errors = [error]
    for (matrix, _), found in zip(weights[:0:-1], before[-2::-1], strict=True):
        error = (error @ matrix.T) * (found > 0)
        errors.append(error)
    return inputs, errors[::-1]


def by_lengths(weights, x, y, *, lattice: bool, exact: bool):
    inputs, errors = passes(weights, x, y)
    squares = sum(
        ((a * a).sum(axis=1) + 1) * (e * e).sum(axis=1) for a, e in zip(inputs, errors, strict=True)
    )
    factor = jnp.minimum(1.0, 1 / jnp.sqrt(squares))[:, None]
    found = []
    kind = jnp.float64 if exact else jnp.float32
    for a, e in zip(inputs, errors, strict=True):
        there, clipped = a, e * factor
        if lattice:
            there, clipped = jnp.trunc(a * 64), jnp.trunc(clipped * LATTICE)
        there, clipped = there.astype(kind), clipped.astype(kind)
        found.append((there.T @ clipped, clipped.sum(axis=0)))
    return found


WAYS = {
    "plain": plain,
    "written down": written_down,
    "by lengths": partial(by_lengths, lattice=False, exact=False),
    "lattice": partial(by_lengths, lattice=True, exact=False),
    "whole numbers": partial(by_lengths, lattice=True, exact=True),
}


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--batch", type=int, default=4096)
    words.add_argument("--width", type=int, default=1024)
    words.add_argument("--layers", type=int, default=2)
    words.add_argument("--steps", type=int, default=20)
    asked = words.parse_args()
    rng = np.random.default_rng(1)
    x = jnp.asarray(rng.normal(size=(asked.batch, INPUTS)), jnp.float32)
    y = jnp.asarray(rng.integers(0, CLASSES, asked.batch))
    weights = network(asked.width, asked.layers)
    ways, times = {name: jax.jit(way) for name, way in WAYS.items()}, {}
    for name, way in list(ways.items()):
        try:
            jax.block_until_ready(way(weights, x, y))
        except Exception as error:  # a way that does not fit into memory is told, not fatal
            print(f"{name:<14} did not run: {type(error).__name__}")
            del ways[name]
    for _ in range(asked.steps):
        for name, way in ways.items():
            started = time.perf_counter()
            jax.block_until_ready(way(weights, x, y))
            times.setdefault(name, []).append(time.perf_counter() - started)
    size = sum(p.size for p in jax.tree.leaves(weights))
    print(
        f"{jax.devices()[0].device_kind}: batch {asked.batch}, {size:,} weights, jax {jax.__version__}"
    )
    base = statistics.median(times["plain"])
    for name, each in times.items():
        middle = statistics.median(each)
        print(f"{name:<14} {asked.batch / middle:>14,.0f} examples/s  {middle / base:6.2f} x plain")


if __name__ == "__main__":
    main()
