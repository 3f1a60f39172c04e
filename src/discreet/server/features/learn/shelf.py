"""Models and recommenders that were learned, and the shelves that they lie on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.learn.kept.card import card_of
from discreet.learn.kept.model_zip import write_model
from discreet.learn.sgd.model import AnyClassifier
from discreet.report import to_fragment
from discreet.server.shelf import FRAGMENT, Kept, Shelf, ShelfRules

FILE = "model.zip"
RULES = ShelfRules("models", "model", "models", "/api/v1/models", files={FILE: "application/zip"})
RECOMMENDER = "recommender.zip"
RECOMMENDERS = ShelfRules(
    "recommenders",
    "recommender",
    "recommenders",
    "/api/v1/recommenders",
    files={RECOMMENDER: "application/zip"},
)


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

    kind, rules = KeptModel, RULES


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

    kind, rules = KeptRecommender, RECOMMENDERS
