"""How well a score tells members from others: the area under the curve, with DeLong's interval."""

from __future__ import annotations

import math
from statistics import NormalDist

from discreet.attack.outcome import Score
from discreet.core.arrays import Floats
from discreet.errors import InvalidInput
from discreet.learn.scored.score import placements

MEASURE = "AUC: chance that a member's score is above an outsider's"


def auc_score(members: Floats, others: Floats, *, confidence: float = 0.95) -> Score:
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
    low, high = _limits(auc, spread, few, confidence)
    return Score(auc, 0.5, low, high, MEASURE)


def _limits(auc: float, spread: float, few: int, confidence: float) -> tuple[float, float]:
    if spread == 0.0 or not 0 < auc < 1:
        # The zero-variance end: the chance of no error in `few` pairs at error rate r is (1 - r)^few.
        slack = 1 - ((1 - confidence) / 2) ** (1 / few)
        return max(0.0, auc - slack), min(1.0, auc + slack)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = math.log(auc / (1 - auc))
    reach = z * spread / (auc * (1 - auc))
    return _logistic(centre - reach), _logistic(centre + reach)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0
