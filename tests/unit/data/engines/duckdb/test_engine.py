from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.engines.base import EngineLimits, open_exact
from discreet.data.engines.connect import connect
from discreet.errors import CatalogError, DiscreetError, EngineFailed
from patience import SLACK, eventually

LIMITS = EngineLimits(seconds=100.0, memory_mb=512, threads=1, workers=2)


@pytest.fixture
def opened():
    """Return a way to open engines that are closed at the end."""
    engines = []

    def open_one(url, sources, base, limits=LIMITS, **more):
        engine = connect(url, sources, base=base, limits=limits, **more)
        engines.append(engine)
        return engine

    yield open_one
    for engine in engines:
        engine.close()


def rows(engine, sql):
    return sorted(
        map(tuple, (row.values() for row in open_exact(engine.owner_reader().run(sql)).to_pylist()))
    )


def test_csv_files_are_read_once_into_the_state_folder(tmp_path, opened):
    source = tmp_path / "people.csv"
    source.write_text('name;age;day\n"A;B";1;2024-01-01\n"";;\nZoë;30;2024-01-02\n')
    state = tmp_path / "state"
    engine = opened("duckdb:", {"people": "people.csv"}, tmp_path, state=state)
    assert engine.columns("people") == [("name", "VARCHAR"), ("age", "BIGINT"), ("day", "DATE")]
    assert set(engine.schema("people").values()) == {"VARCHAR"}
    sql = f'SELECT COUNT(*) AS n, COUNT("name") AS m, SUM("age") AS s FROM {engine.relation("people")}'
    assert rows(engine, sql) == [(3, 2, 31)]
    snapshots = list((state / "duckdb/tables").glob("csv-*.parquet"))
    assert len(snapshots) == 1
    made = snapshots[0].stat().st_mtime_ns
    assert snapshots[0].stat().st_mode & 0o077 == 0
    again = opened("duckdb:", {"people": "people.csv"}, tmp_path, state=state)
    assert rows(again, sql) == [(3, 2, 31)]
    assert snapshots[0].stat().st_mtime_ns == made


def test_several_files_are_one_table(tmp_path, opened):
    for part in range(3):
        pq.write_table(pa.table({"a": [part]}), tmp_path / f"part-{part}.parquet")
    engine = opened("duckdb:", {"t": "part-*.parquet"}, tmp_path)
    assert rows(engine, f'SELECT "a" FROM {engine.relation("t")}') == [(0,), (1,), (2,)]


def test_tables_of_a_database_file(tmp_path, opened):
    with duckdb.connect(str(tmp_path / "town.duckdb")) as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 5 AS a")
        connection.execute("CREATE TABLE u AS SELECT 6 AS a")
    engine = opened("duckdb:town.duckdb", {"t": "s.t", "u": "u"}, tmp_path)
    assert rows(engine, f'SELECT "a" FROM {engine.relation("t")}') == [(5,)]
    assert rows(engine, f'SELECT "a" FROM {engine.relation("u")}') == [(6,)]


def test_a_broken_csv_is_named_without_its_cells(tmp_path, opened):
    (tmp_path / "people.csv").write_text("a,b\n1,CANARY\n2,3,4,5,6\n")
    engine = opened("duckdb:", {"people": "people.csv"}, tmp_path)
    with pytest.raises(CatalogError, match="people") as caught:
        engine.columns("people")
    assert "CANARY" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_a_broken_parquet_file_is_named(tmp_path, opened):
    (tmp_path / "people.parquet").write_bytes(b"PAR1 this is not one PAR1")
    engine = opened("duckdb:", {"people": "people.parquet"}, tmp_path)
    with pytest.raises(CatalogError, match="people"):
        engine.columns("people")


@pytest.fixture
def counted(tmp_path, opened):
    """Return an engine, a question that it has answered, and the process that did."""
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    engine = opened("duckdb:", {"t": "t.parquet"}, tmp_path)
    sql = f"SELECT COUNT(*) AS n FROM {engine.relation('t')}"
    assert rows(engine, sql) == [(1,)]
    return engine, sql, engine._raw._idle[0]._process


def test_a_child_that_was_ended_while_idle_is_replaced(counted):
    engine, sql, process = counted
    process.kill()
    assert process.ended(SLACK)
    assert rows(engine, sql) == [(1,)]


def test_a_child_that_dies_while_it_works_fails_one_question(counted):
    engine, sql, process = counted

    def kill() -> None:
        eventually(lambda: engine._raw._busy, "nobody was lent")
        process.kill()

    threading.Thread(target=kill).start()
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(
            "SELECT SUM(i * j) AS x FROM range(10000000) AS a(i), range(10000000) AS b(j)"
        )
    assert process.ended(SLACK)
    assert rows(engine, sql) == [(1,)]


def test_a_child_that_could_not_answer_is_not_asked_again(counted):
    # DuckDB may be left beyond use by what it could not do; nobody else is to find out.
    engine, sql, process = counted
    with pytest.raises(EngineFailed):
        engine.owner_reader().run("SELECT nothing FROM nowhere")
    assert process.ended(SLACK)
    assert rows(engine, sql) == [(1,)]


def test_threads_that_find_sources_changed_do_not_take_them_from_one_another(tmp_path, opened):
    """Both are the first to ask: one opens the sources, and the other waits for all of them."""
    for name in ("a", "b"):
        pq.write_table(pa.table({"x": [1]}), tmp_path / f"{name}.parquet")
    engine = opened("duckdb:", {"a": "a.parquet", "b": "b.parquet"}, tmp_path)
    plain_setup, plain_place = engine._setup, engine._place
    second, first_done = threading.Event(), threading.Event()
    came: list[int] = []

    def setup(places):
        if not came:  # the first has found all places, and opens them now
            came.append(threading.get_ident())
            second.wait(0.2)  # until the second is let in; else for nothing
        return plain_setup(places)

    def place(origin):
        if came and threading.get_ident() not in came:  # the second begins anew
            second.set()
            first_done.wait(SLACK)
        return plain_place(origin)

    engine._setup, engine._place = setup, place
    found: list[object] = []

    def ask() -> None:
        try:
            found.append(rows(engine, f"SELECT COUNT(*) AS n FROM {engine.relation('b')}"))
        except DiscreetError as error:
            found.append(error)
        first_done.set()

    first, other = (threading.Thread(target=ask) for _ in range(2))
    first.start()
    eventually(lambda: came, "the first did not begin")
    other.start()
    first.join()
    other.join()
    assert found == [[(1,)], [(1,)]]


def test_a_child_that_worked_while_its_source_changed_is_not_asked_again(tmp_path, opened):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    engine = opened("duckdb:", {"t": "t.parquet"}, tmp_path)
    sql = f"SELECT * FROM {engine.relation('t')}"
    with engine._child(sql) as before:
        (tmp_path / "t.parquet").unlink()
        pq.write_table(pa.table({"x": [2], "y": [3]}), tmp_path / "t.parquet")
        assert rows(engine, sql) == [(2, 3)]
    with engine._child(sql) as after:
        assert after is not before
    assert rows(engine, sql) == [(2, 3)]


def test_nothing_is_left_behind(tmp_path, opened):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    engine = connect("duckdb:", {"t": "t.parquet"}, base=tmp_path, limits=LIMITS)
    engine.owner_reader().run(f"SELECT COUNT(*) AS n FROM {engine.relation('t')}")
    child, folder = engine._raw._idle[0]._process, engine._state
    assert folder.is_dir()
    engine.close()
    assert child.ended(0)
    assert not folder.exists()


def test_the_child_ends_when_its_parent_is_killed(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    script = (
        "import os, sys; from pathlib import Path\n"
        "from discreet.data.engines.connect import connect\n"
        "engine = connect('duckdb:', {'t': 't.parquet'}, base=Path(sys.argv[1]), state=Path(sys.argv[1]))\n"
        "engine.owner_reader().run('SELECT COUNT(*) AS n FROM ' + engine.relation('t'))\n"
        "print(engine._raw._idle[0]._process.pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )
    pid = int(done.stdout)
    eventually(lambda: not _running(pid), "the child ends")


def _running(pid):
    try:
        facts = Path(f"/proc/{pid}/stat").read_text()
        return facts.rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second if it ends between open and read
        return False


def test_source_files_cannot_be_written_even_past_the_guard(tmp_path, opened):
    """Behind the guard stands DuckDB's own lock, and the worker's look at the kind of statement."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1]}), path)
    before = path.read_bytes()
    engine = opened("duckdb:", {"t": "t.parquet"}, tmp_path, state=tmp_path / "state")
    never = tmp_path / "never.csv"
    attempts = [
        f"COPY (SELECT 2 AS a) TO '{path}' (FORMAT parquet)",
        f"COPY (SELECT 2 AS a) TO '{never}'",
        "SELECT * FROM read_text('/etc/passwd')",
        f"SELECT * FROM read_csv('{tmp_path}/other.csv')",
        "SET enable_external_access = true",
        "ATTACH ':memory:' AS other",
        "CREATE TABLE x AS SELECT 1",
        "SELECT 1; SELECT 2",
    ]
    (tmp_path / "other.csv").write_text("a\n1\n")
    for sql in attempts:
        with engine._child("") as child, pytest.raises(EngineFailed):
            child.ask(b"R" + sql.encode(), 10.0)
    assert path.read_bytes() == before
    assert not never.exists()


def test_what_memory_does_not_hold_is_spilled(tmp_path, opened):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    engine = opened("duckdb:", {"t": "t.parquet"}, tmp_path, replace(LIMITS, memory_mb=24))
    many = "SELECT i, REPEAT(CAST(i AS VARCHAR), 9) AS x FROM range(400000) AS r(i)"
    last = f"SELECT ROW_NUMBER() OVER (ORDER BY HASH(i), x) AS r, x FROM ({many})"
    sql = f"SELECT COUNT(DISTINCT LENGTH(x)) AS n, MAX(r) AS last FROM ({last}) AS t"
    assert rows(engine, sql) == [(6, 400000)]


def test_what_was_spilled_goes_with_the_child(tmp_path, opened):
    state = tmp_path / "state"
    pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    engine = opened(
        "duckdb:", {"t": "t.parquet"}, tmp_path, replace(LIMITS, memory_mb=64), state=state
    )
    sql = "SELECT i, md5(CAST(i AS VARCHAR)) AS h FROM range({n}) AS r(i) ORDER BY h"
    sql = (
        f"SELECT COUNT(*) AS n FROM (SELECT ROW_NUMBER() OVER (ORDER BY h) AS r FROM ({sql})) AS t"
    )
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(sql.format(n=100_000_000), seconds=1.0)
    engine.close()
    left = [path for path in (state / "duckdb" / "spill").rglob("*") if path.is_file()]
    assert left == []
