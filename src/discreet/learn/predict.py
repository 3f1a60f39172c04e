"""Predictions for the rows of a file: the rows as they are, the class, and its probability."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from discreet.learn.model import Classifier
from discreet.learn.read_file import codes_of_table, read_table


def predicted(model: Classifier, path: Path) -> pa.Table:
    """Return the rows of a file with the predicted class and how probable the model finds it."""
    table = read_table(path)
    codes = codes_of_table(table, model.features)
    chances = model.chances(codes)
    best = chances.argmax(axis=1)
    words = [str(value) for value in model.classes]
    name = f"predicted_{model.target.name}"
    more = {
        name: pa.array([words[i] for i in best.tolist()], type=pa.string()),
        f"{name}_probability": pa.array(chances.max(axis=1).round(6)),
    }
    for column, values in more.items():
        table = table.append_column(column, values)
    return table
