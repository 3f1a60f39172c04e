"""Neural network: what its training costs, how it is learned from paid rows, and the trained model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.base.arrays import Floats, Integers
from discreet.base.display import Progress
from discreet.base.event import Approximate, Region
from discreet.base.numbers import Delta, Epsilon
from discreet.base.unit import Neighbours
from discreet.errors import InternalError, InvalidInput
from discreet.measure.budget import LARGEST, THRESHOLD_PART, SynthBudget, too_small
from discreet.measure.columns import Encoding
from discreet.measure.private_marginals import MarginalBudget
from discreet.measure.shape import Codes
from discreet.privacy.account.batch import NoisySteps, least_noise
from discreet.privacy.account.convert import rho_of_target
from discreet.privacy.account.price import price
from discreet.privacy.noise.rng import Rng
from discreet.work.learn.classifier import Classifier, CodedModel, count_features
from discreet.work.learn.learners.dp_sgd import (
    BOUND,
    LARGEST_WEIGHT,
    MOST_INPUTS,
    RATE,
    STEPS,
    UNITS,
    WIDEST,
    CodeInputs,
    Layers,
    UnitRows,
    code_inputs_from,
    inputs_of,
    scores,
    trained_layers,
)
from discreet.work.learn.learners.registry import CHECKING, COUNTING
from discreet.work.learn.private_rows import FINE, PrivateResiduals, best_class

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


@dataclass(frozen=True, slots=True, eq=False)
class NetworkClassifier(CodedModel):
    """Predicts the class with the greatest score; `encoding` holds the features and the target last."""

    encoding: Encoding
    inputs: CodeInputs
    layers: Layers
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Return the name of the method."""
        return "network"

    def guesses(self, codes: Codes) -> Integers:
        """Return the predicted class of each row: whole numbers, the same everywhere."""
        return best_class(scores(self.layers, self.inputs.of(codes))[0])

    def chances(self, codes: Codes) -> Floats:
        """Return the predicted probability of each class."""
        found = scores(self.layers, self.inputs.of(codes))[0] / FINE
        if found.shape[1] == 1:
            found = np.concatenate([np.zeros_like(found), found], axis=1)
        weights = np.exp(found - found.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def reaches(self) -> dict[str, float]:
        """Return how far each feature can move the log-odds directly, hidden units aside."""
        found, place = {}, 0
        for column, table in zip(self.inputs.columns, self.inputs.tables, strict=True):
            part = self.layers.out[place : place + table.shape[1]]
            place += table.shape[1]
            moved = np.ptp(table @ part, axis=0).max() / (64 * 1024)
            found[self.features[column].name] = float(moved)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return weights and inputs as plain numbers; the encoding is written beside them."""
        return {
            "kind": self.kind,
            "inputs": self.inputs.to_json(),
            "hidden": self.layers.hidden.astype(int).tolist(),
            "out": self.layers.out.astype(int).tolist(),
        }


AnyClassifier: TypeAlias = Classifier | NetworkClassifier
"""Every kind of trained classifier: sums of tables, and networks."""


def read(data: Mapping[str, Any], encoding: Encoding, facts: Any) -> NetworkClassifier:
    """Return the network that `to_json` wrote; every number in it is checked."""
    outputs = 1 if encoding.coded[-1].values == 2 else encoding.coded[-1].values
    if outputs < 1 or encoding.coded[-1].values < 2:
        raise InvalidInput("its target has fewer than two classes")
    sizes = [column.size for column in encoding.coded[:-1]]
    inputs = code_inputs_from(data["inputs"], sizes, outputs)
    hidden, out = (np.array(data[name], dtype=np.float64) for name in ("hidden", "out"))
    fits = hidden.ndim == 2 and hidden.shape[0] == inputs.width + 1
    fits = fits and out.shape == (inputs.width + hidden.shape[1] + 1, outputs)
    if not fits or inputs.width + hidden.shape[1] > WIDEST:
        raise InvalidInput("its weights have the wrong size")
    for part in (hidden, out):
        if not (np.abs(part) <= LARGEST_WEIGHT).all() or (part != np.rint(part)).any():
            raise InvalidInput("a weight in it is no whole number in range")
    return NetworkClassifier(encoding, inputs, Layers(hidden, out), dict(facts))


def fit(
    residuals: PrivateResiduals,
    rows: tuple[Codes, Integers],
    encoding: Encoding,
    *,
    steps: NoisySteps,
    rng: Rng,
    progress: Progress,
) -> tuple[NetworkClassifier, Floats]:
    """Return a network, and the noisy share of each class.

    `rows` are codes and units; they are used for noisy steps only. `residuals` pays for the counts.
    """
    codes, unit = rows
    progress(0, 1, "counting features by class")
    features, variance = count_features(residuals, encoding, COUNTING_SHARE)
    inputs, shares = inputs_of(features, variance)
    size = float(np.mean([feature.counts.sum() for feature in features]))
    there = UnitRows(inputs.of(codes), codes[:, -1].astype(np.int64), unit)
    layers = trained_layers(there, shares, size, steps=steps, rng=rng, progress=progress)
    if layers.size > steps.coordinates:
        raise InternalError("a network with more weights than were priced")
    return NetworkClassifier(encoding, inputs, layers), shares
