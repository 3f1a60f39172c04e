"""PostgreSQL as a kind of engine: its URLs, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.engine.base import Engine
from discreet.engine.kind import EngineKind, Opening
from discreet.engine.postgres import dialect
from discreet.errors import CatalogError


def _opened(given: Opening) -> Engine:
    from discreet.engine.postgres.engine import PostgresEngine

    if given.encodings:
        raise CatalogError("Declared encodings are for files that DuckDB or Spark reads.")
    return PostgresEngine(
        given.url,
        given.sources,
        state=given.state,
        limits=given.limits,
        allow_superuser=given.allow_superuser,
        paths=given.paths,
    )


def _check_reach(url: str, sources: Mapping[str, str]) -> None:
    from discreet.engine.postgres.reach import check_reach

    check_reach(url, sources)


POSTGRES = EngineKind(
    schemes=("postgresql", "postgres"),
    dialect=dialect.POSTGRES,
    opened=_opened,
    files=False,
    check_reach=_check_reach,
)
