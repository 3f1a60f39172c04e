"""Composing ten thousand events: what it costs us, and dp-accounting beside it in the same process.

Run: python benchmarks/accounting.py [--peer]
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

from benchmarks.figures import figure

from discreet.base.event import FREE, Gaussian, Laplace, Pure, Repeated, Sampled
from discreet.base.numbers import Delta, Epsilon
from discreet.privacy.account.batch import batch_epsilon
from discreet.privacy.account.composition import Limits
from discreet.privacy.account.price import gaussian_sigma_squared, price

COUNT = 10_000
ONE = Fraction(1)
MICRO = Delta.of("1e-6")
PEERED = ("PLD, 10,000 equal", "PLD, 10,000 sampled Gaussians")


SAID = {}


def timed(name, work, *, per=1, unit="s"):
    start, start_cpu = time.perf_counter(), time.process_time()
    result = work()
    wall, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    factor = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit] / per
    print(f"{name:<62} {wall * factor:10.3f} {unit}  (cpu {cpu * factor:.3f})  {result}")
    beside = name.removeprefix("dp-accounting ")
    if beside != name:
        figure(beside, SAID[beside], unit, beside="dp-accounting", theirs=wall * factor)
    else:
        SAID[name] = wall * factor
        if not ("--peer" in sys.argv and name in PEERED):
            figure(name, wall * factor, unit)
    return wall


def ledger_sum(events):
    """Price and add up every event, and ask the filter each time: the ledger's arithmetic."""
    limits, total = Limits.of("100000", "1e-6"), FREE
    epsilon, delta = Epsilon.of("0.01"), Delta.of(0)
    for event in events:
        total = total + price(event, epsilon=epsilon, delta=delta).cost
        assert limits.allows(total)
    return f"epsilon {float(total.epsilon):.2f}"


def calibrations():
    for i in range(50):
        gaussian_sigma_squared(1, Epsilon.of(f"0.{i + 103}"), MICRO, 1)
    return ""


def main():
    same = [Laplace(Fraction(100), ONE)] * COUNT
    different = [Laplace(Fraction(90_000 + i, 900), ONE) for i in range(COUNT)]
    sampled = Repeated(Sampled(Gaussian(Fraction(1), ONE, 1), Fraction(1, 100)), COUNT)
    timed(
        "price + add + filter, equal events, each", lambda: ledger_sum(same), per=COUNT, unit="us"
    )
    timed(
        "price + add + filter, different events, each",
        lambda: ledger_sum(different),
        per=COUNT,
        unit="us",
    )
    timed("calibrate one discrete Gaussian", calibrations, per=50, unit="ms")
    timed("PLD, 10,000 equal", lambda: float(batch_epsilon(same, MICRO)))
    timed("PLD, 10,000 sampled Gaussians", lambda: float(batch_epsilon([sampled], MICRO)))
    few = [Pure(Fraction(90 + i % 100, 10_000)) for i in range(COUNT)]
    timed("PLD, 10,000 of 100 kinds", lambda: float(batch_epsilon(few, MICRO)))
    timed("PLD, 10,000 all different", lambda: float(batch_epsilon(different, MICRO)))
    if "--peer" in sys.argv:
        peer()


def peer():
    from dp_accounting.pld import privacy_loss_distribution as theirs

    def equal():
        one = theirs.from_discrete_laplace_mechanism(0.01, 1, use_connect_dots=True)
        return one.self_compose(COUNT).get_epsilon_for_delta(1e-6)

    def sampled():
        one = theirs.from_discrete_gaussian_mechanism(
            1.0, 1, sampling_prob=0.01, use_connect_dots=True
        )
        return one.self_compose(COUNT).get_epsilon_for_delta(1e-6)

    timed("dp-accounting PLD, 10,000 equal", equal)
    timed("dp-accounting PLD, 10,000 sampled Gaussians", sampled)


if __name__ == "__main__":
    main()
