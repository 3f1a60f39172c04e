"""Catalog queries in a process of their own: limits of bytes and time that hold, and a fresh start."""

import datetime as dt
import resource
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from discreet.server.pgwire.catalog import locked, locked_worker
from discreet.server.pgwire.catalog.locked import Filled, LockedDb, Unanswerable
from discreet.server.pgwire.catalog.locked_worker import carried, restored
from discreet.server.pgwire.messages import Failure


@pytest.fixture(scope="module")
def db():
    rows = [(1, "a", dt.date(2020, 1, 2), None), (2, "b", None, ["x", "y"])]
    columns = '"n" INTEGER, "t" VARCHAR, "d" DATE, "l" VARCHAR[]'
    found = LockedDb([Filled('odd "name"', columns, rows)], ["CREATE MACRO twice(x) AS x * 2"])
    yield found
    found.close()


def test_rows_and_macros_arrive_as_they_were(db):
    found = db.run('SELECT n, t, d, l, twice(n) AS w FROM "odd ""name""" ORDER BY n')
    assert found.rows == [
        (1, "a", dt.date(2020, 1, 2), None, 2),
        (2, "b", None, ["x", "y"], 4),
    ]
    assert [column.type.name for column in found.columns] == [
        "int4",
        "text",
        "date",
        "_text",
        "int4",
    ]


BYTES = [
    "SELECT length(string_agg(CAST(x AS VARCHAR), ',')) FROM generate_series(1, 300000000) t(x)",
    "SELECT length(list(x)) FROM generate_series(1, 500000000) t(x)",
    "SELECT repeat('x', 2000000000)",
]


@pytest.mark.parametrize("sql", BYTES)
def test_bytes_are_bounded_wherever_they_are_kept(db, sql):
    db.run("SELECT 1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Failure) as caught:
        db.run(sql, seconds=60)
    assert caught.value.code in {"53200", "54000"}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    if db._child.alive:
        peak = _peak(db._child._process.pid)
        assert peak is None or peak < (locked.MEMORY_MB + 300) << 20
    assert db.run("SELECT 1").rows == [(1,)]


def _peak(pid):
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM generate_series(1, 100001) t(x)",
        "SELECT repeat('x', 100000) FROM generate_series(1, 200) t(x)",
    ],
)
def test_results_are_bounded_in_rows_and_in_bytes(db, sql):
    with pytest.raises(Failure) as caught:
        db.run(sql, seconds=60)
    assert caught.value.code == "54000"


def test_time_is_bounded_and_the_child_lives_on_where_it_listens(db):
    db.run("SELECT 1")
    with pytest.raises(Failure) as caught:
        db.run("SELECT COUNT(*) FROM range(1000000) a, range(1000000) b", seconds=0.3)
    assert caught.value.code == "57014"
    assert db.run("SELECT 1").rows == [(1,)]


def test_the_child_imports_nothing_of_the_endpoint():
    """What it imports is taken from the memory that a query may use."""
    said = "import sys; import discreet.server.pgwire.catalog.locked_worker; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    ours = {name for name in found.stdout.split() if name.startswith("discreet.server.")}
    own = {"discreet.server.pgwire", "discreet.server.pgwire.catalog", locked_worker.__name__}
    assert ours == own
    assert not {"fastapi", "numpy", "pyarrow"} & {*found.stdout.split()}


def test_a_child_that_is_gone_is_replaced(db):
    db.run("SELECT 1")
    db._child._process.kill()
    with pytest.raises(Failure):
        db.run("SELECT 1")
    assert db.run("SELECT 1").rows == [(1,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT nonsense",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SET threads = 8",
        "ATTACH 'x.db'",
    ],
)
def test_the_lock_holds_in_the_child(db, sql):
    with pytest.raises(Unanswerable):
        db.run(sql)


@pytest.mark.parametrize(
    "cell",
    [
        None,
        True,
        7,
        10**30,
        1.5,
        "é\n",
        Decimal("1.50"),
        dt.date(2020, 2, 29),
        dt.datetime(2020, 2, 29, 1, 2, 3, 4),
        [1, [None, "x"]],
        b"\x00\xff",
    ],
)
def test_cells_come_out_as_they_went_in(cell):
    assert restored(carried(cell)) == cell
