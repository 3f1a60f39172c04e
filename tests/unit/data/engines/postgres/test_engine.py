from __future__ import annotations

import time

import pyarrow as pa
import pytest

from patience import SLACK

pytestmark = pytest.mark.postgres

LONG = "SELECT SUM(i % 7 * (j % 5)) AS x FROM generate_series(1, 100000000) AS a(i), generate_series(1, 100000000) AS b(j)"


@pytest.fixture(scope="module")
def url():
    from engines import fill_postgres, postgres_url

    fill_postgres(postgres_url(), {"t": pa.table({"a": [1, 2, 3], "s": ["x", "y", None]})})
    return postgres_url()


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

    limits = EngineLimits(seconds=100.0, memory_mb=64)
    return PostgresEngine(url, {"t": "town.t"}, limits=limits, **more)


def rows(engine, sql):
    from discreet.data.engines.base import open_exact

    return [tuple(row.values()) for row in open_exact(engine.owner_reader().run(sql)).to_pylist()]


def test_a_server_that_forgets_its_limit_is_cut_off(url):
    from discreet.errors import EngineFailed

    engine = open_engine(url)
    engine._pool._idle[0]._timeout = 1.0  # so that the server is never told
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(LONG, seconds=1.0)
    assert 1.0 <= time.monotonic() - start < 1.0 + SLACK
    assert rows(engine, "SELECT 7 AS a") == [(7,)]
    owner(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT SUM(i %'",
    )
    engine.close()


def test_a_superuser_is_refused(url):
    from discreet.errors import CatalogError
    from engines import owner_url

    with pytest.raises(CatalogError, match="superuser"):
        open_engine(owner_url())


def test_a_superuser_who_is_allowed_is_demoted(url):
    from engines import owner_url

    engine = open_engine(owner_url(), allow_superuser=True)
    assert rows(engine, "SELECT current_user AS u") == [("pg_read_all_data",)]
    import psycopg

    session = engine._pool.take()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.wire.execute("SELECT pg_read_file('/etc/passwd')")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        session.wire.execute("CREATE TABLE town.x (a INTEGER)")
    engine._pool.give_back(session)
    engine.close()


def test_the_fingerprint_sees_every_change_and_nothing_else(url):
    engine = open_engine(url)
    seen = [label(engine, "t")]
    for change in (
        "INSERT INTO town.t VALUES (4, 'z')",
        "UPDATE town.t SET s = 'w' WHERE a = 4",
        "DELETE FROM town.t WHERE a = 4",
    ):
        owner(change)
        seen.append(label(engine, "t"))
    assert len(set(seen)) == 3
    assert seen[0] == seen[3], "back to the old rows is back to the old snapshot"
    owner("VACUUM FULL town.t")
    assert label(engine, "t") == seen[0]
    engine.close()


EQUAL_BUT_NOT_THE_SAME = {
    "numeric": ("1.0", "1.00"),
    "double precision": ("'0'", "'-0'"),
    "real": ("'0'", "'-0'"),
    "interval": ("'1 day'", "'24 hours'"),
}


def test_the_fingerprint_sees_what_equality_does_not(url):
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.postgres.engine import PostgresEngine

    for kind, values in EQUAL_BUT_NOT_THE_SAME.items():
        seen = set()
        for value in values:
            owner(
                "DROP TABLE IF EXISTS town.twin",
                f"CREATE TABLE town.twin (x {kind})",
                f"INSERT INTO town.twin VALUES ({value})",
                "GRANT SELECT ON town.twin TO discreet_reader",
            )
            engine = PostgresEngine(url, {"twin": "town.twin"}, limits=EngineLimits())
            seen.add(label(engine, "twin"))
            engine.close()
        assert len(seen) == 2, kind


def test_columns_that_differ_only_in_case_are_refused(url):
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.postgres.engine import PostgresEngine
    from discreet.errors import CatalogError

    owner(
        "DROP TABLE IF EXISTS town.twins",
        'CREATE TABLE town.twins (x INTEGER, "X" TEXT)',
        "GRANT SELECT ON town.twins TO discreet_reader",
    )
    with pytest.raises(CatalogError, match="differ only in case"):
        PostgresEngine(url, {"t": "town.twins"}, limits=EngineLimits())


def test_a_table_without_the_right_to_read_it_is_named(url):
    from discreet.data.engines.base import EngineLimits
    from discreet.data.engines.postgres.engine import PostgresEngine
    from discreet.errors import CatalogError

    owner("DROP TABLE IF EXISTS town.closed", "CREATE TABLE town.closed (x INTEGER)")
    with pytest.raises(CatalogError, match="may not read the source of table 'c'"):
        PostgresEngine(url, {"c": "town.closed"}, limits=EngineLimits())


def test_a_server_out_of_reach_is_told_without_its_address(tmp_path):
    from discreet.errors import CatalogError

    with pytest.raises(CatalogError) as caught:
        open_engine(f"postgresql://someone:password@/x?host={tmp_path}")
    assert "password" not in str(caught.value)
    assert caught.value.__suppress_context__
