"""DuckDB as a kind of engine: its URLs, and how it is opened."""

from __future__ import annotations

from discreet.engine.base import Engine
from discreet.engine.duckdb import dialect
from discreet.engine.files import looks_like_file
from discreet.engine.kind import EngineKind, Opening
from discreet.errors import CatalogError


def _opened(given: Opening) -> Engine:
    from discreet.engine.duckdb.engine import DuckDBEngine

    rest = DUCKDB.database(given.url)
    database = (given.base / rest).resolve() if rest else None
    if database is not None and not database.is_file():
        raise CatalogError(f"The DuckDB file does not exist: {rest}.")
    return DuckDBEngine(
        database,
        given.sources,
        base=given.base,
        state=given.state,
        limits=given.limits,
        encodings=given.encodings,
        paths=given.paths,
        cells=given.cells,
    )


def _address(url: str, source: str) -> str:
    """Return the database file, as it is written; a moved folder holds the same tables."""
    return "" if looks_like_file(source) else DUCKDB.database(url)


DUCKDB = EngineKind(
    schemes=("duckdb",),
    dialect=dialect.DUCKDB,
    opened=_opened,
    files=True,
    stores=True,
    in_file=True,
    address=_address,
)
