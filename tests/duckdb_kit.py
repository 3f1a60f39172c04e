"""Databases of their own in one DuckDB for each process: opening one takes longer than most tests ask of it."""

from __future__ import annotations

import itertools
import os
from functools import cache

import duckdb

from discreet.data.engines.child_limits import CLOSED

_numbers = itertools.count()


@cache
def _opened(process: int) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={**CLOSED, "threads": "1"})


def room() -> duckdb.DuckDBPyConnection:
    """Return a connection to an empty database in memory that no other connection uses."""
    connection = _opened(os.getpid()).cursor()
    name = f"room_{next(_numbers)}"
    connection.execute(f"ATTACH ':memory:' AS {name}")
    connection.execute(f"USE {name}")
    return connection
