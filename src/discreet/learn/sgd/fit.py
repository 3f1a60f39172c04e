"""From paid rows to a network: counts, inputs and noisy steps."""

from __future__ import annotations

import numpy as np

from discreet.account.noisy_steps import NoisySteps
from discreet.errors import InternalError
from discreet.learn.measure.residual_sums import LearningDoor
from discreet.learn.measure.rows import Integers, Reals
from discreet.learn.methods import count_features
from discreet.learn.sgd.budget import COUNTING_SHARE
from discreet.learn.sgd.inputs import inputs_of
from discreet.learn.sgd.model import NetworkClassifier
from discreet.learn.sgd.train import UnitRows, trained_layers
from discreet.noise.rng import Rng
from discreet.synth.encoding.columns import Encoding
from discreet.synth.encoding.shape import Codes
from discreet.synth.progress import Progress


def fit_network(
    door: LearningDoor,
    rows: tuple[Codes, Integers],
    encoding: Encoding,
    *,
    steps: NoisySteps,
    rng: Rng,
    progress: Progress,
) -> tuple[NetworkClassifier, Reals]:
    """Return a network, and the noisy share of each class.

    `rows` are codes and units; they are used for noisy steps only. The door pays for the counts.
    """
    codes, unit = rows
    progress(0, 1, "counting features by class")
    features, variance = count_features(door, encoding, COUNTING_SHARE)
    inputs, shares = inputs_of(features, variance)
    size = float(np.mean([feature.counts.sum() for feature in features]))
    there = UnitRows(inputs.of(codes), codes[:, -1].astype(np.int64), unit)
    layers = trained_layers(there, shares, size, steps=steps, rng=rng, progress=progress)
    if layers.size > steps.coordinates:
        raise InternalError("a network with more weights than were priced")
    return NetworkClassifier(encoding, inputs, layers), shares
