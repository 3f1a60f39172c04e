"""A network: learned from paid rows, predicts the class of a row of codes, and can be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from discreet.account.batch import NoisySteps
from discreet.core.arrays import Floats, Integers
from discreet.core.progress import Progress
from discreet.errors import InternalError, InvalidInput
from discreet.learn.fit_classifier import count_features
from discreet.learn.measure.residual_sums import PrivateResiduals
from discreet.learn.measure.rows import FINE, best_class
from discreet.learn.model import Classifier, CodedModel
from discreet.learn.sgd.budget import COUNTING_SHARE
from discreet.learn.sgd.inputs import CodeInputs, code_inputs_from, inputs_of
from discreet.learn.sgd.layers import LARGEST_WEIGHT, WIDEST, Layers, scores
from discreet.learn.sgd.train import UnitRows, trained_layers
from discreet.noise.rng import Rng
from discreet.synth.columns import Encoding
from discreet.synth.shape import Codes


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
