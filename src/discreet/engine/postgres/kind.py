"""PostgreSQL as a kind of engine: its URLs, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from discreet.engine.base import Engine
from discreet.engine.kind import EngineKind, Opening
from discreet.engine.postgres import dialect
from discreet.errors import CatalogError

_SECRETS = frozenset({"password", "passfile", "sslkey", "sslpassword"})


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


def _address(url: str, _source: str) -> str:
    """Return server, database and role: what a bare name means depends on all of them."""
    parts = urlsplit(url)
    role, _, place = parts.netloc.rpartition("@")
    asked = parse_qsl(parts.query, keep_blank_values=True)
    told = sorted((name, said) for name, said in asked if name not in _SECRETS)
    return repr((role.partition(":")[0], place, parts.path, told))


POSTGRES = EngineKind(
    schemes=("postgresql", "postgres"),
    dialect=dialect.POSTGRES,
    opened=_opened,
    files=False,
    check_reach=_check_reach,
    address=_address,
)
