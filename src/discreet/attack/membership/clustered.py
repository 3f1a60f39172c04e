"""Scores of people within models: area under the curve and rates, with intervals over the models.

People who were scored by one model share its luck, so they do not count as so many trials: all
intervals here are over models, which were trained on coins of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.attack.membership.auc import MEASURE
from discreet.attack.outcome import Score
from discreet.attack.student import mean_interval, student_quantile
from discreet.core.arrays import Bits, Floats
from discreet.errors import InvalidInput
from discreet.learn.scored.score import placements

FEWEST_MODELS = 4
_FARTHEST = 300.0


def clustered_auc(guessed: Floats, inside: Bits, *, confidence: float = 0.95) -> Score:
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
    t = student_quantile((1 + confidence) / 2, models - 1)
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
