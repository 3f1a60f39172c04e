"""How well a score tells members from others: the area under the curve, and rates at a threshold.

Of people one by one DeLong's interval. People who were scored by one model share its luck, so they do not count
as so many trials: then intervals are over models, which were trained on coins of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from discreet.attack.outcome import Score
from discreet.attack.student import mean_interval, student_quantile
from discreet.core.arrays import Bits, Floats
from discreet.errors import InvalidInput
from discreet.learn.evaluation.score import placements

MEASURE = "AUC: chance that a member's score is above an outsider's"
FEWEST_MODELS = 4
_FARTHEST = 300.0


def auc_score(members: Floats, others: Floats) -> Score:
    """Return the area under the curve beside 1/2, what a score that knows nothing has.

    The interval is DeLong's (1988) on the logit scale, which keeps it inside [0, 1]; where the two
    groups are told apart without error, the exact limit of "no error among the smaller group".

    >>> round(auc_score(np.arange(1.0, 101), np.arange(0.0, 100)).success, 4)
    0.51
    """
    if not len(members) or not len(others):
        raise InvalidInput("Membership needs people inside the release and people outside it.")
    above = placements(members, others)
    below = placements(others, members)
    auc = float(above.mean())
    few = min(len(members), len(others))
    spread = (
        math.sqrt(above.var(ddof=1) / len(members) + below.var(ddof=1) / len(others))
        if (few > 1)
        else 0.0
    )
    low, high = _limits(auc, spread, few)
    return Score(auc, 0.5, low, high, MEASURE)


def _limits(auc: float, spread: float, few: int) -> tuple[float, float]:
    if spread == 0.0 or not 0 < auc < 1:
        # The zero-variance end: the chance of no error in `few` pairs at error rate r is (1 - r)^few.
        slack = 1 - 0.025 ** (1 / few)
        return max(0.0, auc - slack), min(1.0, auc + slack)
    return _on_logit(auc, NormalDist().inv_cdf(0.975) * spread)


def clustered_auc(guessed: Floats, inside: Bits) -> Score:
    """Return the chance that a member's score is above an outsider's, over all models together.

    The interval is Obuchowski's (1997): DeLong's placements summed within each model, and Student's
    law with as many degrees of freedom as there are models less one, on the logit scale.
    """
    models = len(guessed)
    _check(models)
    members, others = guessed[inside], guessed[~inside]
    above, below = placements(members, others), 1 - placements(others, members)
    auc = float(above.mean())
    # Per model: how far its members and its outsiders pull the mean.
    which = np.broadcast_to(np.arange(models)[:, None], guessed.shape)
    pull = np.bincount(which[inside], above - auc, models) / len(members) + np.bincount(
        which[~inside], below - auc, models
    ) / len(others)
    spread = math.sqrt(models / (models - 1) * float((pull**2).sum()))
    t = student_quantile(0.975, models - 1)
    return Score(auc, 0.5, *_on_logit(auc, t * spread), MEASURE)


def _on_logit(auc: float, half: float) -> tuple[float, float]:
    if not 0 < auc < 1:
        return max(auc - half, 0.0), min(auc + half, 1.0)
    middle, reach = math.log(auc / (1 - auc)), min(half / (auc * (1 - auc)), _FARTHEST)
    low, high = (1 / (1 + math.exp(-(middle + side * reach))) for side in (-1, 1))
    return low, high


@dataclass(frozen=True, slots=True)
class LowRates:
    """True and false positives at one threshold, and how the first compares with what epsilon allows.

    `excess` is the true-positive rate less e^epsilon times the false-positive rate less delta: at most
    0 for an (epsilon, delta)-private model, whatever the threshold.
    """

    true: tuple[float, float, float]
    false: tuple[float, float, float]
    excess: tuple[float, float, float] | None

    def to_json(self) -> dict[str, Any]:
        """Return the rates as plain numbers."""
        names = ("value", "low", "high")
        found = {
            "true_positives": dict(zip(names, self.true, strict=True)),
            "false_positives": dict(zip(names, self.false, strict=True)),
        }
        if self.excess is not None:
            found["beyond_epsilon"] = dict(zip(names, self.excess, strict=True))
        return found


def low_rates(
    guessed: Floats, inside: Bits, threshold: float, allowed: tuple[float, float] | None
) -> LowRates:
    """Return the rates above a threshold, each with Student's interval over the models."""
    _check(len(guessed))
    claimed = guessed > threshold
    true = (claimed & inside).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    false = (claimed & ~inside).sum(axis=1) / np.maximum((~inside).sum(axis=1), 1)
    excess = None
    if allowed is not None:
        epsilon, delta = allowed
        excess = mean_interval(true - math.exp(min(epsilon, 700.0)) * false - delta)
    return LowRates(mean_interval(true), mean_interval(false), excess)


def _check(models: int) -> None:
    if models < FEWEST_MODELS:
        raise InvalidInput(f"An interval over models needs at least {FEWEST_MODELS} of them.")
