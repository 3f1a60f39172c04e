"""A held state for engines that read live tables: their fingerprints, then their rows."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from discreet.engine.base import Engine, Exact, Held, Recipe
from discreet.engine.copies import Labels


class LiveHeld(Held):
    """Reads tables as they are when they are read; see `discreet.engine.base.Held`."""

    def __init__(self, engine: Engine, tables: Mapping[str, Recipe]) -> None:
        self._engine = engine
        for name, recipe in tables.items():
            recipe.check({column.lower(): kind for column, kind in engine.columns(name)})
        self.fingerprints = Labels(tables, engine.fingerprint)

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        return self._engine.run(sql, seconds=seconds)

    def keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over these contents."""
        said = repr((sorted(self.fingerprints.items()), sql))
        name = f"held_{hashlib.sha256(said.encode()).hexdigest()[:24]}"
        return self._engine.materialise(name, sql)

    def close(self) -> None:
        """Do nothing: nothing is held."""
