"""From a URL to an engine: the kinds of engines, which URLs are whose, and how each is opened.

A driver is imported where an engine of its kind is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

from discreet.base.unit import FollowedPath
from discreet.data.engines import dialects
from discreet.data.engines.base import Engine, EngineLimits
from discreet.data.engines.declared import DeclaredCell
from discreet.data.engines.dialects import Dialect
from discreet.data.engines.files import looks_like_file
from discreet.errors import CatalogError


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What an engine is opened with; see `discreet.data.engines.connect.connect`."""

    url: str
    sources: Mapping[str, str]
    base: Path
    state: Path | None
    limits: EngineLimits
    allow_superuser: bool
    encodings: Mapping[str, str]
    paths: Mapping[str, FollowedPath]
    cells: Mapping[str, tuple[DeclaredCell, ...]]


def _reached(_url: str, _sources: Mapping[str, str]) -> None:
    """Find nothing between the owner and files: they are looked at when they are opened."""


def _nowhere(_url: str, _source: str) -> str:
    """Return nothing: a file says by itself where it lies."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKind:
    """One kind of engine; a driver is imported where an engine of its kind is opened."""

    schemes: tuple[str, ...]
    """What its URLs begin with."""
    dialect: Dialect
    opened: Callable[[Opening], Engine]
    files: bool
    """Whether its sources are files; otherwise they are tables of its own."""
    stores: bool = False
    """Whether it keeps the rows of every table that it holds, so that they can be read again."""
    in_file: bool = False
    """Whether a URL may name a database file, whose tables are sources too."""
    check_reach: Callable[[str, Mapping[str, str]], None] = _reached
    """Refuse what is between the owner and these tables."""
    address: Callable[[str, str], str] = _nowhere
    """Where a source lies, of what a URL says; "" for a file that says so itself. Never a secret."""
    leaves: str | None = None
    """What it leaves in the machine's folder for temporary files, if anything."""

    def database(self, url: str) -> str:
        """Return the database file that a URL names; "" where it names none."""
        return url.partition(":")[2] if self.in_file else ""


def _open_duckdb(given: Opening) -> Engine:
    from discreet.data.engines.duckdb.engine import DuckDBEngine

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


def _duckdb_address(url: str, source: str) -> str:
    """Return the database file, as it is written; a moved folder holds the same tables."""
    return "" if looks_like_file(source) else DUCKDB.database(url)


DUCKDB = EngineKind(
    schemes=("duckdb",),
    dialect=dialects.DUCKDB,
    opened=_open_duckdb,
    files=True,
    stores=True,
    in_file=True,
    address=_duckdb_address,
)


_SECRETS = frozenset({"password", "passfile", "sslkey", "sslpassword"})


def _open_postgres(given: Opening) -> Engine:
    from discreet.data.engines.postgres.engine import PostgresEngine

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


def _check_postgres_reach(url: str, sources: Mapping[str, str]) -> None:
    from discreet.data.engines.postgres.reach import check_reach

    check_reach(url, sources)


def _postgres_address(url: str, _source: str) -> str:
    """Return server, database and role: what a bare name means depends on all of them."""
    parts = urlsplit(url)
    role, _, place = parts.netloc.rpartition("@")
    asked = parse_qsl(parts.query, keep_blank_values=True)
    told = sorted((name, said) for name, said in asked if name not in _SECRETS)
    return repr((role.partition(":")[0], place, parts.path, told))


POSTGRES = EngineKind(
    schemes=("postgresql", "postgres"),
    dialect=dialects.POSTGRES,
    opened=_open_postgres,
    files=False,
    check_reach=_check_postgres_reach,
    address=_postgres_address,
)


def _open_spark(given: Opening) -> Engine:
    from discreet.data.engines.spark.engine import SparkEngine
    from discreet.data.engines.spark.sources import SparkOrigins

    local = given.url.startswith("spark://local")
    origins = SparkOrigins(
        given.sources,
        given.base,
        encodings=given.encodings,
        paths=given.paths,
        cells=given.cells,
    )
    return SparkEngine(
        given.url.removeprefix("spark://") if local else given.url,
        origins,
        state=given.state,
        limits=given.limits,
    )


def _spark_address(url: str, _source: str) -> str:
    """Return the cluster, whose machines read the files; this machine reads its own with any number of threads."""
    return "" if url.removeprefix("spark://").startswith("local") else url


SPARK = EngineKind(
    schemes=("spark", "local", "local-cluster"),
    dialect=dialects.SPARK,
    opened=_open_spark,
    files=True,
    address=_spark_address,
    leaves="Spark's temporary files",
)


KINDS: list[EngineKind] = [
    DUCKDB,
    POSTGRES,
    SPARK,
]


def kind_of(url: str) -> EngineKind:
    """Return the kind of engine that a URL names.

    >>> kind_of("local[2]").dialect.name
    'spark'
    """
    scheme = re.split(r"[:\[]", url, maxsplit=1)[0]
    for kind in KINDS:
        if scheme in kind.schemes:
            return kind
    raise CatalogError(
        f"No engine goes by '{scheme}:'.", hint="Write duckdb:, postgresql://... or spark://..."
    )


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
    given = Opening(
        url=url,
        sources=sources,
        base=base,
        state=state,
        limits=EngineLimits() if limits is None else limits,
        allow_superuser=allow_superuser,
        encodings=encodings,
        paths=paths,
        cells=cells,
    )
    return kind_of(url).opened(given)
