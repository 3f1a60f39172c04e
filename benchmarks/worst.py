"""How long a charge takes when 10,000 overlapping ones are there, and how tight the bill is.

Prints one line for each workload: milliseconds per charge (check, add and peak), the memory that
the bills took, and the ratio of the bill to brute force over every point of the domain. Domains too
large for brute force are compared with the best bill that many climbs over real points found, so
their ratio is an upper bound of the true one.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time

import numpy as np
from benchmarks.figures import figure

from discreet.base.event import Positions, Region
from discreet.base.unit import Neighbours
from discreet.privacy.ledger.worst.worst_hit import Worst

SMALL = {"age": 12, "job": 10, "sex": 2, "region": 10, "year": 12, "income": 10}
MEDIUM = {"age": 20, "job": 16, "sex": 2, "region": 16, "year": 20, "income": 20}
LARGE = {"age": 120, "job": 50, "sex": 2, "region": 100, "day": 3650, "income": 1000}
RANGES = {"age", "year", "day", "income"}


def slices(sizes, count, seed, *, columns=(1, 3), components=4):
    """Yield charges that restrict a few of the columns, each by a range, a subset or a value."""
    rng = random.Random(seed)
    for _ in range(count):
        chosen = rng.sample(sorted(sizes), rng.randint(*columns))
        axes = {name: _positions(rng, name, sizes[name]) for name in chosen}
        epsilon = rng.choice((10, 20, 25, 50, 100)) * 10**12
        price = (epsilon, rng.randrange(2) * 10**6, epsilon * epsilon // 10**16, 10**5)
        yield Region.of(axes), price[:components]


def _positions(rng, name, size):
    kind = rng.random()
    if name in RANGES and kind < 0.7:
        low, high = sorted((rng.randrange(size), rng.randrange(size)))
        return Positions(((low, high),))
    if kind < 0.85:
        return Positions.points(rng.sample(range(size), rng.randint(1, max(1, min(size, 50) // 2))))
    return Positions.points([rng.randrange(size)])


def brute_force(sizes, charges, component=0):
    """Return the greatest bill over every point, NULL included."""
    grid = np.zeros([size + 1 for size in sizes.values()], dtype=np.int64)
    tables = {}
    for region, amounts in charges:
        scope = tuple(name for name in sizes if region.on(name) is not None)
        shape = [sizes[name] + 1 for name in scope]
        table = tables.setdefault(scope, np.zeros(shape, dtype=np.int64))
        held = [[p for p in range(-1, sizes[n]) if p in region.on(n)] for n in scope]
        table[np.ix_(*held) if held else ()] += amounts[component]
    for scope, table in tables.items():
        grid += table.reshape([sizes[n] + 1 if n in scope else 1 for n in sizes])
    return int(grid.max())


def climb(sizes, charges, component=0, starts=24, seed=5):
    """Return the greatest bill that coordinate ascent from random points finds."""
    rng = np.random.default_rng(seed)
    names = list(sizes)
    held = {}
    paid = np.array([amounts[component] for _, amounts in charges], dtype=np.int64)
    for name, size in sizes.items():
        table = np.ones((size + 1, len(charges)), dtype=np.bool_)
        for i, (region, _) in enumerate(charges):
            if (positions := region.on(name)) is not None:
                table[:, i] = False
                for low, high in positions.spans:
                    table[low if low >= 0 else size : high + 1, i] = True
        held[name] = table
    best = 0
    for _ in range(starts):
        point, value = {n: int(rng.integers(sizes[n])) for n in names}, -1
        while True:
            before = value
            for name in rng.permutation(names):
                others = np.logical_and.reduce([held[n][point[n]] for n in names if n != name])
                bills = held[name][:, others] @ paid[others]
                point[name], value = int(bills.argmax()), int(bills.max())
            if value == before:
                break
        best = max(best, value)
    return best


def measure(label, sizes, charges, oracle, *, neighbours=Neighbours.ADD_REMOVE):
    """Print time, memory and tightness of adding `charges` one by one."""
    components = len(charges[0][1])
    worst = Worst(components, ceiling=(2**60,) * components, neighbours=neighbours)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for region, amounts in charges:
        began = time.perf_counter()
        worst.peak_with(region, amounts)
        worst.add(region, amounts)
        worst.peak()
        seconds.append(time.perf_counter() - began)
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10
    began = time.perf_counter()
    again = Worst(components, ceiling=(2**60,) * components, neighbours=neighbours)
    again.extend(charges)
    rebuilt = time.perf_counter() - began
    seconds.sort()
    truth = oracle(sizes, charges)
    figure(f"{label}: a charge, median", statistics.median(seconds) * 1e3, "ms")
    figure(
        f"{label}: the bill",
        worst.peak()[0],
        "amount",
        beside="brute force" if oracle is brute_force else "the best point found",
        theirs=truth,
    )
    print(
        f"{label:34} {len(charges):6,} charges  median {statistics.median(seconds) * 1e3:6.2f} ms"
        f"  p99 {seconds[int(len(seconds) * 0.99)] * 1e3:7.1f} ms  max {seconds[-1] * 1e3:6.0f} ms"
        f"  peak {megabytes:5.0f} MB  rebuild {rebuilt:5.2f} s"
        f"  ratio {worst.peak()[0] / truth:.4f} (rebuilt {again.peak()[0] / truth:.4f})",
        flush=True,
    )
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charges", type=int, default=10_000)
    parser.add_argument("--components", type=int, default=4)
    parser.add_argument("--only", default="", help="workloads whose name holds this")
    options = parser.parse_args()
    for label, sizes, columns, oracle in (
        ("small, 1 to 3 of 6 columns cut", SMALL, (1, 3), brute_force),
        ("medium, 1 to 3 of 6 columns cut", MEDIUM, (1, 3), brute_force),
        ("large, 1 to 2 of 6 columns cut", LARGE, (1, 2), climb),
        ("large, 1 to 3 of 6 columns cut", LARGE, (1, 3), climb),
    ):
        if options.only not in label:
            continue
        charges = list(
            slices(sizes, options.charges, 7, columns=columns, components=options.components)
        )
        measure(label, sizes, charges, oracle)


if __name__ == "__main__":
    main()
