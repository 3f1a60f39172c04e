"""The price of a release and how it is divided among its tables: from noise laws alone.

No row is needed, and nothing here depends on one. Shares as written, accuracy targets, and optimal weights
for the rest; one quote for the fixed batch of all tables.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from discreet.base.event import Composed, Concentrated, Cost, PrivacyEvent, Quote
from discreet.base.numbers import Delta, Epsilon, round_up
from discreet.errors import InvalidInput
from discreet.privacy.account.batch import batch_epsilon
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.account.tally import tally
from discreet.privacy.kernel.mechanism import Law, Mechanisms
from discreet.privacy.kernel.seal import admit
from discreet.privacy.noise.laws import law_costing
from discreet.work.publish.families import Member
from discreet.work.publish.measure import CellRead, bounding_region
from discreet.work.publish.reconcile.problem import mean_parts, refines
from discreet.work.publish.specification import AccuracyTarget, Spec

LEAST = Fraction(1, 100)
"""No table gets less than this part of an equal share: each is measured, also where a finer one is."""

GRID = 10**6
"""Shares are multiples of one part in this many."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasureShare:
    """One measure of one table: its place and its read, what was written about it, its unit of error.

    `length` is the squared L2 (or the L1) move of one unit, in published units.
    """

    family: int
    place: int
    member: Member
    read: CellRead
    length: int
    share: Fraction | None
    accuracy: AccuracyTarget | None


def optimal_shares(
    wanted: Sequence[MeasureShare],
    *,
    pure: bool,
    fixed: Mapping[int, Fraction],
) -> list[Fraction]:
    """Return shares that add up to 1: `fixed` ones by place in `wanted`, the others optimal.

    Optimal: the least sum over tables of the mean variance of a cell, in units of what one person
    moves, each cell estimated from its own measurement and from those of finer tables. This is an
    upper bound of what least squares achieves, and depends on the spec alone.
    """
    free = [i for i in range(len(wanted)) if i not in fixed]
    rest = 1 - sum(fixed.values(), Fraction(0))
    if not free:
        total = sum(fixed.values(), Fraction(0))
        return [fixed[i] / total for i in range(len(wanted))]
    weights = np.full(len(wanted), 1e-12)
    for i, part in fixed.items():
        weights[i] = float(part)
    weights[free] = float(rest) / len(free)
    links = _links(wanted)
    least = float(LEAST) * float(rest) / len(free)
    for _ in range(400):
        before = weights[free]
        gradient = _gradient(weights, links, power=2 if pure else 1)
        moved = before * np.sqrt(gradient[free])
        weights[free] = np.maximum(moved / moved.sum() * float(rest), least)
        weights[free] *= float(rest) / weights[free].sum()
        if np.array_equal(weights[free], before):
            break  # to the last digit, and so would every further step be
    parts = [Fraction(max(1, math.floor(weights[i] / float(rest) * GRID)), GRID) for i in free]
    total = sum(parts, Fraction(0))
    shares = dict(fixed) | {i: rest * part / total for i, part in zip(free, parts, strict=True)}
    return [shares[i] for i in range(len(wanted))]


def _links(wanted: Sequence[MeasureShare]) -> list[list[tuple[int, float]]]:
    """Return for each member the ones that say something about it, with the number of their cells."""
    return [
        [
            (j, 1.0 if i == j else mean_parts(other.member.maps, one.member.maps, one.member.shape))
            for j, other in enumerate(wanted)
            if other.family == one.family and refines(other.member.maps, one.member.maps)
        ]
        for i, one in enumerate(wanted)
    ]


def _gradient(
    weights: np.ndarray, links: list[list[tuple[int, float]]], *, power: int
) -> np.ndarray:
    """Return how fast the sum of variances falls as each weight grows."""
    found = np.zeros(len(weights))
    for sources in links:
        precision = sum(weights[j] ** power / parts for j, parts in sources)
        for j, parts in sources:
            found[j] += power * weights[j] ** (power - 1) / parts / precision**2
    return found


def needed_rho(wanted: MeasureShare) -> Fraction:
    """Return the rho that one table needs for its accuracy target, by its own measurement alone."""
    target, measure = wanted.accuracy, wanted.read.measure
    assert target is not None, "asked for tables with a target"
    # Whole numbers: an error of at most this many units is allowed.
    allowed = math.floor(target.within * target.size / (measure.step * measure.grain))
    if allowed < 1:
        raise InvalidInput(
            f"Table '{wanted.member.table.name}': its accuracy asks for less than one unit of error.",
            hint="Name larger cells, or a larger percentage.",
        )
    quantile = NormalDist().inv_cdf((1 + float(target.confidence)) / 2)
    sigma_squared = (allowed / quantile) ** 2
    return Fraction(wanted.length) / (2 * Fraction(sigma_squared))


DIGITS = 7
"""Significant digits of a noise scale: what is printed is what is drawn."""

HOPELESS = 10**7
"""Noise on a count beyond this: no table of people is large enough to be seen through it."""


@dataclass(frozen=True, slots=True, eq=False)
class Priced:
    """The noise of every table, what an accountant is told of it, and what is charged for all."""

    laws: tuple[Law, ...]
    events: tuple[PrivacyEvent, ...]
    shares: tuple[Fraction, ...]
    quote: Quote


def price_release(spec: Spec, wanted: Sequence[MeasureShare]) -> Priced:
    """Return the noise of every table and the one price of all of them; nothing is read.

    Guarantee: the batch is fixed by the spec and public facts. It is (epsilon, delta)-DP by the
        privacy-loss distribution (or plain sums at delta 0) and rho-zCDP by addition; each enters the
        ledger's filter of its own kind, on the hull of all regions that are read.
    """
    _check_moved(wanted)
    pure = not spec.delta.value
    shares = _shares(spec, wanted, pure=pure)
    region = bounding_region([each.read.region for each in wanted])
    amount = spec.epsilon.value if pure else _greatest_rho(spec.epsilon, spec.delta)
    for _ in range(60):
        laws = tuple(
            _law(amount * share, each.length, pure=pure)
            for share, each in zip(shares, wanted, strict=True)
        )
        _check_hope(laws, wanted, spec)
        events = tuple(
            # What the kernel says about this noise on the sums that the SQL allows.
            admit(Mechanisms({each.read.name: law}, {}), (each.read.read,)).event
            for law, each in zip(laws, wanted, strict=True)
        )
        found = batch_epsilon(events, spec.delta)
        if found <= spec.epsilon.value:
            total = tally(Composed(events))
            cost = Cost(spec.epsilon.value, spec.delta.value, total.rho, total.delta)
            return Priced(laws, events, tuple(shares), Quote(Composed(events), cost, region))
        # The certified price lies a little above that of continuous noise.
        amount *= min(1 - Fraction(1, 10**4), spec.epsilon.value / found)
    raise InvalidInput(
        f"No noise was found for epsilon {spec.epsilon} and delta {spec.delta}.",
        hint="Use a larger epsilon or delta.",
    )


def _check_moved(wanted: Sequence[MeasureShare]) -> None:
    """Refuse a measure that nobody moves: it is the same whatever the rows are."""
    for each in wanted:
        if not each.length:
            raise InvalidInput(
                f"Table '{each.member.table.name}': '{each.member.measure.name}' is always 0.",
                hint="Leave it out, or correct the bounds of its column in discreet.toml.",
            )


def _law(amount: Fraction, length: int, *, pure: bool) -> Law:
    found = law_costing(amount, length, concentrated=not pure)
    return type(found)(_significant(found.size))


def _significant(value: Fraction) -> Fraction:
    digits = DIGITS - 1 - math.floor(math.log10(float(value)))
    return round_up(value, digits=digits) if digits > 0 else Fraction(math.ceil(value))


def _check_hope(laws: Sequence[Law], wanted: Sequence[MeasureShare], spec: Spec) -> None:
    for law, each in zip(laws, wanted, strict=True):
        if law.variance > HOPELESS**2 * max(1, each.length):
            raise InvalidInput(
                f"At epsilon {spec.epsilon} nothing could be seen in table "
                f"'{each.member.table.name}': even one count would be off by over {HOPELESS:,}.",
                hint="Usual values for a release lie between 0.1 and 10. Nothing was charged.",
            )


def _shares(spec: Spec, wanted: Sequence[MeasureShare], *, pure: bool) -> list[Fraction]:
    written = {
        i: each.share / len(each.member.table.measures)
        for i, each in enumerate(wanted)
        if each.share is not None
    }
    targets = {i: needed_rho(each) for i, each in enumerate(wanted) if each.accuracy}
    if not targets:
        return optimal_shares(wanted, pure=pure, fixed=written)
    if pure:
        raise InvalidInput(
            "An accuracy target needs delta: [release] has none.",
            hint="Write delta = 1e-9, or use share instead of accuracy.",
        )
    total = _greatest_rho(spec.epsilon, spec.delta)
    others = len(wanted) - len(written) - len(targets)
    spare = 1 - sum(written.values(), Fraction(0)) - Fraction(others, 100 * len(wanted))
    needed = sum(targets.values(), Fraction(0))
    if needed > spare * total:
        more = "more than any epsilon"
        if spare > 0:
            alone = Concentrated(needed / spare)
            more = f"epsilon {float(batch_epsilon((alone,), spec.delta)):.3g}"
        raise InvalidInput(
            f"infeasible: needs {more} for the accuracy that was written.",
            hint="Raise epsilon, ask for less accuracy, or give other tables smaller shares.",
        )
    fixed = written | {i: rho / total for i, rho in targets.items()}
    return optimal_shares(wanted, pure=pure, fixed=fixed)


def _greatest_rho(epsilon: Epsilon, delta: Delta) -> Fraction:
    """Return about the greatest rho of Gaussian noise within (epsilon, delta); checked by callers."""
    low = float(rho_of_target(epsilon.value, delta.value))
    if not low:
        raise InvalidInput(f"Epsilon {epsilon} with delta {delta} is too small for any noise.")
    high = 4 * low
    goal = math.log(float(delta.value))
    for _ in range(60):
        middle = (low + high) / 2
        if _log_delta(middle, float(epsilon.value)) <= goal:
            low = middle
        else:
            high = middle
    return Fraction(low).limit_denominator(10**12) or Fraction(low)


def _log_delta(rho: float, epsilon: float) -> float:
    """Return the logarithm of delta of continuous Gaussian noise, by Mills' bound in the tail."""
    mu = math.sqrt(2 * rho)
    a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    value = 0.5 * math.erfc(a / math.sqrt(2))
    if a < 36:
        value -= math.exp(
            min(epsilon + math.log(max(0.5 * math.erfc(b / math.sqrt(2)), 1e-320)), 0)
        )
    return math.log(max(value, 1e-320))
