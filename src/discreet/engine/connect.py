"""From a URL to an engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from discreet.core.path import FollowedPath
from discreet.engine.base import Engine, EngineLimits
from discreet.engine.declared import DeclaredCell
from discreet.engine.kind import Opening
from discreet.engine.kinds import kind_of


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
