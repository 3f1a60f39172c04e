"""The card of a model: what it was trained on, its price, how well it does and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.bill import Spent, price_words
from discreet.learn.recommend.model import Recommender
from discreet.learn.regressor import Regressor
from discreet.learn.sgd.model import AnyClassifier
from discreet.report import Document, Figure, Grid, Paragraph, Section, bars

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
