"""PostgreSQL: read-only sessions, one transaction for each question, copies where the owner allows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from discreet.core.machine.extras import needs
from discreet.core.path import FollowedPath
from discreet.engine.arrow import plain_table
from discreet.engine.base import Capabilities, Engine, EngineLimits, Exact, Held, Recipe
from discreet.engine.copies import canonical_of, plain_name, state_key
from discreet.engine.guard import only_select
from discreet.engine.names import is_name, quoted, require_free
from discreet.engine.places import placed
from discreet.errors import CatalogError, UnknownName

with needs("psycopg", extra="postgres"):
    import psycopg  # noqa: F401 named here, so that its absence is told in one sentence

from discreet.engine.postgres.content import columns_of, fingerprint
from discreet.engine.postgres.copies import is_stored, may_store, place_of, store
from discreet.engine.postgres.held import kind_of
from discreet.engine.postgres.holder import Holder
from discreet.engine.postgres.pool import ConnectionPool
from discreet.engine.postgres.rows import fetch_table
from discreet.engine.postgres.session import Connection
from discreet.engine.postgres.sources import PostgresSources


class PostgresEngine(Engine):
    """Runs SQL on a PostgreSQL server, each question on a connection of its own.

    Guarantee: every query runs in a read-only transaction under a time limit (see `Session`); all
    queries of one `hold` see one snapshot. A superuser is refused, or demoted to `pg_read_all_data`
    where the owner allows it.
    """

    capabilities = Capabilities(dialect="postgres", has_memory_limit=False, parallel_queries=True)

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
        self._key = os.urandom(32) if folder is None else state_key(folder)
        self._sources = PostgresSources(sources, paths)
        self._holder = Holder(self._pool, self._key, folder, self._sources)
        self._check_sources()

    def relation(self, name: str) -> str:
        """Return the quoted SQL name of a table."""
        if name in self._sources:
            return self._sources.relation(name)
        if name in self._pool.uploads or name in self._pool.temporary:
            return f"pg_temp.{quoted(name)}"
        if self._stored(name):
            return place_of(self._stored_name(name))
        raise UnknownName(f"The engine has no table '{name}'.")

    def has(self, name: str) -> bool:
        """Return whether a table of this name is attached, uploaded or materialised."""
        pool = self._pool
        known = name in self._sources or name in pool.uploads or name in pool.temporary
        return known or self._stored(name)

    def run(self, sql: str, *, seconds: float | None = None) -> Exact:
        """Return the result of one SELECT."""
        with self._pool.lend(self._limits.seconds if seconds is None else seconds) as wire:
            return Exact(plain_table(fetch_table(wire, self._placed(wire, sql))))

    def hold(self, tables: Mapping[str, Recipe]) -> Held:
        """Return the tables as they are now: one transaction, or stored copies that never change."""
        return self._holder.hold(
            {
                name: canonical_of(recipe, name, self.relation(name), "postgres", self.schema)
                for name, recipe in tables.items()
            }
        )

    def put(self, name: str, table: pa.Table) -> str:
        """Return the relation of a small public table: a temporary one of each session."""
        require_free(name, self._sources)
        before = self._pool.uploads.get(name, (0, table))[0]
        self._pool.uploads[name] = (before + 1, table)
        with self._pool.lend(self._limits.seconds):
            return f"pg_temp.{quoted(name)}"

    def materialise(self, name: str, sql: str) -> str:
        """Return the relation of the stored result of `sql`, computed unless it is there.

        It is kept in the schema `discreet_state` if the role may write there, otherwise in a
        temporary table that every session computes for itself.
        """
        require_free(name, self._sources)
        if self.has(name):
            return self.relation(name)
        seconds = self._limits.store_seconds
        with self._pool.lend(seconds) as wire:
            text = self._placed(wire, sql)
            if may_store(wire):
                store(wire, self._pool.url, self._stored_name(name), text, seconds=seconds)
                return place_of(self._stored_name(name))
        self._pool.temporary[name] = text
        with self._pool.lend(seconds):
            return f"pg_temp.{quoted(name)}"

    def columns(self, name: str) -> list[tuple[str, str]]:
        """Return the columns of a table with PostgreSQL's names for their types."""
        with self._pool.lend(self._limits.seconds) as wire:
            if name in self._sources:
                return self._sources.now(wire, name).columns
            return columns_of(wire, self.relation(name))

    def fingerprint(self, name: str) -> str:
        """Return a hash over all rows of a table.

        It reads the whole table: give a big or busy one a declared version instead, and nobody will
        ask here.
        """
        with self._pool.lend(self._limits.store_seconds) as wire:
            if name in self._sources:
                now = self._sources.now(wire, name)
                return fingerprint(wire, now.rows, now.columns)
            relation = self.relation(name)
            return fingerprint(wire, relation, columns_of(wire, relation))

    def cancel(self, *, thread: int | None = None) -> None:
        """Stop what is running now, or only what one thread is waiting for."""
        self._pool.cancel(thread)

    def close(self) -> None:
        """Close the connections; temporary tables go with them."""
        self._pool.close()

    def _stored(self, name: str) -> bool:
        if not is_name(name):
            return False
        with self._pool.lend(self._limits.seconds) as wire:
            return is_stored(wire, self._stored_name(name))

    def _stored_name(self, name: str) -> str:
        return plain_name(self._key, name, repr(self._sources))

    def _placed(self, wire: Connection, sql: str) -> str:
        behind = self._sources.behind(wire, sql)
        return only_select(placed(sql, "postgres", behind), self.capabilities.dialect)

    def _check_sources(self) -> None:
        try:
            with self._pool.lend(self._limits.seconds) as wire:
                for name, place in self._sources.places.items():
                    kind_of(wire, name, place)
                    _refuse_twins(name, [column for column, _ in columns_of(wire, place)])
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
