"""A held state for engines that read live tables: their fingerprints, then their rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Self

from discreet.engine.base import Engine, Exact, Recipe


class LiveHeld:
    """Reads tables as they are when they are read; see `discreet.engine.base.Held`."""

    def __init__(self, engine: Engine, tables: Mapping[str, Recipe]) -> None:
        self._engine = engine
        for name, recipe in tables.items():
            recipe.check({column.lower(): kind for column, kind in engine.columns(name)})
        self.fingerprints: Mapping[str, str] = _Fingerprints(engine, tuple(tables))

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Fingerprints(Mapping[str, str]):
    """Fingerprints, each taken when it is first asked for: a declared version needs none."""

    def __init__(self, engine: Engine, names: tuple[str, ...]) -> None:
        self._engine = engine
        self._names = names
        self._found: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = self._engine.fingerprint(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
