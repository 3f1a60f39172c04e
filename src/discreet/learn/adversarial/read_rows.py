"""A public file as numbers: texts as one column a value, numbers scaled by where they lie in the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.core.arrays import Floats
from discreet.errors import InvalidInput, UnknownName
from discreet.learn.adversarial.hide import TaskRows
from discreet.learn.evaluation.read_file import read_table

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
