"""The child process that runs catalog queries: a locked DuckDB that holds public rows only.

Spoken to in frames over one inherited socket, as `engine.child` does: a letter, then JSON. It can be
killed at any time, because nothing in it is private and all of it can be made again.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

import duckdb

from discreet.data.engines.child_limits import CLOSED, limit_memory

AT_ONCE = 100
"""Rows that are inserted by one statement, or fetched at a time."""


def main() -> None:
    """Answer on the socket whose number is the first argument, until the parent is gone."""
    wire = Connection(int(sys.argv[1]))
    setup = json.loads(wire.recv_bytes())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    database = opened(setup)
    limit_memory(setup["memory_mb"])
    wire.send_bytes(b"K")
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=[wire, database, requests], daemon=True).start()
    while True:
        wire.send_bytes(answer(database, requests.get()[1:].decode(), setup))


def _listen(
    wire: Connection, database: duckdb.DuckDBPyConnection, requests: SimpleQueue[bytes]
) -> None:
    while True:
        try:
            frame = wire.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)  # the parent has gone, whatever is being computed
        if frame == b"I":
            database.interrupt()
        else:
            requests.put(frame)


def opened(setup: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return the database with its tables and macros in it, locked for good."""
    database = duckdb.connect(
        ":memory:",
        config={
            **CLOSED,
            "threads": "1",
            "memory_limit": f"{setup['memory_mb']}MB",
            "max_temp_directory_size": "0KB",
        },
    )
    for name, columns, rows in setup["tables"]:
        database.execute(f"CREATE TABLE {name} ({columns})")
        # Plain parameters: handing over Arrow tables would import several heavy packages.
        for first in range(0, len(rows), AT_ONCE):
            some = [restored(row) for row in rows[first : first + AT_ONCE]]
            marks = ", ".join("(" + ", ".join("?" for _ in row) + ")" for row in some)
            cells = [cell for row in some for cell in row]
            database.execute(f"INSERT INTO {name} VALUES {marks}", cells)
    for macro in setup["macros"]:
        database.execute(macro)
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")
    return database


def answer(database: duckdb.DuckDBPyConnection, sql: str, setup: dict[str, Any]) -> bytes:
    """Return the reply to one SELECT: T with its rows, or the letter of why there are none."""
    try:
        database.execute(sql)
        described = [[name, str(kind)] for name, kind, *_ in database.description or []]
        rows, size = [], 0
        while some := database.fetchmany(AT_ONCE):
            for row in some:
                rows.append(json.dumps([carried(cell) for cell in row]))
                size += len(rows[-1])
            if len(rows) > setup["rows"] or size > setup["bytes"]:
                return b"AL"
    except duckdb.InterruptException:
        return b"AI"
    except (duckdb.OutOfMemoryException, MemoryError):
        return b"AM"
    except duckdb.Error:
        return b"AU"
    return f"AT[{json.dumps(described)}, [{', '.join(rows)}]]".encode()


def carried(cell: Any) -> Any:
    """Return a cell as JSON can say it; what it has no word for is an object with one name."""
    match cell:
        case None | bool() | int() | float() | str():
            return cell
        case Decimal():
            return {"number": str(cell)}
        case dt.datetime():
            return {"time": cell.isoformat()}
        case dt.date():
            return {"day": cell.isoformat()}
        case list() | tuple():
            return [carried(item) for item in cell]
        case bytes():
            return {"bytes": cell.hex()}
        case _:
            return str(cell)


_RESTORED: dict[str, Callable[[str], Any]] = {
    "number": Decimal,
    "time": dt.datetime.fromisoformat,
    "day": dt.date.fromisoformat,
    "bytes": bytes.fromhex,
}


def restored(cell: Any) -> Any:
    """Return the cell that was `carried`."""
    if isinstance(cell, list):
        return [restored(item) for item in cell]
    if isinstance(cell, dict):
        [(name, text)] = cell.items()
        return _RESTORED[name](text)
    return cell
