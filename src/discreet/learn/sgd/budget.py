"""What training a network costs: noisy steps fixed beforehand, with counts and choices beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.account.batch import NoisySteps, least_noise
from discreet.account.convert import rho_of_target
from discreet.account.price import price
from discreet.core.event import Approximate
from discreet.core.numbers import Delta, Epsilon
from discreet.core.region import Region
from discreet.core.unit import Neighbours
from discreet.errors import InvalidInput
from discreet.learn.learners import CHECKING, COUNTING
from discreet.learn.sgd.clipped import BOUND
from discreet.learn.sgd.inputs import MOST_INPUTS
from discreet.learn.sgd.train import RATE, STEPS, UNITS
from discreet.synth.budget import LARGEST, THRESHOLD_PART, SynthBudget, too_small
from discreet.synth.measure.private_marginals import MarginalBudget

LEARNING = Fraction(1, 8)
"""The part that learns domains which are not declared; counting and checking have those of other models."""

COUNTING_SHARE = COUNTING / (COUNTING + CHECKING)
"""What the counting takes of the budget beside the steps; the rest checks the model."""

MOST_CLASSES = 10


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """Public facts that fix the size of a network: its features and classes."""

    features: int
    classes: int

    @property
    def weights(self) -> int:
        """Return how many weights there are at most."""
        outputs = 1 if self.classes == 2 else self.classes
        width = min(self.features * outputs, MOST_INPUTS)
        return (width + 1) * UNITS + (width + UNITS + 1) * outputs


def network_budget(
    epsilon: Epsilon,
    delta: Delta,
    shape: NetworkShape,
    *,
    region: Region,
    neighbours: Neighbours,
    learns: bool,
    words: int,
) -> tuple[SynthBudget, NoisySteps]:
    """Return what (epsilon, delta) buys: rho for counts beside the steps, and the noise of each step.

    Guarantee: all of it together is (epsilon, delta)-DP: the steps and rho by `steps_epsilon`, for
        one unit added or removed; replacing one is removing and adding, so it gets half of epsilon
        and delta / (1 + e^(epsilon/2)). Thresholds have their own part of delta. (docs/notes/0053)
    """
    if not delta.value:
        raise InvalidInput(
            "A network needs delta: its noise is Gaussian.",
            hint="Use --delta 1e-9, or --model bayes. Nothing was charged.",
        )
    if shape.classes > MOST_CLASSES:
        raise InvalidInput(
            f"A network tells at most {MOST_CLASSES} classes apart; the target has {shape.classes}.",
            hint="Use --model boosted. Nothing was charged.",
        )
    risk = delta.value * THRESHOLD_PART if words else Fraction(0)
    target, left = epsilon.value, delta.value - risk
    if neighbours is Neighbours.REPLACE_ONE:
        target /= neighbours.moves
        left /= 1 + Fraction(math.exp(min(float(target), 600)) * 1.001)
    learning = LEARNING if learns else Fraction(0)
    rho = min(rho_of_target(target, left), LARGEST) * (COUNTING + CHECKING + learning)
    blank = NoisySteps(STEPS, RATE, shape.weights, BOUND, Fraction(BOUND) ** 2)
    steps = least_noise(blank, rho=rho, epsilon=target, delta=left) if rho else None
    if steps is None:
        raise too_small(epsilon)
    quote = price(
        Approximate(epsilon.value, delta.value), epsilon=epsilon, delta=delta, region=region
    )
    budget = MarginalBudget(rho, concentrated=True)
    share = learning / (COUNTING + CHECKING + learning)
    return SynthBudget(budget, share, risk, delta, quote), steps
