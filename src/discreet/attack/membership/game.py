"""Membership inference (loss, shadow models, LiRA): everybody is in or out by a coin, and an adversary says who was.

A row of a score matrix is a trained model (or a made copy), a column a person; the score says how well the
model knows that person. Shadows are models that the adversary trained on coins it knows; victims are
models whose coins it guesses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers

_BINS = 20
_SOFT = 1.0
_LEAST_SPREAD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Models by people: the score of each, and whether the person was in.

    `classes` is what is known of each person beside the score (the true class), for adversaries who
    treat each class by itself.
    """

    scores: Floats
    inside: Bits
    classes: Integers

    def only(self, models: slice) -> Played:
        """Return some of the models."""
        return Played(self.scores[models], self.inside[models], self.classes)


def coins(models: int, people: int, dice: np.random.Generator) -> Bits:
    """Return who is in each training: a fair coin for each, apart from everybody else's.

    Independent coins, not halves of one size: so a person in and a person out are neighbours by one
    row, which is what an add-or-remove epsilon speaks about. (docs/notes/0052)
    """
    return np.asarray(dice.random((models, people)) < 0.5)


def by_loss(_shadows: Played, victims: Played) -> Floats:
    """Return the score itself: members are fitted better than others (Yeom et al. 2018)."""
    return victims.scores


def by_shadow_models(shadows: Played, victims: Played) -> Floats:
    """Return the log odds of being in, learned for each class from all shadows (Shokri et al. 2017).

    The attack model is a histogram of scores, in and out, over bins with equally many shadows' scores.
    """
    found = np.empty_like(victims.scores)
    for each in np.unique(shadows.classes):
        of = shadows.classes == each
        known, inside = shadows.scores[:, of], shadows.inside[:, of]
        edges = np.unique(np.quantile(known, np.linspace(0, 1, _BINS + 1)[1:-1]))
        place = np.searchsorted(edges, known, side="right")
        counts = [np.bincount(place[side], minlength=len(edges) + 1) for side in (inside, ~inside)]
        shares = [(count + _SOFT) / (count + _SOFT).sum() for count in counts]
        odds = np.log(shares[0] / shares[1])
        found[:, of] = odds[np.searchsorted(edges, victims.scores[:, of], side="right")]
    return found


def by_likelihood_ratio(shadows: Played, victims: Played) -> Floats:
    """Return how much likelier a person's score is if in than if out (Carlini et al. 2022, LiRA).

    Each person has a normal law of scores with them and one without them, from the shadows; the
    spread is shared by all people where shadows are few, as in the paper.
    """
    inside, outside = _law(shadows, shadows.inside), _law(shadows, ~shadows.inside)
    return _log_density(victims.scores, *inside) - _log_density(victims.scores, *outside)


def _law(shadows: Played, side: Bits) -> tuple[Floats, Floats]:
    """Return mean and spread of each person's scores on one side; those of everybody if there are none."""
    scores, count = np.where(side, shadows.scores, 0.0), side.sum(axis=0)
    overall = shadows.scores[side].mean() if side.any() else 0.0
    mean = np.where(count > 0, scores.sum(axis=0) / np.maximum(count, 1), overall)
    gaps = np.where(side, (shadows.scores - mean) ** 2, 0.0).sum(axis=0)
    pooled = gaps.sum() / max(int(np.maximum(count - 1, 0).sum()), 1)
    few = shadows.scores.shape[0] < FEW_SHADOWS
    own = gaps / np.maximum(count - 1, 1)
    variance = np.where((count > 2) & (not few), own, pooled)
    return mean, np.sqrt(np.maximum(variance, _LEAST_SPREAD**2))


FEW_SHADOWS = 64
"""With fewer shadows the spread of scores is taken from all people together."""


def _log_density(scores: Floats, mean: Floats, spread: Floats) -> Floats:
    return np.asarray(-0.5 * ((scores - mean) / spread) ** 2 - np.log(spread))


Adversary = Callable[[Played, Played], Floats]
ADVERSARIES: Mapping[str, Adversary] = MappingProxyType(
    {
        "loss": by_loss,
        "shadow": by_shadow_models,
        "likelihood-ratio": by_likelihood_ratio,
    }
)


def threshold_for(adversary: Adversary, shadows: Played, rate: float) -> float:
    """Return the score above which at most a share `rate` of those outside are claimed.

    The adversary plays it with half of its own shadows against the other half, and the other way.
    """
    half = shadows.scores.shape[0] // 2
    ends = (slice(None, half), slice(half, None))
    out = []
    for known, played in (ends, ends[::-1]):
        guessed = adversary(shadows.only(known), shadows.only(played))
        out.append(guessed[~shadows.inside[played]])
    return float(np.quantile(np.concatenate(out), 1 - rate, method="higher"))
