"""Charges a second: alone, under contention, the time to open a long history, and one of many regions.

python -m benchmarks.ledger [--charges N] [--processes P] [--history N] [--regions N ...]
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from benchmarks.figures import figure

from discreet.base.event import Cost, Positions, Pure, Quote, Region
from discreet.privacy.ledger import BudgetPolicy, Ledger, Payer, Policy

OWNER = Payer(None, "census", "census")
POLICY = Policy({"census": BudgetPolicy.of(1_000_000)})
URL = "sqlite:ledger.db"


def quote(turn: int) -> Quote:
    epsilon = Fraction(1, 10)
    region = Region.of(
        {"sex": Positions.points([turn % 2]), "age": Positions.of([(turn % 90, 99)])}
    )
    return Quote(Pure(epsilon), Cost(epsilon, Fraction(0), epsilon**2 / 2, Fraction(0)), region)


def boxed(turn: int) -> Quote:
    """Return the quote of a question about ranges of three columns, each time others."""
    rng = random.Random(turn)
    axes = {}
    for name, size in (("age", 120), ("day", 3650), ("income", 1000)):
        low, high = sorted((rng.randrange(size), rng.randrange(size)))
        axes[name] = Positions(((low, high),))
    asked = quote(turn)
    return Quote(asked.event, asked.cost, Region.of(axes))


def charge(ledger: Ledger, name: str, turn: int, priced: Callable[[int], Quote] = quote) -> float:
    start = time.perf_counter()
    ledger.charge(OWNER, priced(turn), request_id=f"{name}-{turn}", body=f"{turn}")
    return time.perf_counter() - start


def alone(base: Path, charges: int) -> None:
    ledger = Ledger.open(URL, POLICY, base=base)
    processor = time.process_time()
    times = sorted(charge(ledger, "alone", turn) for turn in range(charges))
    processor = (time.process_time() - processor) / charges
    ledger.close()
    p99 = times[int(0.99 * len(times))]
    figure("one durable charge, median", 1e3 * statistics.median(times), "ms")
    figure("one durable charge, p99", 1e3 * p99, "ms")
    print(
        f"alone           {charges:>8} charges  median {1e3 * statistics.median(times):6.2f} ms"
        f"  p99 {1e3 * p99:6.2f} ms  own CPU {1e3 * processor:5.2f} ms"
    )


def contended(base: Path, charges: int, processes: int) -> None:
    Ledger.open(URL, POLICY, base=base).close()
    start = time.perf_counter()
    children = []
    for number in range(processes):
        child = os.fork()
        if not child:
            ledger = Ledger.open(URL, POLICY, base=base)
            for turn in range(charges // processes):
                charge(ledger, f"p{number}", turn)
            os._exit(0)
        children.append(child)
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    seconds = time.perf_counter() - start
    figure(f"charges of {processes} processes at once", charges / seconds, "a second")
    print(
        f"{processes:>2} processes    {charges:>8} charges  {charges / seconds:8.0f} a second"
        f"  {'FAILED' if failed else ''}"
    )


def filled(base: Path, entries: int, priced: Callable[[int], Quote] = quote) -> None:
    """Write a ledger of so many charges, without waiting for the disk at each."""
    import json

    from discreet.privacy.ledger.entry import link
    from discreet.privacy.ledger.sqlite import SqliteStore

    ledger = Ledger.open(URL, POLICY, base=base)
    charge(ledger, "first", 0)
    ledger.close()
    store = SqliteStore(base / "ledger.db")
    (*_, last) = store.links(start=0)
    data = json.loads(last.body)
    with store.exclusive() as writer:
        for position in range(last.position + 1, entries):
            data |= {"request_id": f"r{position}", "region": priced(position).region.to_json()}
            last = link(position, "charge", data, previous=last.hash)
            writer.append(last)
    store.close()


def opening(base: Path, entries: int) -> None:
    filled(base, entries)
    start = time.perf_counter()
    Ledger.open(URL, POLICY, base=base).close()
    seconds = time.perf_counter() - start
    figure(f"opening a history of {entries:,} entries", seconds, "s")
    print(f"opening         {entries:>8} entries  {seconds:8.2f} s")


def regions(base: Path, many: int) -> None:
    """Measure what an analyst does to a server who asks about `many` different regions of three columns."""
    filled(base, many, boxed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ledger = Ledger.open(URL, POLICY, base=base)
    start = time.process_time()
    charge(ledger, "next", many, boxed)
    first = time.process_time() - start
    times = []
    for turn in range(many + 1, many + 41):
        start = time.process_time()
        charge(ledger, "next", turn, boxed)
        times.append(time.process_time() - start)
    ledger.close()
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10
    label = f"{many:,} regions of three columns"
    figure(f"{label}: the first charge after opening, processor time", first, "s")
    figure(f"{label}: a charge, median, processor time", 1e3 * statistics.median(times), "ms")
    print(
        f"regions         {many:>8} different  first charge {first:6.2f} s of processor time, then"
        f" median {1e3 * statistics.median(times):6.1f} ms, at most {1e3 * max(times):6.1f} ms,"
        f" {megabytes:5.0f} MB more",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charges", type=int, default=400)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--history", type=int, default=100_000)
    parser.add_argument("--regions", type=int, nargs="*", default=[1_000, 3_000])
    options = parser.parse_args()
    for step in (
        lambda base: alone(base, options.charges),
        lambda base: contended(base, options.charges, options.processes),
        lambda base: opening(base, options.history),
        *(partial(regions, many=many) for many in options.regions),
    ):
        with tempfile.TemporaryDirectory() as folder:
            step(Path(folder))


if __name__ == "__main__":
    main()
