"""Where models lie: one folder each, under names that the server chose."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet.errors import TooManyRequests, UnknownName
from discreet.learn.kept.card import card_of
from discreet.learn.kept.model_zip import write_model
from discreet.learn.model import Classifier
from discreet.report import to_fragment

FOLDER = "models"
MOST = 200
MOST_EACH = 20
"""Models that are kept, and those that one analyst paid for."""

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class KeptModel:
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

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for those who may see it."""
        return asdict(self)


class Models:
    """The folder of models; safe to share among threads.

    Guarantee: no name that a caller chose becomes a path; a model is there whole or not at all.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self._lock = threading.Lock()

    def all(self, analyst: str | None = None) -> list[KeptModel]:
        """Return the models, latest first; only those that this analyst paid for, if one is given."""
        if not self._folder.is_dir():
            return []
        found = [self._read(place) for place in self._folder.iterdir() if _ID.fullmatch(place.name)]
        mine = [m for m in found if m is not None and analyst in (None, m.analyst)]
        return sorted(mine, key=lambda model: -model.created)

    def find(self, name: str, analyst: str | None = None) -> KeptModel:
        """Return one model; those of others do not exist for an analyst."""
        found = self._read(self._folder / name) if _ID.fullmatch(name) else None
        if found is None or analyst not in (None, found.analyst):
            raise UnknownName("There is no such model.", hint="GET /api/v1/models lists yours.")
        return found

    def file(self, model: KeptModel) -> Path:
        """Return the path of a model's file."""
        return self._folder / model.id / "model.zip"

    def card(self, model: KeptModel) -> str:
        """Return the card as a part of a page: markup that we made, every text escaped."""
        try:
            return (self._folder / model.id / "card.part").read_text(encoding="utf-8")
        except OSError:
            return ""

    def room(self, analyst: str | None = None) -> None:
        """Refuse when there are too many models, before anything is paid."""
        own = analyst is not None and len(self.all(analyst)) >= MOST_EACH
        if own or len(self.all()) >= MOST:
            raise TooManyRequests("There are too many models already.", hint="Delete some of them.")

    def keep(self, model: KeptModel, trained: Classifier) -> KeptModel:
        """Return the model after writing it, whole or not at all."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self._folder, prefix="making-"))
        try:
            write_model(trained, place / "model.zip")
            (place / "card.part").write_text(to_fragment(card_of(trained)), encoding="utf-8")
            (place / "facts.json").write_text(json.dumps(asdict(model)), encoding="utf-8")
            with self._lock:
                target = self._folder / model.id
                if target.exists():
                    shutil.rmtree(target)
                place.rename(target)
        finally:
            shutil.rmtree(place, ignore_errors=True)
        return model

    def remove(self, model: KeptModel) -> None:
        """Delete a model; what it cost stays spent."""
        with self._lock:
            shutil.rmtree(self._folder / model.id, ignore_errors=True)

    def _read(self, place: Path) -> KeptModel | None:
        try:
            return KeptModel(**json.loads((place / "facts.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError):
            return None  # being made, being deleted, or left behind by a crash
