"""The kinds of engines that there are: one line each."""

from __future__ import annotations

import re

from discreet.engine.duckdb.kind import DUCKDB
from discreet.engine.kind import EngineKind
from discreet.engine.postgres.kind import POSTGRES
from discreet.engine.spark.kind import SPARK
from discreet.errors import CatalogError

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
