"""Scores of members: four statistics of published allele frequencies, and how well a score tells members from others.

A genotype row holds 0, 1 or 2 minor alleles at each locus. `published` are the study's frequencies of
the minor allele, `reference` those of the population that the adversary compares with. Each function
returns one score a row; the higher, the more likely a member.

How well: the area under the curve, and rates at a threshold.
Of people one by one DeLong's interval. People who were scored by one model share its luck, so they do not count
as so many trials: then intervals are over models, which were trained on coins of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.base.arrays import Bits, Floats
from discreet.errors import InvalidInput
from discreet.lab.attacks.attacks import Score
from discreet.work.learn.evaluation import placements

Genotypes: TypeAlias = npt.NDArray[np.int8]
Statistic: TypeAlias = Callable[[Genotypes, Floats, Floats], Floats]
PEOPLE_A_CHUNK = 200
_EDGE = 1e-4


def homer(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return |row - reference| - |row - published|, summed over loci (Homer et al. 2008)."""
    near, far = published.astype(np.float32), reference.astype(np.float32)

    def of(part: Genotypes) -> Floats:
        share = part * np.float32(0.5)
        return np.asarray(
            (np.abs(share - far) - np.abs(share - near)).sum(axis=1, dtype=np.float64)
        )

    return _chunked(rows, of)


def inner_product(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return <row - reference, published - reference> (Dwork et al. 2015)."""
    return _projected(rows, published - reference, reference)


def scaled_product(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return the inner product with each locus measured in units of its own spread."""
    spread = np.clip(reference * (1 - reference), _EDGE, None)
    return _projected(rows, (published - reference) / spread, reference)


def likelihood_ratio(rows: Genotypes, published: Floats, reference: Floats) -> Floats:
    """Return the log likelihood of a row under the study's frequencies over the population's.

    Most powerful when loci are independent (Sankararaman et al. 2009). Frequencies outside (0, 1),
    as noise makes them, are moved inside: post-processing by the adversary.
    """
    study = np.clip(published, _EDGE, 1 - _EDGE)
    people = np.clip(reference, _EDGE, 1 - _EDGE)
    minor, major = np.log(study / people), np.log((1 - study) / (1 - people))
    return _projected(rows, 2 * (minor - major), np.zeros(len(minor))) + 2 * float(major.sum())


STATISTICS: Mapping[str, Statistic] = MappingProxyType(
    {
        "homer": homer,
        "inner-product": inner_product,
        "scaled-product": scaled_product,
        "likelihood-ratio": likelihood_ratio,
    }
)


def _projected(rows: Genotypes, direction: Floats, centre: Floats) -> Floats:
    return _chunked(rows, lambda part: (part * 0.5) @ direction) - float(centre @ direction)


def _chunked(rows: Genotypes, of: Callable[[Genotypes], Floats]) -> Floats:
    scores = np.empty(len(rows))
    for start in range(0, len(rows), PEOPLE_A_CHUNK):
        scores[start : start + PEOPLE_A_CHUNK] = of(rows[start : start + PEOPLE_A_CHUNK])
    return scores


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


_STEPS = 80


def student_quantile(chance: float, freedom: int) -> float:
    """Return t such that Student's law with whole degrees of freedom lies below t with this chance.

    >>> round(student_quantile(0.975, 9), 4)
    2.2622
    """
    low, high = 0.0, 1.0
    while _within(high, freedom) < 2 * chance - 1:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 2 * chance - 1 else (low, middle)
    return high


def _within(t: float, freedom: int) -> float:
    """Return P(|T| < t), by the finite sums for whole degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, total = math.cos(angle), 0.0
    term = 1.0 if freedom % 2 == 0 else cosine
    for k in range(freedom % 2 + 1, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    if freedom % 2 == 0:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + math.sin(angle) * total)


def mean_interval(values: Floats) -> tuple[float, float, float]:
    """Return the mean and Student's 95% interval for it.

    >>> import numpy as np
    >>> tuple(round(x, 3) for x in mean_interval(np.array([1.0, 2, 3, 4])))
    (2.5, 0.446, 4.554)
    """
    mean, n = float(values.mean()), len(values)
    half = student_quantile(0.975, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half
