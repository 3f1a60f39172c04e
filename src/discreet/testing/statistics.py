"""Statistical assertions with two sides, and privacy auditing in tests.

The right law passes and wrong ones are caught. An audit gives a lower bound on the epsilon of a mechanism whose outcomes are
whole numbers. ALPHA is the chance that a correct sampler fails one assertion: a thousand of them fail once in a
million runs. Never retry a failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats, Integers
from discreet.errors import InvalidInput
from discreet.privacy.noise.error_bars import lower_limit, upper_limit
from discreet.privacy.noise.laws import NoiseLaw

ALPHA = 1e-9
LEAST_EXPECTED = 10  # of each bin; smaller ones are merged with their neighbours
BINS = 400

Sample: TypeAlias = Integers
Survival: TypeAlias = Callable[[Floats], Floats]


def assert_law(sample: Sample, law: NoiseLaw, *, wrong_laws: Iterable[NoiseLaw]) -> None:
    """Assert that integers have this law, and that they would not pass for any wrong one."""
    edges = _edges(law)
    right = chi_square_pvalue(sample, law.survival, edges)
    assert right > ALPHA, f"the right law was rejected: p = {right:.2g}"
    for wrong in wrong_laws:
        pvalue = chi_square_pvalue(sample, wrong.survival, edges)
        assert pvalue < ALPHA, f"this test could not have caught {wrong}: p = {pvalue:.2g}"


def assert_frequency(successes: int, trials: int, low: float, high: float) -> None:
    """Assert that an event of a chance between `low` and `high` happened about as often.

    Exact binomial test on both sides (Clopper-Pearson).
    """
    assert lower_limit(successes, trials, ALPHA / 2) <= high, f"too often: {successes}/{trials}"
    assert upper_limit(successes, trials, ALPHA / 2) >= low, f"too rare: {successes}/{trials}"


def chi_square_pvalue(sample: Sample, survival_of: Survival, edges: Integers) -> float:
    """Return Pearson's p-value over the bins between `edges` and the two open ends."""
    above = np.concatenate([[1.0], survival_of(edges.astype(np.float64)), [0.0]])
    expected = -np.diff(above) * sample.size
    places = np.searchsorted(edges, sample, side="right")
    observed = np.bincount(places, minlength=edges.size + 1).astype(np.float64)
    merged_expected, merged_observed = _merge(expected, observed)
    if len(merged_expected) < 2:
        raise InvalidInput("The sample is too small to say anything about this law.")
    statistic = sum((o - e) ** 2 / e for e, o in zip(merged_expected, merged_observed, strict=True))
    return upper_gamma((len(merged_expected) - 1) / 2, statistic / 2)


def upper_gamma(shape: float, x: float) -> float:
    """Return the regularised upper incomplete gamma function Q(shape, x)."""
    if x <= 0:
        return 1.0
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        n = shape
        while term > total * 1e-16:
            n += 1
            term *= x / n
            total += term
        return max(0.0, 1 - front * total)
    # Lentz's continued fraction.
    b = x + 1 - shape
    c, d = 1e300, 1 / b
    fraction = d
    for i in range(1, 10_000):
        a = -i * (i - shape)
        b += 2
        d = 1 / (a * d + b)
        c = b + a / c
        fraction *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return min(1.0, front * fraction)


def _edges(law: NoiseLaw) -> Integers:
    """Return whole numbers that cut the law's middle into at most BINS pieces."""
    reach = max(3, math.ceil(8 * math.sqrt(law.variance)))
    return np.unique(np.linspace(-reach, reach, BINS).round().astype(np.int64))


def _merge(expected: Floats, observed: Floats) -> tuple[list[float], list[float]]:
    """Return the bins with neighbours joined until each expects enough."""
    bins: list[list[float]] = []
    open_bin = [0.0, 0.0]
    for e, o in zip(expected.tolist(), observed.tolist(), strict=True):
        open_bin = [open_bin[0] + e, open_bin[1] + o]
        if open_bin[0] >= LEAST_EXPECTED:
            bins.append(open_bin)
            open_bin = [0.0, 0.0]
    if bins:
        bins[-1] = [bins[-1][0] + open_bin[0], bins[-1][1] + open_bin[1]]
    return [e for e, _ in bins], [o for _, o in bins]


Outcomes: TypeAlias = Integers
Data = TypeVar("Data")


@dataclass(frozen=True, slots=True)
class AuditResult:
    """A lower bound on epsilon, and the event that shows it.

    The bound is wrong (above the truth) with probability at most `alpha`.
    """

    epsilon: float
    delta: float
    alpha: float
    trials: int
    outcomes: tuple[int, ...]


def audit(
    mechanism: Callable[[Data, int], npt.ArrayLike],
    first: Data,
    second: Data,
    *,
    trials: int,
    delta: float = 0.0,
    alpha: float = ALPHA,
) -> AuditResult:
    """Return a lower bound on the epsilon of `mechanism(data, trials)` on two neighbours.

    >>> def leaky(data, trials):
    ...     return np.full(trials, data)
    >>> audit(leaky, 0, 1, trials=10_000).epsilon > 4
    True
    """
    return epsilon_lower_bound(
        np.asarray(mechanism(first, trials), dtype=np.int64),
        np.asarray(mechanism(second, trials), dtype=np.int64),
        delta=delta,
        alpha=alpha,
    )


def epsilon_lower_bound(
    first: Outcomes, second: Outcomes, *, delta: float = 0.0, alpha: float = ALPHA
) -> AuditResult:
    """Return a lower bound on epsilon from integer outcomes on two neighbours.

    Half of the outcomes choose an event, by likelihood ratio; the other half measure it, so that
    the choice does not bias the measurement. (epsilon, delta)-DP means P(E) <= e^epsilon P'(E) +
    delta, hence epsilon >= ln((P(E) - delta) / P'(E)), with Clopper-Pearson limits for both.
    """
    if min(first.size, second.size) < 4:
        raise InvalidInput("An audit needs at least four outcomes of each kind.")
    best = AuditResult(0.0, delta, alpha, min(first.size, second.size), ())
    for likely, unlikely in ((first, second), (second, first)):
        event = _choose(likely[: likely.size // 2], unlikely[: unlikely.size // 2], delta)
        epsilon = _measure(
            np.isin(likely[likely.size // 2 :], event),
            np.isin(unlikely[unlikely.size // 2 :], event),
            delta,
            alpha / 4,  # two directions, two limits
        )
        if epsilon > best.epsilon:
            best = AuditResult(epsilon, delta, alpha, best.trials, tuple(event.tolist()))
    return best


def _choose(likely: Outcomes, unlikely: Outcomes, delta: float) -> Outcomes:
    """Return the set of outcomes that promises the greatest bound."""
    values, codes = np.unique(np.concatenate([likely, unlikely]), return_inverse=True)
    ours = np.bincount(codes[: likely.size], minlength=len(values))
    theirs = np.bincount(codes[likely.size :], minlength=len(values))
    order = np.argsort(-(ours + 0.5) / (theirs + 0.5), kind="stable")
    inside, outside = np.cumsum(ours[order]), np.cumsum(theirs[order])
    # Six standard deviations, roughly what the exact limits at ALPHA will take away.
    high = (inside - 6 * np.sqrt(inside) - 6) / likely.size - delta
    low = (outside + 6 * np.sqrt(outside) + 20) / unlikely.size
    chosen: Outcomes = values[order[: int(np.argmax(high / low)) + 1]]
    return chosen


def _measure(likely: Bits, unlikely: Bits, delta: float, alpha: float) -> float:
    above = lower_limit(int(likely.sum()), likely.size, alpha) - delta
    below = upper_limit(int(unlikely.sum()), unlikely.size, alpha)
    return math.log(above / below) if above > 0 else -math.inf
