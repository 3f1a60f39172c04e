"""The surveys below one discreet.toml, opened once each and opened anew when their files change."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import InvalidInput, UnknownName
from discreet.server.context import kept_once
from discreet.survey.collect.store import FOLDER, SurveyStore, survey_names
from discreet.survey.command import estimate_survey
from discreet.survey.estimate.request import EstimateRequest

Stamp = tuple[tuple[int, int], ...]

SETTLED = 1.0
"""Seconds for which estimates are given out again: many watch, one counts."""
_SHOWN = EstimateRequest(consistent=True)  # shares of a picture are at least 0 and add up
_FILES = ("survey.toml", "state.json")


@dataclass(frozen=True, slots=True)
class _Opened:
    store: SurveyStore
    stamp: Stamp


class SurveyShelf:
    """Lends the stores of surveys by name; safe to share among threads."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}
        self._estimates: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def names(self) -> list[str]:
        """Return the names of all surveys, in order."""
        return survey_names(self.base)

    def store(self, name: str) -> SurveyStore:
        """Return the store of a survey, or refuse a name that there is not."""
        stamp = self._stamp(name)
        with self._lock:
            kept = self._opened.get(name)
        if kept is not None and stamp and kept.stamp == stamp:
            return kept.store
        store = self._open(name)
        with self._lock:
            self._opened[name] = _Opened(store, stamp)
        return store

    def _open(self, name: str) -> SurveyStore:
        """Open a store; strangers ask for it too, so refusals tell neither other names nor paths."""
        try:
            return SurveyStore.open(name, self.base)
        except UnknownName:
            raise UnknownName("There is no survey of this name.") from None
        except InvalidInput:
            raise InvalidInput(
                "The files of this survey were changed after it began.",
                hint="Its owner sees more with 'discreet survey estimate'.",
            ) from None

    def estimates(self, name: str) -> Mapping[str, Any]:
        """Return the estimates of a survey, at most a second old."""
        now = time.monotonic()
        with self._lock:
            kept = self._estimates.get(name)
        if kept is not None and now - kept[0] < SETTLED:
            return kept[1]
        self.store(name)  # refused here where there is none
        found = estimate_survey(name, self.base, wanted=_SHOWN)
        with self._lock:
            self._estimates[name] = (now, found)
        return found

    def forget(self, name: str) -> None:
        """Count anew the next time: something was changed."""
        with self._lock:
            self._estimates.pop(name, None)

    def _stamp(self, name: str) -> Stamp:
        # A name that leads elsewhere is none of ours; opening it refuses it with a sentence.
        if name != Path(name).name or name.startswith("."):
            return ()
        try:
            facts = [(self.base / FOLDER / name / file).stat() for file in _FILES]
        except (OSError, ValueError):
            return ()
        return tuple((fact.st_mtime_ns, fact.st_ino) for fact in facts)


shelf_of = kept_once(lambda settings: SurveyShelf(settings.config.parent))
"""The surveys that this server keeps: 'surveys' beside discreet.toml."""
