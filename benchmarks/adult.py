"""ADULT as codes, the marginals that errors are measured on, and the errors: numpy and no more."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np

from discreet.measure.sealing import MemoryCounter
from discreet.measure.shape import Shape

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def adult(data: Path = DATA) -> tuple[np.ndarray, Shape]:
    """Return the codes of ADULT and their shape."""
    sizes = json.loads((data / "adult_discretized-domain.json").read_text(encoding="utf-8"))
    codes = np.loadtxt(data / "adult_discretized.csv", delimiter=",", skiprows=1, dtype=np.int32)
    return codes, Shape(tuple(sizes), tuple(sizes.values()))


def triples(shape: Shape, rows: int, count: int = 64) -> list[tuple[int, ...]]:
    """Return the marginals that errors are measured on: RAP's rule, RandomState(0)."""
    fitting = [
        each for each in itertools.combinations(range(shape.width), 3) if shape.cells(each) <= rows
    ]
    chosen = np.random.RandomState(0).choice(len(fitting), count, replace=False)
    return [fitting[i] for i in chosen]


def errors(codes: np.ndarray, made: np.ndarray, shape: Shape) -> tuple[float, float]:
    """Return the greatest error of a cell and the mean total variation distance."""
    wanted = triples(shape, len(codes))
    real = MemoryCounter(codes, shape).marginals(wanted)
    fake = MemoryCounter(made, shape).marginals(wanted)
    pairs = list(zip(real, fake, strict=True))
    worst = max(np.abs(a - b).max() for a, b in pairs) / len(codes)
    apart = [np.abs(a / len(codes) - b / len(made)).sum() / 2 for a, b in pairs]
    return float(worst), float(np.mean(apart))
