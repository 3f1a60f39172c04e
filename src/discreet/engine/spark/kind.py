"""Spark as a kind of engine: its URLs, and how it is opened."""

from __future__ import annotations

from discreet.engine.base import Engine
from discreet.engine.kind import EngineKind, Opening
from discreet.engine.spark import dialect


def _opened(given: Opening) -> Engine:
    from discreet.engine.spark.engine import SparkEngine
    from discreet.engine.spark.origins import SparkOrigins

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


def _address(url: str, _source: str) -> str:
    """Return the cluster, whose machines read the files; this machine reads its own with any number of threads."""
    return "" if url.removeprefix("spark://").startswith("local") else url


SPARK = EngineKind(
    schemes=("spark", "local", "local-cluster"),
    dialect=dialect.SPARK,
    opened=_opened,
    files=True,
    address=_address,
    leaves="Spark's temporary files",
)
