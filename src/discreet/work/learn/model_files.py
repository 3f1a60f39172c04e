"""Trained models as files: JSON, model card, zip with digests; and predictions for the rows of a file.

A model's text is checked on the way in; nothing in it ever runs.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from discreet.base.bill import Spent, price_words
from discreet.data.engines.formats import BROKEN
from discreet.errors import DiscreetError, InvalidInput
from discreet.measure.columns import Coded, Encoding
from discreet.show import Document, Figure, Grid, Paragraph, Section, bars, to_html
from discreet.work.learn.classifier import classifier_from
from discreet.work.learn.learners.network import AnyClassifier
from discreet.work.learn.learners.registry import reader_of
from discreet.work.learn.read_file import codes_of_table, read_table
from discreet.work.learn.recommender import Recommender, recommender_from
from discreet.work.learn.regression import Regressor, regressor_from
from discreet.work.synth.model_file import column_from_json, column_to_json

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


MOST_FEATURES = 20
MOST_BARS = 24


def card_of(model: AnyClassifier | Regressor | Recommender) -> Document:
    """Return the card: everything on it was paid for, or comes from rows declared public."""
    if isinstance(model, Regressor):
        return _regression(model)
    if isinstance(model, Recommender):
        return _recommender(model)
    facts = model.facts
    sections = [
        Section("What it does", _about(model)),
        Section("How well it does", _accuracy(model)),
        Section("For whom", _subgroups(facts.get("subgroups", {}))),
        Section("What it goes by", _features(model)),
    ]
    return Document(
        f"{model.target.name}: a {model.kind} model",
        f"trained on {facts.get('table', model.encoding.table)}, {_price(facts)}",
        None if facts.get("private", True) else "Not private: the noise came from a seed.",
        tuple(sections),
    )


def _regression(model: Regressor) -> Document:
    facts = model.facts
    names = ["intercept"]
    names += [v.column if v.value is None else f"{v.column} = {v.value}" for v in model.variables]
    weights = [round(float(weight), 4) for weight in model.weights]
    score = "How good the weights are, only a test can tell: --test FILE."
    if facts["rmse"] is not None:
        score = (
            f"Off by {facts['rmse']['value']:g} (root mean square) on {facts['measured_on']}; "
            f"always saying the mean would be off by {facts['baseline']:g}."
        )
    rows = list(zip(names, weights, strict=True))
    caption = "Weights of variables that are scaled to -1 to 1, for a target scaled likewise."
    return Document(
        f"{facts['target']}: a {model.kind} regression",
        f"trained on {facts['table']}, {_price(facts)}",
        None,
        (
            Section("How well it does", (Paragraph(score),)),
            Section("What it goes by", (Grid.of(("variable", "weight"), rows, caption),)),
        ),
    )


def _recommender(model: Recommender) -> Document:
    facts = model.facts
    said = (
        f"Means of {len(model.items):,} items and the covariance of the {len(model.top)} that most "
        "people rated, both with noise for whole people."
    )
    return Document(
        f"{facts['item']}: a recommender",
        f"epsilon {facts['epsilon']:g} for everything that a person rated",
        None,
        (Section("What it goes by", (Paragraph(said),)),),
    )


def _price(facts: Any) -> str:
    # Regressions that were kept by earlier versions say no delta.
    return price_words(Spent.from_exact({"delta": "0", **facts["cost"]}), free=False)


def _about(model: AnyClassifier) -> tuple[Any, ...]:
    facts = model.facts
    classes = ", ".join(str(value) for value in model.classes[:12])
    who = "row" if facts["unit"]["rows"] == 1 else f"person with up to {facts['unit']['rows']} rows"
    return (
        Paragraph(f"Predicts {model.target.name} ({classes}) from {len(model.features)} columns."),
        Paragraph(
            f"Compared with not taking part, what anyone can learn about one {who} from this model "
            f"is bounded by {_price(facts)}. Using the model costs nothing more."
        ),
        *(Paragraph(notice) for notice in facts.get("notices", ())),
    )


def _accuracy(model: AnyClassifier) -> tuple[Any, ...]:
    found = model.facts["accuracy"]
    said = (
        f"Right {found['value']:.1%} of the time on {found['on']} (95%: {found['low']:.1%} to "
        f"{found['high']:.1%}); always saying the most common class would be right "
        f"{model.facts['baseline']:.1%} of the time."
    )
    area = model.facts.get("auc")
    more = () if area is None else (Paragraph(f"Area under the ROC curve: {area:.3f}."),)
    return (Paragraph(said), *more)


def _subgroups(found: dict[str, Any]) -> tuple[Any, ...]:
    if not found:
        return (Paragraph("Accuracy by subgroup is known only after a test: --test FILE."),)
    rows = [
        (column, value, item["value"], item["low"], item["high"], item.get("rows"))
        for column, values in found.items()
        for value, item in values.items()
    ]
    headers = ("column", "value", "right", "low", "high", "rows")
    grid = Grid.of(headers, rows, "Share of right predictions, 95% intervals", shares=(2, 3, 4))
    return (_picture(rows[:MOST_BARS]), grid)


def _picture(rows: Sequence[tuple[Any, ...]]) -> Figure:
    """Return the subgroups as bars: whom the model serves worse is seen before it is read."""
    names = [f"{column}: {value}" for column, value, *_ in rows]
    value, low, high = ([row[i] for row in rows] for i in (2, 3, 4))
    spec = bars(names, value, low=low, high=high, title="right")
    return Figure("Right by subgroup", spec, "Share of right predictions; rules are 95% intervals.")


def _features(model: AnyClassifier) -> tuple[Any, ...]:
    shown = sorted(model.reaches().items(), key=lambda each: -each[1])[:MOST_FEATURES]
    if not shown:
        return (
            Paragraph("No feature stood out from the noise: the most common class is predicted."),
        )
    names, sizes = [name for name, _ in shown], [round(size, 3) for _, size in shown]
    caption = "How far each feature can move the log-odds, from its lowest to its highest value."
    return (Grid.of(("feature", "reach"), list(zip(names, sizes, strict=True)), caption),)


MODEL, CARD, MANIFEST = "model.json", "card.html", "manifest.json"
ZIP_FORMAT = "discreet model release"
ZIP_VERSION = 1
LARGEST_PART = 1 << 28
"""Bytes that a part of the file may have once unpacked."""
_WHEN = (1980, 1, 1, 0, 0, 0)


def write_model(model: AnyModel, path: Path) -> None:
    """Write the model and its card to `path`."""
    parts = {MODEL: to_text(model).encode(), CARD: to_html(card_of(model)).encode()}
    manifest = {
        "format": ZIP_FORMAT,
        "version": ZIP_VERSION,
        "sha256": {name: hashlib.sha256(part).hexdigest() for name, part in parts.items()},
    }
    parts[MANIFEST] = json.dumps(manifest, indent=1).encode()
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in parts.items():
                archive.writestr(zipfile.ZipInfo(name, _WHEN), part, zipfile.ZIP_DEFLATED)
    except OSError:
        raise InvalidInput(f"The file '{path}' cannot be written.") from None


def read_model(path: Path) -> AnyModel:
    """Return the model in a file; one that was changed since it was written is refused."""
    if not path.is_file():
        raise InvalidInput(f"There is no file '{path}'.")
    try:
        with zipfile.ZipFile(path) as archive:
            manifest = json.loads(_part(archive, MANIFEST, path.name))
            model, card = (_part(archive, name, path.name) for name in (MODEL, CARD))
    except (*BROKEN, KeyError, ValueError, RuntimeError):
        raise unusable(path.name, "it is no such file, or is damaged") from None
    if not isinstance(manifest, dict) or manifest.get("format") != ZIP_FORMAT:
        raise unusable(path.name, "it is another kind of file")
    if manifest.get("version") != ZIP_VERSION:
        raise unusable(path.name, "it was written by another version of discreet")
    digests = manifest.get("sha256")
    found = {MODEL: model, CARD: card}
    if digests != {name: hashlib.sha256(part).hexdigest() for name, part in found.items()}:
        raise unusable(path.name, "it was changed after it was written")
    return from_text(model.decode("utf-8", errors="replace"), name=path.name)


def _part(archive: zipfile.ZipFile, name: str, shown: str) -> bytes:
    if archive.getinfo(name).file_size > LARGEST_PART:
        raise unusable(shown, "it is too large")
    with archive.open(name) as file:
        part = file.read(LARGEST_PART + 1)
    if len(part) > LARGEST_PART:
        raise unusable(shown, "it is too large")
    return part


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
