"""A trained model as text: plain JSON, checked on the way in; nothing in it ever runs."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from discreet.errors import DiscreetError, InvalidInput
from discreet.learn.learners import reader_of
from discreet.learn.model import classifier_from
from discreet.learn.recommend.model import Recommender, recommender_from
from discreet.learn.regressor import Regressor, regressor_from
from discreet.learn.sgd.model import AnyClassifier
from discreet.synth.columns import Coded, Encoding
from discreet.synth.model_file import column_from_json, column_to_json

FORMAT = "discreet classifier"
REGRESSOR = "discreet regressor"
RECOMMENDER = "discreet recommender"

AnyModel: TypeAlias = AnyClassifier | Regressor | Recommender
"""Every kind of model that a file can hold."""

VERSION = 1


def to_text(model: AnyModel) -> str:
    """Return the model's text; `from_text` reads it back."""
    if not isinstance(model, AnyClassifier):
        kind = REGRESSOR if isinstance(model, Regressor) else RECOMMENDER
        return json.dumps({"format": kind, "version": VERSION, **model.to_json()}, allow_nan=False)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "table": model.encoding.table,
        "columns": [column_to_json(column) for column in model.encoding.coded],
        "model": model.to_json(),
        "facts": dict(model.facts),
    }
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def from_text(text: str, *, name: str = "the model") -> AnyModel:
    """Return the model that `text` describes; every number in it is checked."""
    try:
        data = json.loads(text, parse_constant=_no_constant)
        if data["format"] == REGRESSOR and data["version"] == VERSION:
            return regressor_from(data)
        if data["format"] == RECOMMENDER and data["version"] == VERSION:
            return recommender_from(data)
        if data["format"] != FORMAT or data["version"] != VERSION:
            raise InvalidInput("it has another format or version")
        columns = tuple(_coded(item) for item in data["columns"])
        if len(columns) < 2 or len({c.name.lower() for c in columns}) != len(columns):
            raise InvalidInput("its columns do not fit together")
        encoding = Encoding(str(data["table"]), columns)
        read = reader_of(str(data["model"]["kind"])) or classifier_from
        return read(data["model"], encoding, data["facts"])
    except RecursionError:
        raise unusable(name, "it is nested too deeply") from None
    except DiscreetError as error:
        raise unusable(name, error.message.rstrip(".")) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        raise unusable(name, "something in it is missing or of the wrong kind") from None


def unusable(name: str, why: str) -> InvalidInput:
    """Return the refusal of a file that is no model."""
    return InvalidInput(
        f"'{name}' is not a model that can be used: {why}.",
        hint="Make one with: discreet learn classify ... --out MODEL.zip",
    )


def _coded(item: dict[str, Any]) -> Coded:
    column = column_from_json(item)
    if not isinstance(column, Coded):
        raise InvalidInput("a column in it has no values")
    return column


def _no_constant(_text: str) -> Any:
    raise ValueError("not a finite number")
