"""Spark's held state: files that are seen to stay as they are, or canonical copies of our own."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Protocol

from discreet.data.engines.base import Engine, Exact, Held, engine_failed
from discreet.data.engines.copies import Labels
from discreet.data.engines.dialects import placed
from discreet.data.engines.spark.sources import StoredFacts


class _Engine(Engine, Protocol):
    def materialise(self, name: str, sql: str) -> str: ...

    def forget(self, name: str) -> None: ...

    def facts(self, name: str) -> StoredFacts: ...

    def fingerprint(self, name: str) -> str: ...


class SparkHeld(Held):
    """Reads files whose every change is noticed, and copies that nobody changes.

    Guarantee: a result is given only if the files behind it are, after the reading, what they were
        when the state was taken (see `SparkOrigins.facts`); otherwise the question fails. So what is read is
        what was fingerprinted, and a change meanwhile costs the question, never its label.
    """

    def __init__(
        self,
        engine: _Engine,
        pins: Mapping[str, StoredFacts],
        places: Mapping[str, str],
        labels: Mapping[str, str],
        private: Mapping[str, str | None],
    ) -> None:
        self._engine = engine
        self.private = private
        self._pins = pins
        self._places = places
        self._kept: list[str] = []
        self.fingerprints = Labels(
            {**pins, **labels}, lambda name: labels.get(name) or self._label(name)
        )

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT over the held state."""
        found = self._engine.owner_reader().run(placed(sql, "spark", self._places), seconds=seconds)
        self._check()
        return found

    def _keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over the held state."""
        name = f"held_{uuid.uuid4().hex}"
        self._kept.append(name)
        relation = self._engine.materialise(name, placed(sql, "spark", self._places))
        self._check()
        return relation

    def close(self) -> None:
        """Remove what was kept."""
        for name in self._kept:
            self._engine.forget(name)
        self._kept.clear()

    def _label(self, name: str) -> str:
        found = self._engine.fingerprint(name)
        self._check()
        return found

    def _check(self) -> None:
        if any(self._engine.facts(name) != pin for name, pin in self._pins.items()):
            raise engine_failed()
