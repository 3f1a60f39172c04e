"""Adversarial training: an encoder that serves a task and tries to hide an attribute from an adversary.

The adversary's slope enters the encoder reversed. Afterwards a fresh, stronger adversary tries again on what
the encoder gives: what it recovers is reported, also when it wins. Hiding from one adversary is no
guarantee against the next.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from discreet.core.arrays import Bits, Floats
from discreet.learn.evaluation.score import exact_share

AHEAD = 5
"""Steps of the adversary for each step of the encoder."""

CODE, ROUNDS, FRESH_ROUNDS, FRESH_UNITS = 8, 200, 400, 64
PACE, FADE, FADE_SQUARES, DECAY = 0.01, 0.9, 0.999, 0.1


@dataclass(slots=True)
class PublicNet:
    """A small feed-forward network, trained by Adam on whole batches: for public rows only.

    Layers with tanh between them; `sizes` are their widths, the last one are the outputs.
    """

    sizes: tuple[int, ...]
    seed: int = 0
    weights: list[Floats] = field(default_factory=list)
    moments: list[tuple[Floats, Floats]] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        source = np.random.default_rng(self.seed)  # no guarantee: where public weights start
        for one, two in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            self.weights.append(source.normal(0, one**-0.5, (one + 1, two)))
            self.moments.append((np.zeros((one + 1, two)), np.zeros((one + 1, two))))

    def run(self, inputs: Floats, *, last_bent: bool = False) -> list[Floats]:
        """Return the inputs and the values after each layer."""
        found = [inputs]
        for i, matrix in enumerate(self.weights):
            value = found[-1] @ matrix[:-1] + matrix[-1]
            bent = last_bent or i + 1 < len(self.weights)
            found.append(np.tanh(value) if bent else value)
        return found

    def learn(self, passed: list[Floats], error: Floats, *, last_bent: bool = False) -> Floats:
        """Move the weights against `error` (the slope of the loss at the outputs); return the inputs'."""
        self.steps += 1
        for i in reversed(range(len(self.weights))):
            if last_bent or i + 1 < len(self.weights):
                error = error * (1 - passed[i + 1] ** 2)
            slope = np.concatenate([passed[i].T @ error, error.sum(axis=0, keepdims=True)])
            error = error @ self.weights[i][:-1].T
            self._move(i, slope / len(passed[0]))
        return error

    def _move(self, i: int, slope: Floats) -> None:
        first, second = self.moments[i]
        first, second = (
            FADE * first + (1 - FADE) * slope,
            FADE_SQUARES * second + (1 - FADE_SQUARES) * slope**2,
        )
        self.moments[i] = first, second
        scale = np.sqrt(second / (1 - FADE_SQUARES**self.steps)) + 1e-8
        self.weights[i] = (
            self.weights[i] * (1 - PACE * DECAY) - PACE * first / (1 - FADE**self.steps) / scale
        )


def class_error(scores: Floats, truth: Floats) -> Floats:
    """Return the slope of the log-loss at the scores: predicted chances minus the truth (one-hot)."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True) - truth)


def share_right(scores: Floats, truth: Floats) -> float:
    """Return how often the greatest score is the true class."""
    return float((scores.argmax(axis=1) == truth.argmax(axis=1)).mean())


@dataclass(frozen=True, slots=True)
class HidingResult:
    """How well the task went and how much of the attribute came back, with and without hiding."""

    task: dict[str, Any]
    task_open: dict[str, Any]
    task_baseline: float
    during: float
    fresh: dict[str, Any]
    fresh_open: dict[str, Any]
    baseline: float

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers; there is no guarantee, and that is one of the facts."""
        return asdict(self) | {"guarantee": False}


@dataclass(frozen=True, slots=True, eq=False)
class TaskRows:
    """Public rows as numbers: inputs, and one column for each class of task and attribute."""

    inputs: Floats
    task: Floats
    sensitive: Floats

    def half(self, which: Bits) -> TaskRows:
        """Return some of the rows."""
        return TaskRows(self.inputs[which], self.task[which], self.sensitive[which])


def hidden(rows: TaskRows, strength: float, *, seed: int = 0) -> HidingResult:
    """Return what hiding did, measured on the half of the rows that nothing was trained on.

    Guarantee: none.
    """
    source = np.random.default_rng(seed)  # no guarantee: which public rows test
    first = source.random(len(rows.inputs)) < 0.5
    train, test = rows.half(first), rows.half(~first)
    shut, during = _encoder(train, test, strength, seed)
    plain, _ = _encoder(train, test, 0.0, seed)
    return HidingResult(
        task=_measured(shut.task_scores(test.inputs), test.task),
        task_open=_measured(plain.task_scores(test.inputs), test.task),
        task_baseline=_most(test.task),
        during=during,
        fresh=_fresh(shut, train, test, seed),
        fresh_open=_fresh(plain, train, test, seed),
        baseline=_most(test.sensitive),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Encoder:
    body: PublicNet
    head: PublicNet

    def codes(self, inputs: Floats) -> Floats:
        return self.body.run(inputs, last_bent=True)[-1]

    def task_scores(self, inputs: Floats) -> Floats:
        return self.head.run(self.codes(inputs))[-1]


def _encoder(train: TaskRows, test: TaskRows, strength: float, seed: int) -> tuple[_Encoder, float]:
    """Return an encoder with its task head, and how often the adversary in training was right."""
    body = PublicNet((train.inputs.shape[1], 2 * CODE, CODE), seed)
    head = PublicNet((CODE, train.task.shape[1]), seed + 1)
    adversary = PublicNet((CODE, 2 * CODE, train.sensitive.shape[1]), seed + 2)
    for _ in range(ROUNDS):
        passed = body.run(train.inputs, last_bent=True)
        seen = head.run(passed[-1])
        wanted = head.learn(seen, class_error(seen[-1], train.task))
        for _ in range(AHEAD):  # an adversary that lags behind is fooled, not answered
            tried = adversary.run(passed[-1])
            told = adversary.learn(tried, class_error(tried[-1], train.sensitive))
        body.learn(passed, wanted - strength * told, last_bent=True)  # reversed: away from telling
    found = _Encoder(body, head)
    return found, share_right(adversary.run(found.codes(test.inputs))[-1], test.sensitive)


def _fresh(encoder: _Encoder, train: TaskRows, test: TaskRows, seed: int) -> dict[str, Any]:
    """Return how often a fresh, larger adversary is right that saw the finished codes only."""
    rival = PublicNet((CODE, FRESH_UNITS, train.sensitive.shape[1]), seed + 3)
    codes = encoder.codes(train.inputs)
    for _ in range(FRESH_ROUNDS):
        passed = rival.run(codes)
        rival.learn(passed, class_error(passed[-1], train.sensitive))
    return _measured(rival.run(encoder.codes(test.inputs))[-1], test.sensitive)


def _measured(scores: Floats, truth: Floats) -> dict[str, Any]:
    right = int((scores.argmax(axis=1) == truth.argmax(axis=1)).sum())
    return exact_share(right, len(truth))


def _most(truth: Floats) -> float:
    return round(float(truth.mean(axis=0).max()), 6)
