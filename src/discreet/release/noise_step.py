"""Exact results to noisy ones: the only place where the two meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.noise.additive import discrete_gaussian_squared, discrete_laplace
from discreet.noise.laws import LaplaceLaw
from discreet.noise.rng import Rng
from discreet.noise.select import exponential, exponential_rows, permute_and_flip
from discreet.plan.choose import Law, Mechanisms, Selection
from discreet.plan.top import Top
from discreet.release.reading import Exact, Group


@dataclass(frozen=True, slots=True)
class Noisy:
    """What may be shown: noisy integers by measure and chosen values by choice."""

    groups: tuple[Group, ...]
    measures: Mapping[str, list[int]]
    choices: Mapping[str, list[Any]]


def draw(law: Law, size: int, rng: Rng) -> list[int]:
    """Return fresh noise of a law, as Python integers."""
    if isinstance(law, LaplaceLaw):
        drawn = discrete_laplace(law.scale, size, rng=rng)
    else:
        drawn = discrete_gaussian_squared(law.sigma_squared, size, rng=rng)
    return [int(value) for value in drawn]


def add_noise(exact: Exact, mechanisms: Mechanisms, units: str | None, rng: Rng) -> Noisy:
    """Return noisy results; groups below the threshold vanish with everything about them.

    Guarantee: each measure gets independent noise of its planned law, each choice is one draw of
        the exponential mechanism; the thresholded count is the one that is shown.
    """
    if mechanisms.top is not None:
        (counts,) = exact.measures.values()
        return Noisy((exact.groups[_largest(counts, mechanisms.top, rng)],), {}, {})
    size = len(exact.groups)
    measures = {
        name: [
            value + noise
            for value, noise in zip(exact.measures[name], draw(law, size, rng), strict=True)
        ]
        for name, law in mechanisms.laws.items()
    }
    choices = {
        name: _choose(exact.histograms[name], selection, rng)
        for name, selection in mechanisms.selections.items()
    }
    if mechanisms.threshold is None:
        return Noisy(exact.groups, measures, choices)
    assert units is not None, "a threshold is on a measure"
    kept = [i for i in range(size) if measures[units][i] >= mechanisms.threshold]
    return Noisy(
        tuple(exact.groups[i] for i in kept),
        {name: [values[i] for i in kept] for name, values in measures.items()},
        {name: [values[i] for i in kept] for name, values in choices.items()},
    )


def _largest(counts: list[int], top: Top, rng: Rng) -> int:
    choose = permute_and_flip if top.flip else exponential
    return choose(
        np.array(counts, dtype=np.int64),
        top.sensitivity,
        top.epsilon,
        monotone=top.monotone,
        rng=rng,
    )


def _choose(histograms: npt.NDArray[np.int64], selection: Selection, rng: Rng) -> list[Any]:
    """Return one public value for each group.

    The utility of a bin is -|(1-q) * rows below it - q * rows above it|, in whole numbers after
    multiplying by the denominator of q.
    """
    if not len(histograms):
        return []
    q = selection.choice.quantile
    below = np.cumsum(histograms, axis=1) - histograms
    above = histograms.sum(axis=1, keepdims=True) - below - histograms
    top, bottom = q.numerator, q.denominator
    utilities = -np.abs((bottom - top) * below - top * above)
    chosen = exponential_rows(utilities, selection.sensitivity * bottom, selection.epsilon, rng=rng)
    domain = selection.choice.domain
    middle = (selection.width - 1) // 2
    last = domain.size - 1  # type: ignore[union-attr]  # finite by check
    return [
        domain.value(min(int(index) * selection.width + middle, last))  # type: ignore[union-attr]  # finite
        for index in chosen
    ]
