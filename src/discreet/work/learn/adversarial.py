"""Adversarial training: an encoder of public rows that serves a task and hides an attribute.

The adversary's slope enters the encoder reversed. Afterwards a fresh, stronger adversary tries again on what
the encoder gives: what it recovers is reported, also when it wins. Hiding from one adversary is no
guarantee against the next, and nothing here is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.base.arrays import Bits, Floats
from discreet.errors import InvalidInput, UnknownName
from discreet.work.learn.evaluation import exact_share
from discreet.work.learn.read_file import read_table

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


MOST_VALUES = 40
FEWEST_ROWS = 100
MOST_ROWS = 8000
"""Of a longer file that many are taken, evenly: enough to see what comes back."""


def task_rows(path: Path, target: str, sensitive: str, features: Sequence[str]) -> TaskRows:
    """Return inputs, task and attribute of a file whose rows are public; no input is the attribute."""
    table = read_table(path)
    if table.num_rows > MOST_ROWS:
        table = table.take(np.linspace(0, table.num_rows - 1, MOST_ROWS).astype(np.int64))
    place = {name.lower(): name for name in table.column_names}
    for name in (target, sensitive, *features):
        if name.lower() not in place:
            raise UnknownName(f"'{path.name}' has no column '{name[:60]}'.")
    if target.lower() == sensitive.lower():
        raise InvalidInput("The task and the attribute to hide are the same column.")
    if table.num_rows < FEWEST_ROWS:
        raise InvalidInput(f"'{path.name}' has fewer than {FEWEST_ROWS} rows.")
    wanted = [f.lower() for f in features] or list(place)
    inputs = [name for name in wanted if name not in (target.lower(), sensitive.lower())]
    parts = [part for name in inputs for part in _columns(table.column(place[name]))]
    if not parts:
        raise InvalidInput("There is no column to learn from.")
    both = [_classes(table.column(place[n.lower()]), n) for n in (target, sensitive)]
    return TaskRows(np.stack(parts, axis=1), both[0], both[1])


def _columns(column: pa.ChunkedArray) -> list[Floats]:
    texts = ["" if value is None else str(value) for value in column.to_pylist()]
    try:
        numbers = np.array([float(text or "nan") for text in texts])
    except ValueError:
        return [
            np.array([text == value for text in texts], dtype=float) for value in _common(texts)
        ]
    known = np.isfinite(numbers)
    if not known.any():
        return []
    spread = float(numbers[known].std()) or 1.0
    scaled = np.clip((numbers - numbers[known].mean()) / spread, -4, 4)
    return [np.where(known, scaled, 0.0)]


def _common(texts: list[str]) -> list[str]:
    values, counts = np.unique(texts, return_counts=True)
    return [str(values[i]) for i in np.argsort(-counts, kind="stable")[:MOST_VALUES]]


def _classes(column: pa.ChunkedArray, name: str) -> Floats:
    texts = ["" if value is None else str(value) for value in column.to_pylist()]
    values = sorted(set(texts))
    if not 2 <= len(values) <= MOST_VALUES:
        raise InvalidInput(
            f"Column '{name[:60]}' has {len(values)} different values; 2 to {MOST_VALUES} are classes."
        )
    return np.array([[text == value for value in values] for text in texts], dtype=float)
