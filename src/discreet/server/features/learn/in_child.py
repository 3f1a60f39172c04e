"""What the child process of a learner or a choice does (paid, learned, kept; in that order), and its shelves."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.server.access.tokens import AskedAs
from discreet.server.bodies import finite
from discreet.server.jobs.child import TaskContext
from discreet.server.shelf import FRAGMENT, Kept, Shelf
from discreet.show import to_fragment
from discreet.work.learn.learners.network import AnyClassifier
from discreet.work.learn.model_files import card_of, write_model
from discreet.work.learn.training import Trained

FILE = "model.zip"
RECOMMENDER = "recommender.zip"


@dataclass(frozen=True, slots=True)
class KeptModel(Kept):
    """A model that was trained: all of it is paid for, so using it is free."""

    id: str
    dataset: str
    table: str
    target: str
    kind: str
    epsilon: str
    accuracy: float
    low: float
    high: float
    baseline: float
    created: float
    analyst: str | None


class Models(Shelf[KeptModel]):
    """The models of this server."""

    kind, files = KeptModel, {FILE: "model"}  # as every rule, never changed
    folder, listed_by = "models", "/api/v1/models"
    one, many = "model", "models"


def fill_with(trained: AnyClassifier, place: Path) -> None:
    """Write a model and its card into a folder."""
    write_model(trained, place / FILE)
    (place / FRAGMENT).write_text(to_fragment(card_of(trained)), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class KeptRecommender(Kept):
    """A recommender that was learned: all of it is paid for, so using it is free."""

    id: str
    table: str
    item: str
    rating: str
    epsilon: str
    low: float
    high: float
    items: int
    known_well: tuple[str, ...]
    created: float
    analyst: str | None


class Recommenders(Shelf[KeptRecommender]):
    """The recommenders of this server."""

    kind, files = KeptRecommender, {RECOMMENDER: "recommender"}  # as above
    folder, listed_by = "recommenders", "/api/v1/recommenders"
    one, many = "recommender", "recommenders"


def train(
    context: TaskContext,
    *,
    state: Path,
    kept_id: str,
    payer: AskedAs,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Return what a model is, after it was trained and put on its shelf."""
    trained = context.curator(payer.analyst).learn(progress=context.advance, **asked)
    kept = Models(state).keep(
        _facts(kept_id, trained, str(asked["epsilon"]), payer),
        lambda place: fill_with(trained.model, place),
        inside=context.folder,
    )
    return finite(trained.to_json() | {"model_id": kept.id})


def _facts(model_id: str, trained: Trained, epsilon: str, payer: AskedAs) -> KeptModel:
    facts = trained.model.facts
    right = facts["accuracy"]
    return KeptModel(
        id=model_id,
        dataset=str(facts["dataset"]),
        table=str(facts["table"]),
        target=trained.model.target.name,
        kind=trained.model.kind,
        epsilon=epsilon,
        accuracy=right["value"],
        low=right["low"],
        high=right["high"],
        baseline=facts["baseline"],
        created=time.time(),
        analyst=payer.analyst,
    )


def recommend(
    context: TaskContext,
    *,
    state: Path,
    kept_id: str,
    payer: AskedAs,
    asked: dict[str, Any],
) -> dict[str, Any]:
    """Return what a recommender is, after it was learned and put on its shelf."""
    found = context.curator(payer.analyst).recommend(**asked)
    model = found.model
    kept = KeptRecommender(
        id=kept_id,
        table=asked["table"],
        item=asked["item"],
        rating=asked["rating"],
        epsilon=str(asked["epsilon"]),
        low=model.low,
        high=model.high,
        items=len(model.items),
        known_well=tuple(model.items[i] for i in model.top),
        created=time.time(),
        analyst=payer.analyst,
    )
    Recommenders(state).keep(
        kept, lambda place: write_model(model, place / RECOMMENDER), inside=context.folder
    )
    return finite(found.to_json() | {"recommender_id": kept.id})


def choose(context: TaskContext, *, payer: AskedAs, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a choice; the ledger keeps it, so the same request id gives it again."""
    return finite(context.curator(payer.analyst).select(**asked).to_json())
