"""An engine without a database: it knows column types, and answers what it is told to."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from discreet.data.engines.base import (
    NOTHING_STORED,
    Capabilities,
    Engine,
    Exact,
    Held,
    engine_failed,
)
from discreet.data.engines.copies import Labels, Recipe, private_of
from discreet.data.engines.dialects import DIALECTS, quoted
from discreet.errors import UnknownName

Answers: TypeAlias = Callable[[str], pa.Table] | Mapping[str, pa.Table] | pa.Table | None


class LiveHeld(Held):
    """Reads tables as they are when they are read; see `discreet.data.engines.base.Held`."""

    def __init__(self, engine: FakeEngine, tables: Mapping[str, Recipe]) -> None:
        self._engine = engine
        for name, recipe in tables.items():
            recipe.check({column.lower(): kind for column, kind in engine.columns(name)})
        self.fingerprints = Labels(tables, engine.fingerprint)
        self.private = private_of(tables)

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        return self._engine.owner_reader().run(sql, seconds=seconds)

    def _keep(self, sql: str) -> str:
        """Return the relation of the stored result of one SELECT over these contents."""
        said = repr((sorted(self.fingerprints.items()), sql))
        name = f"held_{hashlib.sha256(said.encode()).hexdigest()[:24]}"
        return self._engine.materialise(name, sql)

    def close(self) -> None:
        """Do nothing: nothing is held."""


@functools.cache
def _parser(process: int) -> Any:  # noqa: ARG001 none is shared with a fork
    """Return one DuckDB for all parses of a process: opening one takes a thousand times as long."""
    import duckdb

    return duckdb.connect()


class FakeEngine(Engine):
    """Tables with the given column types in the given dialect; reading returns `answers`.

    `answers` is one table for every SELECT, a table for each SQL text, a function of the SQL text,
    or None: then every SELECT fails as a database would. `ran` lists what was run, in order.
    `canonical`: it says that held tables are there in canonical form, as DuckDB does.

    >>> engine = FakeEngine({"census.people": {"age": "BIGINT"}}, dialect="spark")
    >>> engine.relation("census.people"), engine.columns("census.people")
    ('`census.people`', [('age', 'BIGINT')])
    """

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, str]],
        *,
        dialect: str = "duckdb",
        answers: Answers = None,
        canonical: bool = False,
    ) -> None:
        self.capabilities = Capabilities(dialect=dialect, canonical=canonical)
        self.answers = answers
        self.ran: list[str] = []
        self.closed = False
        self._tables = {name: dict(columns) for name, columns in tables.items()}

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if not self.has(name):
            raise UnknownName(f"The engine has no table '{name}'.")
        return quoted(name, self.capabilities.dialect)

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:  # noqa: ARG002 the protocol's
        """Return the table that was given for `sql`, or fail like every engine."""
        self.ran.append(sql)
        found: Any = self.answers
        if callable(found):
            found = found(sql)
        elif isinstance(found, Mapping):
            found = found.get(sql)
        if found is None:
            raise engine_failed()
        return Exact(found)

    def materialise(self, name: str, sql: str) -> str:
        """Return the relation of a stored result; nothing is computed."""
        self.ran.append(sql)
        self._tables.setdefault(name, {})
        return self.relation(name)

    def has(self, name: str) -> bool:
        """Return whether a table of this name was given or materialised."""
        return name in self._tables

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with the types that were given."""
        return list(self._tables[name].items())

    def fingerprint(self, name: str) -> str:
        """Return a text that never changes: there are no rows."""
        return f"fake {name}"

    def hold(
        self,
        tables: Mapping[str, Recipe],
        *,
        stored: Mapping[str, str] = NOTHING_STORED,  # noqa: ARG002 nothing changes here
        together: bool = False,  # noqa: ARG002 the same
    ) -> LiveHeld:
        """Return these tables as they are."""
        return LiveHeld(self, tables)

    def changed(self, name: str, fingerprint: str) -> bool:
        """Return whether a table has another fingerprint now."""
        return self.fingerprint(name) != fingerprint

    def tree(self, sql: str) -> str | None:
        """Return DuckDB's parse, in its dialect."""
        if DIALECTS[self.capabilities.dialect].grammar != "duckdb":
            return None
        row = (
            _parser(os.getpid()).cursor().execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
        )
        return str(row[0]) if row else None

    def cancel(self, *, thread: int | None = None) -> None:
        """Do nothing: nothing runs."""

    def close(self) -> None:
        """Remember that the engine was given back."""
        self.closed = True
