"""The dialects that there are: one line for each engine."""

from __future__ import annotations

from discreet.engine.dialect.row import Dialect
from discreet.engine.duckdb.dialect import DUCKDB
from discreet.engine.postgres.dialect import POSTGRES
from discreet.engine.spark.dialect import SPARK

DIALECTS: dict[str, Dialect] = {
    row.name: row
    for row in (
        DUCKDB,
        POSTGRES,
        SPARK,
    )
}
"""By their names, which engines say in their capabilities."""
