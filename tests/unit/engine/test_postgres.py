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


def owner(url, *statements):
    import psycopg

    with psycopg.connect(url, autocommit=True) as session:
        for statement in statements:
            session.execute(statement)


def open_engine(url):
    from discreet.engine.base import EngineLimits
    from discreet.engine.postgres import PostgresEngine

    return PostgresEngine(url, {"t": "town.t"}, limits=EngineLimits(seconds=100.0, memory_mb=64))


def rows(engine, sql):
    from discreet.engine.base import open_exact

    return [tuple(row.values()) for row in open_exact(engine.run(sql)).to_pylist()]


def test_a_server_that_forgets_its_limit_is_cut_off(url):
    from discreet.errors import EngineFailed

    engine = open_engine(url)
    engine.put("kept", pa.table({"a": [7]}))
    engine._timeout = 1.0  # so that the server is never told
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        engine.run(LONG, seconds=1.0)
    assert 1.0 <= time.monotonic() - start < 1.0 + SLACK
    assert rows(engine, f"SELECT a FROM {engine.relation('kept')}") == [(7,)]
    owner(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT SUM(i %'",
    )
    engine.close()


def test_a_role_that_may_only_read_stores_in_temporary_tables(url):
    owner(
        url,
        "DROP SCHEMA IF EXISTS discreet_state CASCADE",
        "DROP OWNED BY reader" if _exists(url) else "SELECT 1",
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN",
        "GRANT USAGE ON SCHEMA town TO reader",
        "GRANT SELECT ON ALL TABLES IN SCHEMA town TO reader",
    )
    engine = open_engine(url.replace("postgres:@", "reader:@"))
    assert rows(engine, "SELECT current_user AS u") == [("reader",)]
    relation = engine.materialise("big", f"SELECT a FROM {engine.relation('t')} WHERE a > 1")
    assert relation.startswith("pg_temp.")
    assert sorted(rows(engine, f"SELECT a FROM {relation}")) == [(2,), (3,)]
    engine._session.close()
    assert engine.has("big")
    engine.close()


def _exists(url):
    import psycopg

    with psycopg.connect(url, autocommit=True) as session:
        return session.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone()


def test_a_superuser_is_demoted(url):
    engine = open_engine(url)
    assert rows(engine, "SELECT current_user AS u") == [("pg_read_all_data",)]
    import psycopg

    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        engine._session.execute("SELECT pg_read_file('/etc/passwd')")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        engine._session.execute("CREATE TABLE town.x (a INTEGER)")
    engine.close()


def test_the_fingerprint_sees_every_change_and_nothing_else(url):
    engine = open_engine(url)
    seen = [engine.fingerprint("t")]
    for change in (
        "INSERT INTO town.t VALUES (4, 'z')",
        "UPDATE town.t SET s = 'w' WHERE a = 4",
        "DELETE FROM town.t WHERE a = 4",
    ):
        owner(url, change)
        seen.append(engine.fingerprint("t"))
    assert len(set(seen)) == 3
    assert seen[0] == seen[3], "back to the old rows is back to the old snapshot"
    owner(url, "VACUUM FULL town.t")
    assert engine.fingerprint("t") == seen[0]
    engine.close()


def test_a_server_out_of_reach_is_told_without_its_address(tmp_path):
    from discreet.errors import CatalogError

    with pytest.raises(CatalogError) as caught:
        open_engine(f"postgresql://someone:password@/x?host={tmp_path}")
    assert "password" not in str(caught.value)
    assert caught.value.__suppress_context__
