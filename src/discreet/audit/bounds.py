"""From counts of right guesses to lower bounds on epsilon or mu, each wrong with a stated chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from discreet.privacy.noise.error_bars import lower_limit, upper_limit, wilson

_STEPS = 60
_STRICT = 1e-3  # the level at which a rule is chosen, unless the measurement asks for more


@dataclass(frozen=True, slots=True)
class GuessCount:
    """What a rule said of outputs on each input: "the first", "the second", or nothing.

    `first_right`: on the first input it said "the first"; `first_wrong`: it said "the second".
    """

    first_right: int
    first_wrong: int
    second_right: int
    second_wrong: int
    first: int
    second: int

    @property
    def right(self) -> int:
        """Return how many guesses were right."""
        return self.first_right + self.second_right

    @property
    def guesses(self) -> int:
        """Return how many guesses were made."""
        return self.right + self.first_wrong + self.second_wrong

    @property
    def sides(self) -> tuple[tuple[int, int, tuple[int, int]], ...]:
        """Return for each input how often it was guessed on it and on the other, and of how many."""
        return (
            (self.first_right, self.second_wrong, (self.first, self.second)),
            (self.second_right, self.first_wrong, (self.second, self.first)),
        )


@dataclass(frozen=True, slots=True)
class LossMeasure:
    """What is bounded from below: mu, or epsilon at `delta`; `fair` if each input had a fair coin.

    `alpha`: how often the bound may exceed the truth when it is measured.
    """

    gaussian: bool = False
    delta: float = 0.0
    fair: bool = True
    alpha: float = _STRICT

    def promise(self, tally: GuessCount) -> float:
        """Return about the bound, quickly: for choosing, never for telling.

        A rule of few guesses looks good by luck more often than one of many, and of many rules the luckiest is
        taken: so the level is that of the measurement, and 1e-3 at least.
        """
        z = -NormalDist().inv_cdf(min(self.alpha, _STRICT))
        right = _near(tally.right, tally.guesses, z)
        if not (self.gaussian or self.delta) and self.fair:
            return max(0.0, math.log(right / (1 - right))) if right > 0 else 0.0
        found = 0.0
        for likely, unlikely, (n, m) in tally.sides:
            above, below = _near(likely, n, z), 1 - _near(m - unlikely, m, z)
            if self.gaussian and above > 0 and below < 1:
                found = max(found, NormalDist().inv_cdf(above) - NormalDist().inv_cdf(below))
            elif not self.gaussian and above > self.delta + below:
                found = max(found, math.log((above - self.delta) / below))
        return found

    def bound(self, tally: GuessCount, *, alpha: float) -> float:
        """Return a lower bound that exceeds the truth with probability at most alpha."""
        if not (self.gaussian or self.delta) and self.fair:
            return epsilon_from_guesses(tally.right, tally.guesses, alpha=alpha)
        if self.gaussian:
            return max(mu_from_shares(*side, alpha=alpha / 2) for side in tally.sides)
        return max(
            epsilon_from_shares(*side, delta=self.delta, alpha=alpha / 2) for side in tally.sides
        )


def _near(successes: int, trials: int, z: float) -> float:
    """Return Wilson's lower limit of a share, inside (0, 1): close to the exact one, in closed form."""
    return wilson(successes, trials, z)[0] if successes else 0.0


def epsilon_from_guesses(right: int, guesses: int, *, alpha: float) -> float:
    """Return a lower bound on epsilon from guesses which of two equally likely neighbours it was.

    Guarantee: under epsilon-DP each guess, made from the output alone and perhaps not made at all, is
        right with probability at most e^epsilon / (1 + e^epsilon), whatever came before; so `right`
        is below a binomial number, and the bound exceeds the truth with probability at most alpha.

    >>> round(epsilon_from_guesses(7500, 10_000, alpha=0.05), 2)          # the truth is ln 3 = 1.10
    1.06
    """
    if guesses == 0:
        return 0.0
    share = lower_limit(right, guesses, alpha)
    if share <= 0.5:
        return 0.0
    return math.log(share / (1 - share)) if share < 1 else math.inf


def epsilon_from_shares(
    likely: int, unlikely: int, trials: tuple[int, int], *, delta: float, alpha: float
) -> float:
    """Return a lower bound on epsilon from how often one event happened on each neighbour.

    (epsilon, delta)-DP means P(E) <= e^epsilon P'(E) + delta; both limits are Clopper-Pearson's at
    alpha / 2.
    """
    above = lower_limit(likely, trials[0], alpha / 2) - delta
    below = upper_limit(unlikely, trials[1], alpha / 2)
    return math.log(above / below) if above > below else 0.0


def mu_from_shares(likely: int, unlikely: int, trials: tuple[int, int], *, alpha: float) -> float:
    """Return a lower bound on mu: the two neighbours are no nearer than N(0, 1) and N(mu, 1).

    mu-Gaussian-DP means that a test which is right with P(E) is wrong with at least
    Phi(Phi^-1(P(E)) - mu) [Dong, Roth & Su 2022]; limits as in `epsilon_from_shares`.
    """
    above = lower_limit(likely, trials[0], alpha / 2)
    below = upper_limit(unlikely, trials[1], alpha / 2)
    if not 0 < above < 1 or not 0 < below < 1:
        return 0.0
    normal = NormalDist()
    return max(0.0, normal.inv_cdf(above) - normal.inv_cdf(below))


def epsilon_from_one_run(
    right: int, guesses: int, canaries: int, *, delta: float, alpha: float
) -> float:
    """Return a lower bound on epsilon from one run with many canaries, each in or out by a coin.

    Guarantee: the greatest epsilon that the p-value of Steinke, Nasr & Jagielski (2023, theorem 3)
        rejects at level alpha.
    """
    low, high = 0.0, 50.0
    if _p_value(right, guesses, canaries, 0.0, delta) > alpha:
        return 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _p_value(right, guesses, canaries, middle, delta) <= alpha:
            low = middle
        else:
            high = middle
    return low


def _p_value(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """Return the chance of so many right guesses under (epsilon, delta)-DP, at the most."""
    share = 1 / (1 + math.exp(-epsilon))
    beta = sum(_mass(k, guesses, share) for k in range(right, guesses + 1))
    if not delta:
        return min(1.0, beta)
    steepest, total = 0.0, 0.0
    for i in range(1, right + 1):
        total += _mass(right - i, guesses, share)
        steepest = max(steepest, total / i)
    return min(1.0, beta + 2 * canaries * delta * steepest)


def _mass(k: int, n: int, share: float) -> float:
    if share >= 1:
        return float(k == n)
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(share) + (n - k) * math.log1p(-share))
