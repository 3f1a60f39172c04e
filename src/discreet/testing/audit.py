"""Privacy auditing in tests: a lower bound on the epsilon of a mechanism whose outcomes are whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from discreet.core.arrays import Bits, Integers
from discreet.errors import InvalidInput
from discreet.noise.error_bars import lower_limit, upper_limit

Outcomes: TypeAlias = Integers
Data = TypeVar("Data")

ALPHA = 1e-9


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
