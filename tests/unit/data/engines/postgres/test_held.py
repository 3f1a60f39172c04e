"""One question sees one state of a PostgreSQL table, and its label is that state's."""

from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest

from patience import eventually
from permits import paid

pytestmark = pytest.mark.postgres

PLACE = "town.t"
READ = "SELECT COUNT(*) AS n, COALESCE(SUM({0}), 0) AS s FROM {1} AS t"


@pytest.fixture
def url():
    from engines import fill_postgres, own, postgres_url

    url = postgres_url()
    own("DROP SCHEMA discreet_state CASCADE", "CREATE SCHEMA discreet_state")
    own("GRANT USAGE, CREATE ON SCHEMA discreet_state TO discreet_reader")
    fill_postgres(url, {"t": pa.table({"a": [1, 2, 3]})})
    return url


def owner(*statements):
    from engines import own

    own(*statements)


def label(engine, name):
    """Return what the content of a table is called now, outside of any hold."""
    from discreet.data.engines.postgres.sources import fingerprint

    with engine._pool.lend(100.0) as wire:
        now = engine._sources.now(wire, name)
        return fingerprint(wire, now.rows, now.columns)


def open_engine(url, **more):
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.postgres.engine import PostgresEngine

    source = more.pop("source", "town.t")
    limits = EngineLimits(seconds=20.0)
    return PostgresEngine(url, {"d.t": source}, limits=limits, **more)


def wanted(_engine, *, copy=True, version=None, owner="ledger"):
    from discreet.base.schema import Column, Dataset, IntegerDomain, Table
    from discreet.base.unit import Neighbours, PrivacyUnit
    from discreet.privacy.kernel.canonical import CanonicalRecipe

    columns = (Column("a", IntegerDomain(0, 1000)),)
    table = Table("t", "town.t", PrivacyUnit(), columns, version=version, copied=copy)
    dataset = Dataset("d", (table,), Neighbours.ADD_REMOVE, "d")
    return {"d.t": CanonicalRecipe(dataset, table, owner=owner)}


def read(held):
    from discreet.data.engines.base import open_exact

    # A copied table is read under its canonical name, a live one where it lies.
    copied = bool(held._places)
    sql = READ.format(*(("c0", 'canon."d.t"') if copied else ("a", PLACE)))
    (row,) = open_exact(paid(held).run(sql)).to_pylist()
    return row["n"], int(row["s"])


def copies():
    import psycopg

    from engines import owner_url

    with psycopg.connect(owner_url(), autocommit=True) as session:
        found = session.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'discreet_state'::regnamespace "
            "AND relkind = 'r' ORDER BY oid"
        )
        return [name for (name,) in found]


@pytest.mark.parametrize("copy", [False, True])
def test_a_question_reads_what_was_fingerprinted(url, copy):
    engine = open_engine(url)
    with engine.hold(wanted(engine, copy=copy)) as held:
        owner("INSERT INTO town.t VALUES (100)")
        label = held.fingerprints["d.t"]
        assert read(held) == (3, 6)
        owner("DELETE FROM town.t WHERE a = 1")
        assert read(held) == (3, 6)

    def seen():
        with engine.hold(wanted(engine, copy=copy)) as later:
            return later.fingerprints["d.t"] != label

    eventually(seen, "the change counter of the server lags, but not for long")
    with engine.hold(wanted(engine, copy=copy)) as later:
        assert read(later) == (3, 105)
    engine.close()


def test_reading_outside_of_a_hold_is_caught_by_the_test_above(url):
    """The broken twin: statements of their own see the writer in between."""
    from discreet.data.engines.base import open_exact

    engine = open_engine(url)
    before = label(engine, "d.t")
    owner("INSERT INTO town.t VALUES (100)")
    found = engine.owner_reader().run(f"SELECT COUNT(*) AS n FROM {engine.relation('d.t')} AS t")
    assert open_exact(found).to_pylist() == [{"n": 4}]
    assert label(engine, "d.t") != before
    engine.close()


@pytest.mark.parametrize("copy", [False, True])
def test_one_label_never_stands_for_two_contents(url, copy):
    engine = open_engine(url)
    stop, written = threading.Event(), [0]

    def write():
        import psycopg

        from engines import owner_url

        with psycopg.connect(owner_url(), autocommit=True) as session:
            while not stop.is_set():
                session.execute("UPDATE town.t SET a = a + 1 WHERE a >= 3")
                written[0] += 1
                time.sleep(0.005)

    writer = threading.Thread(target=write)
    writer.start()
    seen: dict[str, set] = {}
    try:
        for _ in range(40):
            before = written[0]
            eventually(lambda before=before: written[0] > before, "somebody writes")
            with engine.hold(wanted(engine, copy=copy)) as held:
                found = {read(held), read(held)}
                seen.setdefault(held.fingerprints["d.t"], set()).update(found)
    finally:
        stop.set()
        writer.join()
    assert all(len(contents) == 1 for contents in seen.values())
    assert copy or len(seen) > 5
    engine.close()


def test_a_killed_connection_is_never_opened_anew_under_a_question(url):
    from discreet.errors import EngineFailed

    engine = open_engine(url)
    held = engine.hold(wanted(engine, copy=False))
    assert read(held) == (3, 6)
    owner(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
        "WHERE usename = 'discreet_reader'"
    )
    for _ in range(2):
        with pytest.raises(EngineFailed):
            read(held)
    held.close()
    with engine.hold(wanted(engine, copy=False)) as again:
        assert read(again) == (3, 6)
    engine.close()


def test_after_a_failed_statement_nothing_more_is_read(url):
    from discreet.errors import EngineFailed

    engine = open_engine(url)
    with engine.hold(wanted(engine, copy=False)) as held:
        for sql in ("SELECT 1 / (a - a) AS x FROM town.t", "SELECT 1 AS x FROM town.t"):
            with pytest.raises(EngineFailed):
                paid(held).run(sql)
    with engine.hold(wanted(engine, copy=False)) as again:
        assert read(again) == (3, 6)
    engine.close()


def test_a_table_is_not_dropped_or_emptied_under_a_question(url):
    import psycopg

    engine = open_engine(url)
    with engine.hold(wanted(engine, copy=False)) as held:
        for change in ("TRUNCATE town.t", "DROP TABLE town.t", "ALTER TABLE town.t ADD b INTEGER"):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                owner("SET lock_timeout = '50ms'", change)
        assert read(held) == (3, 6)
    engine.close()


def test_a_table_that_was_dropped_and_made_anew_is_another_content(url):
    from discreet.errors import CatalogError

    engine = open_engine(url)
    with engine.hold(wanted(engine)) as held:
        first = held.fingerprints["d.t"]
    owner("DROP TABLE town.t")
    with pytest.raises(CatalogError):
        engine.hold(wanted(engine))
    owner(
        "CREATE TABLE town.t (a BIGINT)",
        "INSERT INTO town.t VALUES (50)",
        "GRANT SELECT ON town.t TO discreet_reader",
    )
    with engine.hold(wanted(engine)) as again:
        assert again.fingerprints["d.t"] != first
        assert read(again) == (1, 50)
    engine.close()


def test_a_copy_is_made_once_and_found_by_the_next_process(url, tmp_path):
    for _ in range(3):
        engine = open_engine(url, state=tmp_path)
        for _ in range(2):
            with engine.hold(wanted(engine)) as held:
                assert read(held) == (3, 6)
        engine.close()
    assert len(copies()) == 1


def test_a_copy_belongs_to_one_ledger_and_one_project(url, tmp_path):
    one, two = open_engine(url, state=tmp_path / "one"), open_engine(url, state=tmp_path / "two")
    for engine, ledger in ((one, "a"), (one, "b"), (two, "a")):
        with engine.hold(wanted(engine, owner=ledger)) as held:
            assert read(held) == (3, 6)
    assert len(copies()) == 3
    one.close()
    two.close()


def test_a_stored_table_of_another_role_is_not_read(url, tmp_path):
    engine = open_engine(url, state=tmp_path)
    with engine.hold(wanted(engine)):
        pass
    (name,) = copies()
    owner(
        f'DROP TABLE discreet_state."{name}"',
        f'CREATE TABLE discreet_state."{name}" AS SELECT 666 AS c0',
        f'GRANT SELECT ON discreet_state."{name}" TO discreet_reader',
    )
    from discreet.errors import EngineFailed

    with pytest.raises(EngineFailed):
        engine.hold(wanted(engine))
    engine.close()


def test_old_copies_go_when_nobody_reads_them(url, tmp_path):
    engine = open_engine(url, state=tmp_path)
    first = engine.hold(wanted(engine, version="0"))
    for version in range(1, 8):
        with engine.hold(wanted(engine, version=str(version))) as held:
            assert held.fingerprints["d.t"] == f"declared {version}"
    assert read(first) == (3, 6)
    assert len(copies()) == 4, "the newest three, and the one that is held"
    first.close()
    engine.close()


def test_without_a_place_to_store_a_copy_is_refused(url):
    from discreet.errors import CatalogError

    owner("REVOKE CREATE ON SCHEMA discreet_state FROM discreet_reader")
    engine = open_engine(url)
    with pytest.raises(CatalogError, match="discreet_state"):
        engine.hold(wanted(engine))
    engine.close()


WRITING_VIEW = (
    "CREATE TABLE town.log (a BIGINT)",
    (
        "CREATE FUNCTION town.note(BIGINT) RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER AS "
        "$$ BEGIN INSERT INTO town.log VALUES ($1); RETURN $1; END $$"
    ),
    "CREATE VIEW town.v AS SELECT town.note(a) AS a FROM town.t",
    "GRANT SELECT ON town.v TO discreet_reader",
    "GRANT EXECUTE ON FUNCTION town.note TO discreet_reader",
)


def test_a_view_that_writes_writes_nothing(url):
    from discreet.errors import CatalogError, EngineFailed

    owner(*WRITING_VIEW)
    engine = open_engine(url, source="town.v")
    with pytest.raises(CatalogError, match="cannot be held still"):
        engine.hold(wanted(engine, copy=False))
    for ask in (lambda: engine.hold(wanted(engine)), lambda: label(engine, "d.t")):
        with pytest.raises(EngineFailed):
            ask()
    owner("DO $$ BEGIN ASSERT (SELECT count(*) FROM town.log) = 0; END $$")
    engine.close()


def test_row_level_security_holds_for_every_way_of_reading(url, tmp_path):
    from discreet.data.engines.base import open_exact

    owner(
        "ALTER TABLE town.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY few ON town.t TO discreet_reader USING (a < 3)",
    )
    engine = open_engine(url, state=tmp_path)
    relation = engine.relation("d.t")
    sql = f"SELECT COUNT(*) AS n FROM {relation} AS t"
    assert open_exact(engine.owner_reader().run(sql)).to_pylist() == [{"n": 2}]
    for copy in (False, True):
        with engine.hold(wanted(engine, copy=copy)) as held:
            assert read(held) == (2, 3)
    owner("ALTER POLICY few ON town.t USING (a < 2)")
    for copy in (False, True):
        with engine.hold(wanted(engine, copy=copy)) as held:
            assert read(held) == (1, 1), "a changed policy is a changed content at once"
    engine.close()
