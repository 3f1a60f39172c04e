"""A small feed-forward network in numpy, trained by Adam on whole batches: for public rows only."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.learn.measure.rows import Reals

PACE, FADE, FADE_SQUARES, DECAY = 0.01, 0.9, 0.999, 0.1


@dataclass(slots=True)
class PublicNet:
    """Layers with tanh between them; `sizes` are their widths, the last one are the outputs."""

    sizes: tuple[int, ...]
    seed: int = 0
    weights: list[Reals] = field(default_factory=list)
    moments: list[tuple[Reals, Reals]] = field(default_factory=list)
    steps: int = 0

    def __post_init__(self) -> None:
        source = np.random.default_rng(self.seed)  # no guarantee: where public weights start
        for one, two in zip(self.sizes[:-1], self.sizes[1:], strict=True):
            self.weights.append(source.normal(0, one**-0.5, (one + 1, two)))
            self.moments.append((np.zeros((one + 1, two)), np.zeros((one + 1, two))))

    def run(self, inputs: Reals, *, last_bent: bool = False) -> list[Reals]:
        """Return the inputs and the values after each layer."""
        found = [inputs]
        for i, matrix in enumerate(self.weights):
            value = found[-1] @ matrix[:-1] + matrix[-1]
            bent = last_bent or i + 1 < len(self.weights)
            found.append(np.tanh(value) if bent else value)
        return found

    def learn(self, passed: list[Reals], error: Reals, *, last_bent: bool = False) -> Reals:
        """Move the weights against `error` (the slope of the loss at the outputs); return the inputs'."""
        self.steps += 1
        for i in reversed(range(len(self.weights))):
            if last_bent or i + 1 < len(self.weights):
                error = error * (1 - passed[i + 1] ** 2)
            slope = np.concatenate([passed[i].T @ error, error.sum(axis=0, keepdims=True)])
            error = error @ self.weights[i][:-1].T
            self._move(i, slope / len(passed[0]))
        return error

    def _move(self, i: int, slope: Reals) -> None:
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


def class_error(scores: Reals, truth: Reals) -> Reals:
    """Return the slope of the log-loss at the scores: predicted chances minus the truth (one-hot)."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True) - truth)


def share_right(scores: Reals, truth: Reals) -> float:
    """Return how often the greatest score is the true class."""
    return float((scores.argmax(axis=1) == truth.argmax(axis=1)).mean())
