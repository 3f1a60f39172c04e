"""A tiny engine over DuckDB in this process, for tests of what `discreet init` infers."""

import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from discreet.data.engines.arrow import plain_table
from discreet.data.engines.base import Capabilities, Engine, Exact, engine_failed

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from postgres_server import postgres_server, postgres_url

__all__ = ["owner_engine", "postgres_server", "postgres_url"]


class OwnerEngine:
    capabilities = Capabilities(dialect="duckdb")

    def __init__(self, **tables: pa.Table) -> None:
        self.connection = duckdb.connect()
        for name, table in tables.items():
            self.connection.register(name, table)

    def relation(self, name: str) -> str:
        return f'"{name}"'

    def columns(self, name: str) -> list[tuple[str, str]]:
        found = self.connection.execute(f'DESCRIBE "{name}"').fetchall()
        return [(row[0], row[1]) for row in found]

    def names(self, name: str) -> list[str]:
        return [column for column, _ in self.columns(name)]

    owner_reader = Engine.owner_reader

    def _run(self, sql: str, *, seconds: float | None = None) -> Exact:
        try:
            return Exact(plain_table(self.connection.sql(sql).to_arrow_table()))
        except duckdb.Error:
            raise engine_failed() from None

    def close(self) -> None:
        self.connection.close()


@pytest.fixture
def owner_engine():
    """Return a function that attaches Arrow tables."""
    made = []

    def attach(**tables):
        made.append(OwnerEngine(**tables))
        return made[-1]

    yield attach
    for engine in made:
        engine.close()
