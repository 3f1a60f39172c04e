"""From a URL to an engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from discreet.core.path import FollowedPath
from discreet.engine.base import Engine, EngineLimits
from discreet.engine.declared import DeclaredCell
from discreet.errors import CatalogError


def connect(
    url: str,
    sources: Mapping[str, str],
    *,
    base: Path,
    state: Path | None = None,
    limits: EngineLimits | None = None,
    allow_superuser: bool = False,
    encodings: Mapping[str, str] = MappingProxyType({}),
    paths: Mapping[str, FollowedPath] = MappingProxyType({}),
    cells: Mapping[str, tuple[DeclaredCell, ...]] = MappingProxyType({}),
) -> Engine:
    """Return the engine behind `url`, with each table of `sources` attached under its name.

    `duckdb:` reads CSV and Parquet files below `base`; `duckdb:FILE` also tables of that database
    file; `postgresql://...` tables written as schema.table; `spark://local[*]`, `local[2]` or
    `spark://host:port` files again. `state` is where snapshots and stored tables outlive us.
    `encodings` says of some tables how their text files are encoded, `paths` over which other
    tables their rows reach a person, `cells` how their columns are read where a table is several
    files; without, files that differ are refused.
    `allow_superuser` lets a PostgreSQL role be one, which is refused otherwise.
    Drivers are imported by the engine that needs them.
    """
    bounds = EngineLimits() if limits is None else limits
    scheme, _, rest = url.partition(":")
    if scheme == "duckdb":
        from discreet.engine.duckdb.engine import DuckDBEngine

        database = (base / rest).resolve() if rest else None
        if database is not None and not database.is_file():
            raise CatalogError(f"The DuckDB file does not exist: {rest}.")
        return DuckDBEngine(
            database,
            sources,
            base=base,
            state=state,
            limits=bounds,
            encodings=encodings,
            paths=paths,
            cells=cells,
        )
    if scheme in ("postgresql", "postgres"):
        from discreet.engine.postgres.engine import PostgresEngine

        if encodings:
            raise CatalogError("Declared encodings are for files that DuckDB or Spark reads.")
        return PostgresEngine(
            url, sources, state=state, limits=bounds, allow_superuser=allow_superuser, paths=paths
        )
    if scheme == "spark" or url.startswith("local"):
        from discreet.engine.spark.engine import SparkEngine
        from discreet.engine.spark.origins import SparkOrigins

        master = url.removeprefix("spark://") if url.startswith("spark://local") else url
        origins = SparkOrigins(sources, base, encodings=encodings, paths=paths, cells=cells)
        return SparkEngine(master, origins, state=state, limits=bounds)
    raise CatalogError(
        f"No engine goes by '{scheme}:'.", hint="Write duckdb:, postgresql://... or spark://..."
    )


def dialect_of(url: str) -> str:
    """Return in whose SQL the engine behind `url` is asked."""
    if url.startswith("postgres"):
        return "postgres"
    return "duckdb" if url.startswith("duckdb") else "spark"


def check_reach(url: str, sources: Mapping[str, str]) -> None:
    """Refuse what is between the owner and these tables, naming the cause. For the owner only."""
    if url.partition(":")[0] in ("postgresql", "postgres"):
        from discreet.engine.postgres.reach import check_reach as check_postgres

        check_postgres(url, sources)
