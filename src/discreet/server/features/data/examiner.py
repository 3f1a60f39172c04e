"""The child process that opens an upload: whatever the file does to its reader, it does it here.

Turns a CSV or Parquet file into one clean Parquet file, or says in one word why not. No text of a
parser ever leaves it: such a text may hold a cell.
"""

from __future__ import annotations

import json
import resource
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from discreet.data.engines.dialects import quoted, text_constant
from discreet.data.engines.duckdb.worker import confine, csv_rows, open_database
from discreet.data.engines.formats import write_plain
from discreet.data.engines.ingest import UNAMBIGUOUS, store_typed
from discreet.errors import DiscreetError

MAX_NAME = 200
"""The most letters that the name of a column may have."""

_BYTES = {"VARCHAR": "strlen({})", "BLOB": "octet_length({})"}
"""How many bytes a cell of each type holds."""
_AT_ONCE = 64
"""Columns that one query measures: planning a query over all of a wide table takes minutes."""


def names_problem(names: list[str], most: int) -> str:
    """Return what is wrong with the names of the columns, in one word; empty if nothing is."""
    if not names:
        return "empty"
    if len(names) > most:
        return "columns"
    if any(not name.strip() or len(name) > MAX_NAME or not name.isprintable() for name in names):
        return "names"
    return "twins" if len({name.lower() for name in names}) < len(names) else ""


def read_parquet(setup: dict[str, Any]) -> str:
    """Write the clean copy of a Parquet file; return what is wrong with it, in one word."""
    with pq.ParquetFile(setup["path"]) as file:
        names, facts = list(file.schema_arrow.names), file.metadata
        unpacked = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        rows = facts.num_rows
    problem = names_problem(names, setup["columns"])
    if problem or rows > setup["rows"] or unpacked > setup["unpacked"]:
        return problem or ("rows" if rows > setup["rows"] else "unpacked")
    connection = open_database(setup)
    connection.execute("SET preserve_insertion_order = false")
    source, target = text_constant(setup["path"]), text_constant(setup["target"])
    # Before copying: one long word that a dictionary repeats is short to measure and long to write.
    problem = texts_problem(connection, source, setup)
    if problem:
        return problem
    # The limit, because a footer may lie about the number of rows.
    some = f"SELECT * FROM read_parquet({source}) LIMIT {setup['rows'] + 1}"
    connection.execute(f"COPY ({some}) TO {target} (FORMAT parquet)")
    return ""


def read_csv(setup: dict[str, Any]) -> str:
    """Write the snapshot of a CSV file; return what is wrong with it, in one word."""
    problem = names_problem(setup["names"], setup["columns"])
    if problem:
        return problem
    connection = open_database(setup)
    select = csv_rows({**setup, "columns": setup["names"]}, {"columns": setup["names"]})
    store_typed(connection, select, target=setup["target"], kinds=UNAMBIGUOUS)
    return texts_problem(connection, text_constant(setup["target"]), setup)


def measure(setup: dict[str, Any]) -> str:
    """Return what is wrong with the clean file that we have written ourselves, in one word."""
    connection = open_database(setup)
    target = text_constant(setup["target"])
    rows, unpacked = _row(
        connection,
        "SELECT (SELECT num_rows FROM parquet_file_metadata(" + target + ")), "
        f"(SELECT sum(total_uncompressed_size) FROM parquet_metadata({target}))",
    )
    if not rows:
        return "norows"
    if rows > setup["rows"]:
        return "rows"
    if unpacked > setup["unpacked"]:
        return "unpacked"
    return ""


def texts_problem(connection: duckdb.DuckDBPyConnection, file: str, setup: dict[str, Any]) -> str:
    """Return whether the texts of a Parquet file are too long, one by one or together."""
    described = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({file})").fetchall()
    texts = [_BYTES[kind].format(quoted(name)) for name, kind, *_ in described if kind in _BYTES]
    together = 0
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        asked = ", ".join(f"coalesce(max({n}), 0), coalesce(sum({n}), 0)" for n in some)
        found = _row(connection, f"SELECT {asked} FROM read_parquet({file})")
        if max(found[::2]) > setup["cell"]:
            return "cell"
        together += sum(found[1::2])
    return "unpacked" if together > setup["unpacked"] else ""


def _row(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Any, ...]:
    row = connection.execute(sql).fetchone()
    assert row is not None, "an aggregate has one row"
    return tuple(row)


def examine(setup: dict[str, Any]) -> str:
    """Return what is wrong with the file, in one word; empty if its clean copy is in place."""
    try:
        problem = (read_parquet if setup["parquet"] else read_csv)(setup)
        return problem or measure(setup)
    except Exception:  # noqa: BLE001 its text may hold a cell
        return "unreadable"


def rewrite(setup: dict[str, Any]) -> str:
    """Write a file of another format as plain CSV; return what is wrong with it, as a sentence."""
    try:
        write_plain(Path(setup["path"]), Path(setup["plain"]), encoding=setup["encoding"])
    except DiscreetError as problem:  # our own words, which hold no cell
        return f"{problem.message} {problem.hint}".strip()
    except Exception:  # noqa: BLE001 its text may hold a cell
        return "The file cannot be unpacked within the bounds of this server."
    return ""


def main() -> None:
    """Examine one file, as told over the socket whose number is the first argument."""
    wire = Connection(int(sys.argv[1]))
    setup = json.loads(wire.recv_bytes())
    confine(setup["memory_mb"])
    # No file that we write can outgrow this, whatever unfolds out of the one that we read.
    resource.setrlimit(resource.RLIMIT_FSIZE, (setup["unpacked"], setup["unpacked"]))
    problem = rewrite(setup) if "plain" in setup else examine(setup)
    wire.send_bytes(b"U" + problem.encode() if problem else b"K")
