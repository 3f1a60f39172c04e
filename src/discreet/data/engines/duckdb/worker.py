"""The child process that holds DuckDB: opens the sources, locks itself in, then answers.

Speaks in frames over one inherited socket: a letter, then bytes. No text of DuckDB ever goes into a
frame, a log or a terminal: a failure is the letter E and nothing else.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import duckdb

from discreet.base.unit import PathCell
from discreet.data.engines.arrow import table_bytes
from discreet.data.engines.child_limits import CLOSED, free_data, limit_addresses, own_folder
from discreet.data.engines.declared import (
    HERE,
    DeclaredCell,
    Reached,
    cells_of,
    folded,
    joined_rows,
    nothing_of,
)
from discreet.data.engines.dialects import quoted, text_constant
from discreet.data.engines.ingest import CsvFile, store_typed
from discreet.errors import CatalogError

_RESERVE_MB = 4096
"""Address space beyond DuckDB's own limit: code, stacks, and results on their way out."""
_FILE = "discreet_source_file"
_MOST_ATTACHED = 16
"""So many snapshots may stay open in one child though nothing reads them any more."""


def listed(paths: list[str]) -> str:
    """Return file names as an SQL list."""
    return "[" + ", ".join(text_constant(path) for path in paths) + "]"


def confine(memory_mb: int) -> None:
    """Limit this process before it reads anything: address space, core dumps, keyboard."""
    limit_addresses((memory_mb + _RESERVE_MB) << 20)
    free_data()
    # Ctrl-C is for the parent; when that goes, our socket closes and we go too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)


_prepared: list[duckdb.DuckDBPyConnection] = []


def prepare() -> None:
    """Open a database before there is a child for it: what DuckDB does then takes most of a child's start."""
    database = _empty()
    database.sql("SELECT 1 AS a").to_arrow_table()
    _prepared.append(database)


def _empty() -> duckdb.DuckDBPyConnection:
    """Return an empty DuckDB in memory that has no thread yet: it may be forked."""
    database = duckdb.connect(":memory:", config={**CLOSED, "threads": "1", "async_threads": "0"})
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    return database


def open_database(setup: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """Return an empty DuckDB in memory that cannot fetch extensions or see Python's variables."""
    folder = own_folder(Path(setup["temporary"]))
    # A connection of its own: what DuckDB draws by chance belongs to connections, and brothers share the first one.
    connection = (_prepared.pop() if _prepared else _empty()).cursor()
    connection.execute(f"SET memory_limit = '{setup['memory_mb']}MiB'")
    connection.execute(f"SET temp_directory = {text_constant(str(folder))}")
    connection.execute(f"SET threads = {setup['threads']}" if setup["threads"] else "RESET threads")
    connection.execute("RESET async_threads")
    return connection


def attach(connection: duckdb.DuckDBPyConnection, setup: dict[str, Any]) -> str | None:
    """Return the name of the first source that cannot be read, or None when all are open."""
    name = None
    try:
        for schema in ("source", "kept", "canon"):
            connection.execute(f"CREATE SCHEMA {schema}")
        if setup["database"]:
            path = text_constant(setup["database"])
            connection.execute(f"ATTACH {path} AS database_file (READ_ONLY)")
        for name, place in setup["sources"].items():
            if "join" in place and _has_unit(connection, place["join"]):
                return str(name)
            view = f"CREATE VIEW source.{quoted(name)} AS {_rows(connection, place)}"
            connection.execute(view)
    except (duckdb.Error, CatalogError):  # a path may name a column that is not there
        return name or ""
    return None


def _rows(connection: duckdb.DuckDBPyConnection, place: dict[str, Any]) -> str:
    """Return the SELECT of all rows of a source: Parquet or CSV files, or a table."""
    if "read" in place:
        return _declared_rows(connection, place["read"])
    if "join" in place:
        return _joined_rows(connection, place["join"])
    if "table" in place:
        return f"SELECT * FROM {'.'.join(quoted(p) for p in ['database_file', *place['table']])}"
    if "csv" in place:
        first, constants = place["csv"][0], place.get("constants") or [[]] * len(place["csv"])
        return " UNION ALL ".join(
            _with_constants(csv_rows(part, first), own) if own else csv_rows(part, first)
            for part, own in zip(place["csv"], constants, strict=True)
        )
    union = "true" if len(place["parquet"]) > 1 else "false"
    if "constants" in place:
        return _rows_with_constants(place["parquet"], place["constants"])
    # A folder above them that is called age=5 says nothing of their ages.
    return (
        f"SELECT * FROM read_parquet({listed(place['parquet'])}, union_by_name = {union}, "
        "hive_partitioning = false)"
    )


def _rows_with_constants(paths: list[str], constants: list[list[list[Any]]]) -> str:
    """Return the rows of files, each beside the columns that a lake's log keeps for its file."""
    lines = []
    for path, each in zip(paths, constants, strict=True):
        cells = ["NULL" if value is None else text_constant(value) for _, value, _ in each]
        lines.append(f"({', '.join([text_constant(path), *cells])})")
    added = ", ".join(
        f"TRY_CAST(k.v{i} AS {kind}) AS {quoted(column)}"
        for i, (column, _, kind) in enumerate(constants[0])
    )
    names = ", ".join(["file", *(f"v{i}" for i in range(len(constants[0])))])
    return (
        f"SELECT r.* EXCLUDE ({_FILE}), {added} FROM read_parquet({listed(paths)}, "
        f"union_by_name = true, hive_partitioning = false, filename = '{_FILE}') AS r "
        f"JOIN (VALUES {', '.join(lines)}) AS k ({names}) ON r.{_FILE} = k.file"
    )


def _with_constants(rows: str, constants: list[list[Any]]) -> str:
    added = [
        f"TRY_CAST({'NULL' if value is None else text_constant(value)} AS {kind}) AS {quoted(column)}"
        for column, value, kind in constants
    ]
    return f"SELECT r.*, {', '.join(added)} FROM ({rows}) AS r"


def _declared_rows(connection: duckdb.DuckDBPyConnection, read: dict[str, Any]) -> str:
    """Return the rows of files of any columns and types, every cell read as declared.

    Guarantee: columns and their types are the declared ones, whatever files there are; each row is a
        function of its own file.
    """
    cells = [DeclaredCell(*cell) for cell in read["cells"]]
    found = []
    for part in read["parts"]:
        rows = _rows(connection, part)
        listed = ", ".join(cells_of(cells, _types(connection, rows), quoted))
        found.append(f"SELECT {listed} FROM ({rows}) AS {HERE}")
    return " UNION ALL ".join(found) or nothing_of(cells, quoted)


def _types(connection: duckdb.DuckDBPyConnection, rows: str) -> dict[str, str]:
    described = connection.execute(f"DESCRIBE {rows}").fetchall()
    return {folded(str(row[0])): str(row[1]) for row in described}


def _has_unit(connection: duckdb.DuckDBPyConnection, join: dict[str, Any]) -> bool:
    """Return whether a table has the column already that its path would add."""
    types = _types(connection, _rows(connection, join["base"]))
    return folded(PathCell(*join["unit"]).column) in types


def _joined_rows(connection: duckdb.DuckDBPyConnection, join: dict[str, Any]) -> str:
    """Return the rows of a table, each beside the person whom it reaches over other tables."""
    base = _rows(connection, join["base"])
    steps = []
    for step in join["steps"]:
        rows = _rows(connection, step["place"])
        here, key = PathCell(*step["here"]), PathCell(*step["key"])
        steps.append(Reached(f"({rows})", _types(connection, rows), here, key))
    unit = PathCell(*join["unit"])
    return joined_rows(f"({base})", _types(connection, base), steps, unit, quoted)


def csv_rows(part: dict[str, Any], first: dict[str, Any]) -> str:
    """Return the rows of one CSV file as texts: no storage type ever follows from the data."""
    types = ", ".join(f"{text_constant(column)}: 'VARCHAR'" for column in part["columns"])
    return (
        f"SELECT {', '.join(quoted(column) for column in first['columns'])} FROM "
        f"read_csv({text_constant(part['path'])}, auto_detect = false, header = true, skip = 0, "
        f"delim = {text_constant(part['delimiter'])}, quote = '\"', escape = '\"', nullstr = '', "
        f"columns = {{{types}}})"
    )


def paths_of(place: dict[str, Any]) -> list[str]:
    """Return the files of a source."""
    if "join" in place:
        inner = [place["join"]["base"], *(step["place"] for step in place["join"]["steps"])]
        return [path for each in inner for path in paths_of(each)]
    if "read" in place:
        return [path for part in place["read"]["parts"] for path in paths_of(part)]
    return [*place.get("parquet", ()), *(part["path"] for part in place.get("csv", ()))]


def lock(connection: duckdb.DuckDBPyConnection, setup: dict[str, Any]) -> None:
    """Close every door but the source files and our own folders, for good."""
    paths = [path for place in setup["sources"].values() for path in paths_of(place)]
    connection.execute(f"SET allowed_paths = {listed(paths)}")
    connection.execute(f"SET allowed_directories = {listed(setup['folders'])}")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


class Worker:
    """Answers one request at a time; a second thread listens, so that it can be interrupted."""

    def __init__(self, wire: Connection, connection: duckdb.DuckDBPyConnection) -> None:
        self._wire = wire
        self._database = connection
        ((self._spill,),) = connection.execute(
            "SELECT current_setting('temp_directory')"
        ).fetchall()
        self._requests: SimpleQueue[bytes] = SimpleQueue()
        self._answers: dict[bytes, Callable[[bytes], bytes]] = {
            b"R": self._run,
            b"T": self._tree,
            b"S": self._store,
            b"V": self._view,
            b"C": self._columns,
            b"A": self._canonical,
            b"M": self._make,
        }
        self._attached: dict[str, str] = {}
        self._stands: dict[str, str] = {}
        self._made = 0

    def serve(self) -> None:
        """Answer requests until the parent is gone."""
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            request = self._requests.get()
            try:
                reply = self._answers[request[:1]](request[1:])
            except Exception:  # noqa: BLE001 whatever it was, its text may hold a cell
                reply = b"E"
            self._wire.send_bytes(reply)

    def _listen(self) -> None:
        while True:
            try:
                frame = self._wire.recv_bytes()
            except (EOFError, OSError):
                shutil.rmtree(self._spill, ignore_errors=True)
                os._exit(0)
            if frame == b"I":
                self._database.interrupt()
            else:
                self._requests.put(frame)

    def _run(self, body: bytes) -> bytes:
        sql = body.decode()
        statements = self._database.extract_statements(sql)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            return b"E"
        return b"T" + table_bytes(self._database.sql(statements[0]).to_arrow_table())

    def _tree(self, body: bytes) -> bytes:
        # All of the result: an open one would block the next request.
        ((found,),) = self._database.execute(
            "SELECT json_serialize_sql(?)", [body.decode()]
        ).fetchall()
        return b"J" + str(found).encode()

    def _store(self, body: bytes) -> bytes:
        order = json.loads(body)
        if order.get("typed"):
            whole = order["file"]
            file = whole and CsvFile(Path(whole["path"]), whole["delimiter"], (*whole["columns"],))
            how = {"target": order["path"], "compression": order["compression"], "file": file}
            store_typed(self._database, order["sql"], **how)
            return b"K"
        target = text_constant(order["path"])
        self._database.execute(f"COPY ({order['sql']}) TO {target} (FORMAT parquet)")
        return b"K"

    def _view(self, body: bytes) -> bytes:
        order = json.loads(body)
        scan = f"read_parquet({text_constant(order['path'])})"
        name = quoted(order["name"])
        self._database.execute(f"CREATE OR REPLACE VIEW kept.{name} AS SELECT * FROM {scan}")
        return b"K"

    def _canonical(self, body: bytes) -> bytes:
        """Let canon."dataset.table" stand for one snapshot from now on."""
        order = json.loads(body)
        path, name = order["path"], quoted(order["name"])
        if path not in self._attached:
            self._forget()
            self._made += 1
            alias = f"snapshot_{self._made}"
            self._database.execute(f"ATTACH {text_constant(path)} AS {alias} (READ_ONLY)")
            self._attached[path] = alias
        self._stands[name] = path
        rows = f"SELECT * FROM {self._attached[path]}.main.t"
        self._database.execute(f"CREATE OR REPLACE VIEW canon.{name} AS {rows}")
        return b"K"

    def _forget(self) -> None:
        """Close the snapshots that no table stands for any more, once there are many."""
        if len(self._attached) >= _MOST_ATTACHED:
            for path in set(self._attached) - set(self._stands.values()):
                self._database.execute(f"DETACH {self._attached.pop(path)}")

    def _make(self, body: bytes) -> bytes:
        """Store canonical rows in a database file of their own; answer what was left out, and counted."""
        order = json.loads(body)
        self._database.execute(f"ATTACH {text_constant(order['path'])} AS fresh")
        try:
            self._database.execute(f"CREATE TABLE fresh.main.t AS {order['sorted']}")
        except (duckdb.OutOfMemoryException, duckdb.IOException):  # no room to sort in
            if order["as it comes"] == order["sorted"]:
                raise
            self._database.execute(f"CREATE TABLE fresh.main.t AS {order['as it comes']}")
        counts = self._database.execute(order["dropped"])
        names = [column[0] for column in counts.description or ()]
        (row,) = counts.fetchall()  # all of it: an open result would keep the file attached
        counted = {}
        for asked, sql in order["counted"].items():
            ((counted[asked],),) = self._database.execute(sql).fetchall()
        self._database.execute("DETACH fresh")
        dropped = dict(zip(names, map(int, row), strict=True))
        return b"J" + json.dumps({"dropped": dropped, "counted": counted}).encode()

    def _columns(self, body: bytes) -> bytes:
        rows = self._database.execute(f"DESCRIBE SELECT * FROM {body.decode()}").fetchall()
        return b"J" + json.dumps([[row[0], row[1]] for row in rows]).encode()


def main() -> None:
    """Run the worker on the socket whose number is the first argument."""
    wire = Connection(int(sys.argv[1]))
    setup = json.loads(wire.recv_bytes())
    confine(setup["memory_mb"])
    connection = open_database(setup)
    unreadable = attach(connection, setup)
    if unreadable is not None:
        wire.send_bytes(b"U" + unreadable.encode())
        return
    lock(connection, setup)
    wire.send_bytes(b"K")
    Worker(wire, connection).serve()
