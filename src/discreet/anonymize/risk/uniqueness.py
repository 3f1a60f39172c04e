"""How many rows of a sample are unique in the whole population: four estimates that disagree.

Only the class sizes of the sample are known, so each estimate stands on a model of the others.
They are shown side by side because none of them is right in general. (docs/notes/0026)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.risk.class_sizes import ClassSizes
from discreet.anonymize.risk.nelder_mead import Point, minimize


@dataclass(frozen=True, slots=True)
class UniquenessEstimate:
    """One estimate: the share of rows that are unique in the population; None if there is none."""

    name: str
    share: float | None
    says: str


def estimates(sizes: ClassSizes, population: int) -> tuple[UniquenessEstimate, ...]:
    """Return every estimate of the share of rows that are unique among `population` people.

    The share of the sample's rows and of the population's rows are the same number in expectation:
    each unique person is sampled with the same probability as everybody else.
    """
    part = min(1.0, sizes.rows / max(population, 1))
    found = []
    for name, says, model in MODELS:
        share: float | None = sizes.share_unique
        if sizes.uniques and part < 1:
            share = _guarded(model, sizes, part)
        found.append(UniquenessEstimate(name, share, says))
    return tuple(found)


def _guarded(
    model: Callable[[ClassSizes, float], float], sizes: ClassSizes, part: float
) -> float | None:
    try:
        share = model(sizes, part)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None
    if not math.isfinite(share):
        return None
    # Who is unique in the population is unique in every sample: no estimate can be above that.
    return min(max(share, 0.0), sizes.share_unique)


def pitman(sizes: ClassSizes, part: float) -> float:
    """Return the estimate by the Ewens-Pitman law of partitions, fitted by maximum likelihood.

    With n rows in u classes the likelihood is prod_{i<u} (t + i a) / prod_{i<n} (t + i) times
    prod over classes of prod_{i<size} (i - a), 0 < a < 1, t > -a. The expected number of uniques
    among N is N G(t + a + N - 1) G(t + 1) / (G(t + a) G(t + N)).
    """
    a, t = pitman_parameters(sizes)
    people = sizes.rows / part
    log_share = math.lgamma(t + a + people - 1) - math.lgamma(t + people)
    return float(math.exp(log_share + math.lgamma(t + 1) - math.lgamma(t + a)))


def pitman_parameters(sizes: ClassSizes) -> tuple[float, float]:
    """Return a and t of the Ewens-Pitman law that makes these class sizes likeliest.

    The next row falls into a class of size s with chance (s - a) / (n + t).
    """
    rows, count = sizes.rows, sizes.count
    each = list(zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True))

    def parameters(point: Point) -> tuple[float, float]:
        a = 1 / (1 + math.exp(-point[0]))
        return a, math.exp(point[1]) - a

    def height(point: Point) -> float:
        a, t = parameters(point)
        if not 0 < a < 1:
            return math.inf
        split = (count - 1) * math.log(a) + math.lgamma(t / a + count) - math.lgamma(t / a + 1)
        whole = math.lgamma(t + rows) - math.lgamma(t + 1)
        inside = sum(c * math.lgamma(s - a) for s, c in each) - count * math.lgamma(1 - a)
        return float(whole - split - inside)

    return parameters(minimize(height, (0.0, math.log(max(count, 2)))))


def zayatz(sizes: ClassSizes, part: float) -> float:
    """Return the estimate that takes the sample's class sizes for the population's.

    By Bayes' rule a sample unique is a population unique with probability
    P(1) h(1) / sum_i P(i) h(i), h(i) the chance that one of i people is drawn.
    """
    rows = sizes.rows
    people = round(rows / part)

    def log_drawn(size: int) -> float:
        if size > people - rows + 1:
            return -math.inf
        return math.log(size) + _log_choose(people - size, rows - 1) - _log_choose(people, rows)

    weights = [
        c * math.exp(log_drawn(s))
        for s, c in zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True)
    ]
    return float(sizes.share_unique * weights[0] / sum(weights))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def slid_negative_binomial(sizes: ClassSizes, part: float) -> float:
    """Return the estimate for classes of 1 + a negative binomial number of people.

    Sampling keeps the one with probability `part` and thins the others, so the sample's sizes are a
    mixture of two shifted negative binomials, seen only where they are not zero.
    """
    each = list(zip(sizes.sizes.tolist(), sizes.classes.tolist(), strict=True))

    def log_probability(k: int, shape: float, mean: float) -> float:
        log_odds = math.log(mean) - math.log(shape + mean)
        start = shape * (math.log(shape) - math.log(shape + mean))
        return (
            math.lgamma(k + shape) - math.lgamma(shape) - math.lgamma(k + 1) + start + k * log_odds
        )

    def height(point: Point) -> float:
        shape, mean = math.exp(point[0]), math.exp(point[1]) * part
        unseen = (1 - part) * math.exp(log_probability(0, shape, mean))
        total = 0.0
        for size, classes in each:
            one = log_probability(size, shape, mean) + math.log1p(-part)
            two = log_probability(size - 1, shape, mean) + math.log(part)
            high = max(one, two)
            total += classes * (high + math.log(math.exp(one - high) + math.exp(two - high)))
        return sizes.count * math.log1p(-unseen) - total

    start = (0.0, math.log(max(sizes.average - 1, 0.1) / part))
    point = minimize(height, start)
    shape, mean = math.exp(point[0]), math.exp(point[1])
    return float((shape / (shape + mean)) ** shape / (1 + mean))


def benedetti_franconi(sizes: ClassSizes, part: float) -> float:
    """Return the estimate where the unseen people of a class are negative binomial given the seen.

    Of a sample unique: nobody else is there with probability `part`. (The rule of mu-Argus.)
    """
    return sizes.share_unique * part


def mean_inverse_size(size: int, part: float) -> float:
    """Return the expected 1/F of a class with `size` seen rows and F people, by the same rule.

    F - size is negative binomial with `size` successes of probability `part`, so E[1/F] is the
    integral of s^(size-1) (part / (1 - (1 - part) s))^size over s from 0 to 1.
    """
    if part >= 1:
        return 1 / size
    if size == 1:
        return part * -math.log(part) / (1 - part)
    # With w = part s / (1 - (1 - part) s) it is the integral of w^(size-1) / (part + (1-part) w):
    # a series that climbs downwards is unstable, Gauss' rule on a smooth positive function is not.
    total = 0.0
    for node, weight in _NODES:
        w = node ** (1 / size)
        total += weight / size * part / (part + (1 - part) * w)
    return total


_GAUSS, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_NODES = tuple(zip(((_GAUSS + 1) / 2).tolist(), (_WEIGHTS / 2).tolist(), strict=True))

MODELS: tuple[tuple[str, str, Callable[[ClassSizes, float], float]], ...] = (
    ("pitman", "Ewens-Pitman partitions, by maximum likelihood", pitman),
    ("zayatz", "the sample's class sizes taken for the population's", zayatz),
    ("snb", "classes of one plus a negative binomial number of people", slid_negative_binomial),
    ("argus", "unseen people of a class negative binomial given the seen", benedetti_franconi),
)
"""Each estimate: its name, what it assumes, and how it is computed."""
