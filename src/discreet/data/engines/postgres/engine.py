"""PostgreSQL: read-only sessions, one transaction for each question, copies where the owner allows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from discreet.base.packages import needs
from discreet.base.unit import FollowedPath
from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import (
    NOTHING_STORED,
    Capabilities,
    Engine,
    EngineLimits,
    Exact,
    Held,
)
from discreet.data.engines.copies import canonical_of, state_key
from discreet.data.engines.dialects import placed
from discreet.data.engines.guard import only_select
from discreet.errors import CatalogError, UnknownName

with needs("psycopg", extra="postgres"):
    import psycopg  # noqa: F401 named here, so that its absence is told in one sentence

from discreet.data.engines.copies import Recipe, private_of
from discreet.data.engines.postgres.held import Holder, kind_of
from discreet.data.engines.postgres.session import Connection, ConnectionPool, fetch_table
from discreet.data.engines.postgres.sources import PostgresSources, columns_of


class PostgresEngine(Engine):
    """Runs SQL on a PostgreSQL server, each question on a connection of its own.

    Guarantee: every query runs in a read-only transaction under a time limit (see `Session`); all
    queries of one `hold` see one snapshot. A superuser is refused, or demoted to `pg_read_all_data`
    where the owner allows it.
    """

    capabilities = Capabilities(dialect="postgres", has_memory_limit=False)

    def __init__(
        self,
        url: str,
        sources: Mapping[str, str],
        *,
        limits: EngineLimits,
        state: Path | None = None,
        allow_superuser: bool = False,
        paths: Mapping[str, FollowedPath] = MappingProxyType({}),
    ) -> None:
        self._limits = limits
        self._pool = ConnectionPool(url, limits, allow_superuser=allow_superuser)
        folder = None if state is None else state / "postgres"
        key = os.urandom(32) if folder is None else state_key(folder)
        self._sources = PostgresSources(sources, paths)
        self._holder = Holder(self._pool, key, folder, self._sources)
        self._check_sources()

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if name not in self._sources:
            raise UnknownName(f"The engine has no table '{name}'.")
        return self._sources.relation(name)

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached."""
        return name in self._sources

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        with self._pool.lend(self._limits.seconds if seconds is None else seconds) as wire:
            return Exact(plain_table(fetch_table(wire, self._placed(wire, sql))))

    def hold(
        self,
        tables: Mapping[str, Recipe],
        *,
        stored: Mapping[str, str] = NOTHING_STORED,
        together: bool = False,
    ) -> Held:
        """Return the tables as they are now, in one transaction, or stored copies that never change."""
        return self._holder.hold(
            {
                name: canonical_of(
                    recipe, name, self._sources.copied(name), "postgres", self.schema
                )
                for name, recipe in tables.items()
            },
            private_of(tables),
            stored=stored,
            together=together,
        )

    def changed(self, name: str, fingerprint: str) -> bool:
        """Return whether the rows of a table are others now; it reads the whole table."""
        return self._holder.changed(name, fingerprint)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with PostgreSQL's names for their types."""
        self.relation(name)  # or it is refused
        with self._pool.lend(self._limits.seconds) as wire:
            return self._sources.now(wire, name).columns

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        self._pool.cancel(thread)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def _placed(self, wire: Connection, sql: str) -> str:
        behind = self._sources.behind(wire, sql)
        return only_select(placed(sql, "postgres", behind), self.capabilities.dialect)

    def _check_sources(self) -> None:
        try:
            with self._pool.lend(self._limits.seconds) as wire:
                for name, place in self._sources.places.items():
                    kind_of(wire, name, place)
                    columns = columns_of(wire, place)
                    _refuse_twins(name, [column for column, _ in columns])
                    self._sources.spell(name, columns)
                for name in self._sources.places:
                    self._sources.now(wire, name)
        except BaseException:
            self.close()
            raise


def _refuse_twins(table: str, columns: list[str]) -> None:
    seen: dict[str, str] = {}
    for column in columns:
        twin = seen.setdefault(column.lower(), column)
        if twin != column:
            raise CatalogError(
                f"The source of table '{table}' has the columns '{twin}' and '{column}', which "
                "differ only in case.",
                hint="Declare a view that renames one of them.",
            )
