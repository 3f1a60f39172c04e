"""One question on Spark reads one state of its files, and its label is that state's."""

from __future__ import annotations

import contextlib
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.base.schema import Column, Dataset, DateDomain, IntegerDomain, Table
from discreet.base.unit import Neighbours, PrivacyUnit
from discreet.data.engines.base import EngineLimits, open_exact
from discreet.data.engines.functions import function
from discreet.errors import EngineFailed
from discreet.privacy.kernel.canonical import CanonicalRecipe
from permits import paid

pytestmark = pytest.mark.spark


def write(path, values):
    """Replace a file the way programs do: written aside, then renamed."""
    rough = path.with_suffix(".rough")
    pq.write_table(pa.table({"a": values}), rough)
    rough.replace(path)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "t.parquet", [1, 2, 3])
    return tmp_path


def open_engine(folder, source="t.parquet"):
    from discreet.data.engines.connect import connect

    limits = EngineLimits(seconds=60.0, memory_mb=1024, threads=2)
    return connect(
        "spark://local[2]", {"d.t": source}, base=folder, state=folder / "state", limits=limits
    )


def wanted(*, copy, version=None, owner="ledger"):
    columns = (Column("a", IntegerDomain(0, 1000)),)
    table = Table("t", "t.parquet", PrivacyUnit(), columns, version=version, copied=copy)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    return {"d.t": CanonicalRecipe(dataset, table, owner=owner)}


def read(held, column="a", place="`d.t`"):
    sql = f"SELECT COUNT(*) AS n, SUM({column}) AS s FROM {place} AS t"
    (row,) = open_exact(paid(held).run(sql)).to_pylist()
    return row["n"], int(row["s"] or 0)


def copied(held):
    return read(held, "c0", "canon.`d.t`")


def copies(folder):
    return list((folder / "state" / "spark" / "tables").iterdir())


def test_a_file_that_changes_under_a_question_fails_it(folder):
    engine = open_engine(folder)
    held = engine.hold(wanted(copy=False))
    label = held.fingerprints["d.t"]
    assert read(held) == (3, 6)
    write(folder / "t.parquet", [1, 2, 3, 4])
    for _ in range(2):
        with pytest.raises(EngineFailed):
            read(held)
    held.close()
    with engine.hold(wanted(copy=False)) as again:
        assert again.fingerprints["d.t"] != label
        assert read(again) == (4, 10), "the next question reads the new file"
    engine.close()


def test_a_change_that_keeps_size_and_time_is_seen(folder):
    path = folder / "t.parquet"
    before = path.stat()
    engine = open_engine(folder)
    held = engine.hold(wanted(copy=False))
    write(path, [3, 2, 1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(EngineFailed):
        read(held)
    engine.close()


def test_a_copy_is_read_whatever_becomes_of_the_file(folder):
    engine = open_engine(folder)
    held = engine.hold(wanted(copy=True))
    write(folder / "t.parquet", [100])
    assert copied(held) == (3, 6)
    (folder / "t.parquet").unlink()
    assert copied(held) == (3, 6)
    write(folder / "t.parquet", [100])
    with engine.hold(wanted(copy=True)) as again:
        assert again.fingerprints["d.t"] != held.fingerprints["d.t"]
        assert copied(again) == (1, 100)
    assert copied(held) == (3, 6)
    engine.close()


def test_a_copy_is_made_once_and_belongs_to_one_ledger(folder):
    for _ in range(2):
        engine = open_engine(folder)
        with engine.hold(wanted(copy=True)) as held:
            assert copied(held) == (3, 6)
        engine.close()
    assert len(copies(folder)) == 1
    engine = open_engine(folder)
    with engine.hold(wanted(copy=True, owner="another")) as held:
        assert copied(held) == (3, 6)
    assert len(copies(folder)) == 2
    engine.close()


def test_a_removed_ledger_leaves_no_stale_rows(folder):
    engine = open_engine(folder)
    with engine.hold(wanted(copy=True, version="1", owner="old")):
        pass
    write(folder / "t.parquet", [50])
    with engine.hold(wanted(copy=True, version="1", owner="old")) as held:
        assert copied(held) == (3, 6), "the owner's word: the same version is the same content"
    with engine.hold(wanted(copy=True, version="1", owner="new")) as held:
        assert copied(held) == (1, 50)
    engine.close()


def test_a_source_that_changes_while_it_is_copied_is_tried_again(folder, monkeypatch):
    engine = open_engine(folder)
    store, changes = engine._store, []

    def meddle(name, sql, *, still):
        if not changes:
            changes.append(1)
            write(folder / "t.parquet", [7])
        return store(name, sql, still=still)

    monkeypatch.setattr(engine, "_store", meddle)
    with engine.hold(wanted(copy=True)) as held:
        label = held.fingerprints["d.t"]
        assert copied(held) == (1, 7)
        assert label == engine.fingerprint("d.t")
    assert len(copies(folder)) == 1
    engine.close()


def test_what_is_kept_goes_with_the_hold(folder):
    engine = open_engine(folder)
    with engine.hold(wanted(copy=True)) as held:
        place = paid(held).keep("SELECT c0 AS x FROM canon.`d.t` AS t WHERE c0 > 1")
        assert read(held, "x", place) == (2, 5)
        assert len(copies(folder)) == 2
    assert len(copies(folder)) == 1
    engine.close()


def test_times_in_nanoseconds_are_days(folder):
    import datetime as dt

    moments = [-1, 0, 86_399_999_999_999, 86_400_000_000_000, None]
    times = pa.array(moments, pa.timestamp("ns"))
    pq.write_table(pa.table({"a": times}), folder / "t.parquet")
    engine = open_engine(folder)
    day = Column("a", DateDomain(dt.date(1960, 1, 1), dt.date(2000, 1, 1)))
    table = Table("t", "t.parquet", PrivacyUnit(), (day,), copied=True)
    recipe = CanonicalRecipe(Dataset("d", (table,), Neighbours.ADD_REMOVE, "d"), table)
    with engine.hold({"d.t": recipe}) as held:
        found = open_exact(paid(held).run("SELECT c0 FROM canon.`d.t` AS t")).to_pylist()
    days = [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(1970, 1, 1), dt.date(1970, 1, 2)]
    assert sorted((row["c0"] for row in found if row["c0"]), key=str) == days
    engine.close()


def test_csv_files_may_have_their_columns_in_any_order(folder):
    shutil.rmtree(folder / "state", ignore_errors=True)
    (folder / "p1.csv").write_text("a,b\n1,10\n2,20\n")
    (folder / "p2.csv").write_text("b,a\n30,3\n")
    engine = open_engine(folder, "p*.csv")
    with engine.hold(wanted(copy=True)) as held:
        assert copied(held) == (3, 6)
    engine.close()


def test_sums_leave_64_bits_exactly(tmp_path):
    """Twenty-one bits at a time; Spark's own sum of the same numbers wraps or raises."""
    ends = [2**63 - 1, -(2**63), -1, 0, 2**21, -(2**21), 2**42, -(2**42) - 1, None]
    worlds = [ends[:1] * 5, ends[1:2] * 5, ends * 3, [None]]
    rows = [(i, value) for i, values in enumerate(worlds) for value in values]
    places, cells = zip(*rows, strict=True)
    table = pa.table({"g": places, "a": pa.array(cells, pa.int64())})
    pq.write_table(table, tmp_path / "t.parquet")
    with contextlib.closing(open_engine(tmp_path)) as engine:
        parts = function("sum_integer", "spark", "t.a")
        sql = f"SELECT t.g AS g, {parts} AS x FROM {engine.relation('d.t')} AS t GROUP BY 1"
        found = open_exact(engine.owner_reader().run(sql)).to_pylist()
    known = [[value for value in values if value is not None] for values in worlds]
    assert {row["g"]: row["x"] for row in found} == {
        i: sum(values) if values else None for i, values in enumerate(known)
    }
