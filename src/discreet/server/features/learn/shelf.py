"""Models and recommenders that were learned, and the shelves that they lie on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.learn.model_files.card import card_of
from discreet.learn.model_files.model_zip import write_model
from discreet.learn.sgd.model import AnyClassifier
from discreet.report import to_fragment
from discreet.server.shelf import FRAGMENT, Kept, Shelf

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
