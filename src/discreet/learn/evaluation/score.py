"""How well a model does: shares of right predictions with intervals, by subgroup too, and the AUC."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.arrays import Bits, Floats, Integers
from discreet.errors import InvalidInput
from discreet.learn.evaluation.read_file import codes_of_table, read_table
from discreet.learn.measure.columns import is_ordered
from discreet.learn.sgd.model import AnyClassifier
from discreet.noise.error_bars import wilson
from discreet.synth.shape import Codes

MOST_SUBGROUPS = 12
"""Values of a column by which accuracy is shown."""

Z95 = 1.959964


def noisy_share(right: float, wrong: float, deviation: float) -> dict[str, Any]:
    """Return a share of rows with its 95% interval, for sampling and for noise on both counts."""
    size = max(right + wrong, 1.0)
    value = min(max(right / size, 0.0), 1.0)
    noise = deviation**2 * ((1 - value) ** 2 + value**2) / size**2
    half = Z95 * math.sqrt(value * (1 - value) / size + noise)
    return _rounded(value, max(value - half, 0.0), min(value + half, 1.0))


def exact_share(right: int, rows: int) -> dict[str, Any]:
    """Return a share of public rows with Wilson's 95% interval."""
    if not rows:
        return _rounded(0.0, 0.0, 1.0)
    return _rounded(right / rows, *wilson(right, rows, Z95))


def _rounded(value: float, low: float, high: float) -> dict[str, Any]:
    return {"value": round(value, 6), "low": round(low, 6), "high": round(high, 6)}


def publicly_tested(model: AnyClassifier, path: Path) -> AnyClassifier:
    """Return the model with what a public test file says about it written into its facts."""
    codes = codes_of_table(read_table(path), model.encoding.coded)
    known = codes[:, -1] >= 0
    if not known.any():
        raise InvalidInput(
            f"No row of '{path.name}' has a declared value of '{model.target.name}'.",
            hint="The test file must name the classes as discreet.toml does.",
        )
    found = public_score(model, codes[known], codes[known, -1].astype(np.int64))
    found["accuracy"]["on"] = f"{path.name}, declared public"
    return replace(model, facts={**model.facts, **found})


def public_score(model: AnyClassifier, codes: Codes, truth: Integers) -> dict[str, Any]:
    """Return accuracy, baseline, AUC and accuracy by subgroup on rows that are public."""
    chances = model.chances(codes)
    right = model.guesses(codes) == truth
    counts = np.bincount(truth, minlength=len(model.classes))
    found: dict[str, Any] = {
        "accuracy": exact_share(int(right.sum()), len(truth)),
        "baseline": round(float(counts.max() / max(len(truth), 1)), 6),
        "test_rows": len(truth),
        "subgroups": subgroups(model, codes, right),
    }
    if len(model.classes) == 2:
        found["auc"] = auc(chances[:, 1], truth)
    return found


def subgroups(model: AnyClassifier, codes: Codes, right: Bits) -> dict[str, Any]:
    """Return the accuracy for each value of each category with few of them."""
    found: dict[str, Any] = {}
    for place, column in enumerate(model.features):
        if is_ordered(column) or column.values > MOST_SUBGROUPS:
            continue
        own = codes[:, place]
        found[column.name] = {
            str(column.domain.value(code)): exact_share(
                int(right[own == code].sum()), int((own == code).sum())
            )
            | {"rows": int((own == code).sum())}
            for code in range(column.values)
            if (own == code).any()
        }
    return found


def auc(scores: Floats, truth: Integers) -> float | None:
    """Return the chance that a row of the second class scores above one of the first.

    >>> auc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([0, 0, 1, 1]))
    0.875
    """
    second, first = scores[truth == 1], scores[truth == 0]
    if not len(second) or not len(first):
        return None
    return round(float(placements(second, first).mean()), 6)


def placements(of: Floats, among: Floats) -> Floats:
    """Return for each of the first how large a share of the second lies below it, ties halved."""
    ordered = np.sort(among)
    left = np.searchsorted(ordered, of, side="left")
    right = np.searchsorted(ordered, of, side="right")
    shares: Floats = (left + right) / (2.0 * len(among))
    return shares
