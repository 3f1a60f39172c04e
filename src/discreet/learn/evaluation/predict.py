"""Predictions for the rows of a file: the rows as they are, the class, and its probability."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from discreet.errors import InvalidInput
from discreet.learn.evaluation.read_file import codes_of_table, read_table
from discreet.learn.recommend.model import Recommender
from discreet.learn.regressor import Regressor
from discreet.learn.sgd.model import AnyClassifier


def predicted(model: AnyClassifier | Regressor | Recommender, path: Path) -> pa.Table:
    """Return the rows of a file with the predicted class and how probable the model finds it.

    A regression adds the predicted number alone.
    """
    if isinstance(model, Recommender):
        raise InvalidInput(
            "A recommender completes the ratings of one viewer, not the rows of a file.",
            hint="Use discreet learn recommend --model MODEL --for 'ITEM=RATING,...'.",
        )
    table = read_table(path)
    if isinstance(model, Regressor):
        name = f"predicted_{model.target.column}"
        return table.append_column(name, pa.array(model.predict(table).round(6)))
    codes = codes_of_table(table, model.features)
    chances = model.chances(codes)
    best = model.guesses(codes)
    words = [str(value) for value in model.classes]
    name = f"predicted_{model.target.name}"
    more = {
        name: pa.array([words[i] for i in best.tolist()], type=pa.string()),
        f"{name}_probability": pa.array(chances[range(len(best)), best].round(6)),
    }
    for column, values in more.items():
        table = table.append_column(column, values)
    return table
