"""The recommenders that a server keeps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.server.shelf import Shelf, ShelfRules

FILE = "recommender.zip"
RULES = ShelfRules(
    "recommenders",
    "recommender",
    "recommenders",
    "/api/v1/recommenders",
    files={FILE: "application/zip"},
)


@dataclass(frozen=True, slots=True)
class KeptRecommender:
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

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for those who may see it."""
        return asdict(self)


class Recommenders(Shelf[KeptRecommender]):
    """The recommenders of this server."""

    def __init__(self, state: Path) -> None:
        super().__init__(state, KeptRecommender, RULES)
