"""What no engine may do: leak, write, run on, or fall over; run on each of tests/engines.py.

No chance is involved; times are upper bounds on how long a limit takes to hold.
"""

from __future__ import annotations

import copy
import json
import pickle
import threading
import time

import pytest

from discreet.data.engines.base import EngineLimits, Exact
from discreet.errors import EngineFailed
from engines import (
    CANARY,
    ENGINES,
    NUMBER_CANARY,
    TABLES,
    cell,
    engine_place,
    name,
)
from patience import SLACK
from sittings import FULL

SHORT = 1.0 if FULL else 0.3
"""Seconds until a query that would run for hours is stopped."""


@pytest.fixture(scope="module", params=ENGINES)
def place(request, tmp_path_factory):
    return engine_place(request.param, TABLES, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def engine(place):
    engine = place.open()
    warm(engine)
    yield engine
    engine.close()


"""Seconds after a limit: one is allowed to the engine, one to a machine that is busy with others."""


def warm(engine):
    """Start what a first query starts, so that a measured time is that of a limit."""
    assert cell(engine, f"SELECT COUNT(*) AS n FROM {engine.relation('people')}") == 240


def test_an_exact_result_shows_nothing(engine):
    exact = engine.owner_reader().run(
        f"SELECT {name(engine, 'note')} AS n FROM {engine.relation('people')}"
    )
    for shown in (repr(exact), str(exact), f"{exact}", f"{exact!r:>40}"):
        assert CANARY not in shown
    for attempt in (
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        len,
        iter,
        float,
        bool,
        hash,
    ):
        with pytest.raises(TypeError):
            attempt(exact)
    with pytest.raises(TypeError):
        exact == exact  # noqa: B015 the comparison itself is refused
    assert not hasattr(exact, "__dict__")
    assert isinstance(exact, Exact)


PROBES = {
    "duckdb": [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM 'http://127.0.0.1:9/x.csv'",
        "SELECT * FROM query('SELECT 1')",
        "SELECT * FROM duckdb_settings()",
        "SELECT * FROM duckdb_tables()",
        "SELECT current_setting('threads')",
        "COPY (SELECT 1) TO '{out}'",
        "COPY source.\"people\" TO '{out}'",
        "ATTACH '{out}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET threads = 1",
        "SET enable_external_access = true",
        "PRAGMA database_size",
        "EXPORT DATABASE '{out}'",
        "CREATE TEMP TABLE t AS SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        'SUMMARIZE source."people"',
        "SELECT 1; SELECT 2",
    ],
    "postgres": [
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT pg_ls_dir('/')",
        "SELECT * FROM pg_stats",
        "SELECT reltuples FROM pg_catalog.pg_class",
        "SELECT set_config('statement_timeout', '0', false)",
        "SELECT query_to_xml('SELECT 1', true, false, '')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT pg_sleep(0)",
        "COPY (SELECT 1) TO '{out}'",
        "COPY (SELECT 1) TO PROGRAM 'cat > {out}'",
        "SET statement_timeout = 0",
        "RESET ROLE",
        "EXPLAIN ANALYZE SELECT 1",
        "LOAD 'auto_explain'",
        "CREATE TEMP TABLE t AS SELECT 1",
        "INSERT INTO town.people SELECT * FROM town.people",
        "WITH gone AS (DELETE FROM town.people RETURNING 1) SELECT * FROM gone",
        "BEGIN READ WRITE",
        "SELECT 1; SELECT 2",
        "SELECT 1 -- comment",
    ],
    "spark": [
        "SELECT * FROM csv.`{file}`",
        "SELECT * FROM text.`/etc/passwd`",
        "SELECT * FROM parquet.`{file}`",
        "SELECT reflect('java.lang.System', 'getenv', 'HOME')",
        "SELECT java_method('java.lang.System', 'getenv', 'HOME')",
        "SELECT try_reflect('java.lang.System', 'getProperty', 'user.home')",
        "SELECT input_file_name() FROM `people`",
        "INSERT OVERWRITE DIRECTORY '{out}' USING parquet SELECT 1",
        "CREATE TABLE t USING parquet LOCATION '{out}' AS SELECT 1 AS a",
        "CREATE TEMPORARY VIEW v USING csv OPTIONS (path '{file}')",
        "LOAD DATA INPATH '{file}' INTO TABLE t",
        "SET spark.sql.ansi.enabled = true",
        "ADD JAR '/tmp/x.jar'",
        "SHOW TABLES",
        "DESCRIBE `people`",
        "EXPLAIN SELECT 1",
        "CACHE TABLE `people`",
        "SELECT TRANSFORM(note) USING 'cat' FROM `people`",
        "SELECT 1; SELECT 2",
        "SELECT /* hint */ 1",
    ],
}


@pytest.mark.slow_on_spark
def test_every_probe_of_the_lockdown_is_closed(engine, tmp_path):
    outside, out = tmp_path / "outside.csv", tmp_path / "out"
    outside.write_text("a\n1\n")
    for probe in PROBES[engine.capabilities.dialect]:
        sql = probe.replace("{file}", str(outside)).replace("{out}", str(out))
        with pytest.raises(EngineFailed):
            engine.owner_reader().run(sql)
    assert not out.exists()
    warm(engine)


ERRORS = {
    "duckdb": [
        "CAST(note AS INTEGER)",
        "CAST(note AS DATE)",
        "CAST(note AS BOOLEAN)",
        "CAST(note AS UUID)",
        "CAST(note AS DECIMAL(3, 1))",
        "CAST(note AS TIMESTAMP)",
        "CAST(note AS INTERVAL)",
        "CAST(note AS BLOB) || 1",
        "CAST(note AS JSON)",
        "CAST(note AS INTEGER[])",
        "CAST(secret AS TINYINT)",
        "CAST(secret AS DECIMAL(3, 1))",
        "strptime(note, '%Y')",
        "secret * secret * secret",
        "secret << 40",
        "factorial(CAST(secret % 1000 AS INTEGER))",
        "1 // (secret - secret)",
        "1 % (secret - secret)",
        "error(note)",
        "json_extract(note, '$.a')",
        "chr(CAST(secret % 100000000 AS INTEGER) + 10000000)",
        "regexp_matches('a', note || '(')",
        "make_date(secret, 1, 1)",
        "CAST(note AS BIT)",
        "sqrt(-secret)",
        "ln(-secret)",
        '(SELECT note FROM source."people")',
    ],
    "postgres": [
        "CAST(note AS INTEGER)",
        "CAST(note AS DATE)",
        "CAST(note AS BOOLEAN)",
        "CAST(note AS UUID)",
        "CAST(note AS NUMERIC)",
        "CAST(note AS TIMESTAMP)",
        "CAST(note AS INTERVAL)",
        "CAST(note AS JSON)",
        "CAST(note AS INTEGER[])",
        "CAST(note AS INET)",
        "CAST(note AS POINT)",
        "CAST(note AS BYTEA) || decode(note, 'hex')",
        "CAST(secret AS SMALLINT)",
        "CAST(secret AS NUMERIC(3, 1))",
        "secret * secret * secret",
        "1 / (secret - secret)",
        "1 % (secret - secret)",
        "make_date(CAST(secret % 1000000 AS INTEGER), 1, 1)",
        "chr(CAST(secret % 100000000 AS INTEGER) + 10000000)",
        "sqrt(-secret)",
        "ln(-secret)",
        "'a' ~ (note || '(')",
        "to_date(note, 'YYYY')",
        "to_number(note, '9')",
        "(SELECT note FROM town.people)",
    ],
    "spark": [
        "assert_true(note = 'x')",
        "raise_error(note)",
        "rlike('a', concat(note, '('))",
        "regexp_extract('a', concat(note, '('), 0)",
        "regexp_replace('a', concat(note, '('), 'b')",
        "(SELECT note FROM `people`)",
        "CAST(note AS VARIANT) + parse_json(concat(note, '{'))",
        "to_timestamp(note, note)",
        "date_format(current_date(), note)",
        "to_number(note, note)",
        "element_at(array(note), 0)",
        "from_json(note, note)",
        "schema_of_json(note)",
        "sequence(1, secret)",
        "array_repeat(note, 2147483647)",
        "unhex(note) + note.field",
        "aes_decrypt(note, note)",
        "url_decode(concat('%', note))",
        "make_interval(note, note, note, note, note, note, note, note)",
        "xpath(note, note)",
        "encode(note, note)",
        "decode(CAST(note AS BINARY), note)",
        "from_utc_timestamp(current_timestamp(), note)",
        "note.nothing",
        "no_such_function(note)",
    ],
}


def failure(engine, sql):
    """Return how the query failed, or None."""
    try:
        engine.owner_reader().run(sql)
    except EngineFailed as error:
        return error
    return None


@pytest.mark.slow_on_spark
def test_no_error_carries_a_cell(engine, capfd, caplog):
    column = "`people`" if engine.capabilities.dialect == "spark" else engine.relation("people")
    failed = 0
    for expression in ERRORS[engine.capabilities.dialect]:
        error = failure(engine, f"SELECT MAX(CAST({expression} AS VARCHAR(90))) AS x FROM {column}")
        if error is not None:
            failed += 1
            chain = [
                error,
                error.__cause__,
                None if error.__suppress_context__ else error.__context__,
            ]
            for told in chain:
                assert CANARY not in repr(told)
                assert str(NUMBER_CANARY) not in repr(told)
            assert error.message == "The database could not answer."
    assert failed >= 20
    shown = "".join(capfd.readouterr()) + caplog.text
    assert CANARY not in shown
    assert str(NUMBER_CANARY) not in shown


def test_every_failure_is_the_same_sentence(engine):
    told = set()
    for sql in ("SELECT nothing FROM nowhere", "DROP TABLE x", "SELECT (", f"SELECT '{CANARY}"):
        with pytest.raises(EngineFailed) as caught:
            engine.owner_reader().run(sql)
        told.add(str(caught.value))
    assert len(told) == 1


def long_query(engine):
    """Return a query over generated numbers that would run for hours."""
    source = {
        "duckdb": "range(100000000) AS a(i), range(100000000) AS b(j)",
        "postgres": "generate_series(1, 100000000) AS a(i), generate_series(1, 100000000) AS b(j)",
        "spark": "range(100000000) AS a(i) CROSS JOIN range(100000000) AS b(j)",
    }[engine.capabilities.dialect]
    return f"SELECT SUM(i % 7 * (j % 5)) AS x FROM {source}"


@pytest.mark.slow_on_spark
def test_a_long_query_is_stopped_and_the_next_one_works(engine):
    warm(engine)
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(long_query(engine), seconds=SHORT)
    assert time.monotonic() - start < SHORT + SLACK
    warm(engine)


@pytest.mark.slow_on_spark
def test_cancel_stops_a_running_query(engine):
    warm(engine)
    over = threading.Event()

    def cancel() -> None:
        while not over.wait(SHORT):  # again, should a busy machine not have begun yet
            engine.cancel()

    canceller = threading.Thread(target=cancel)
    canceller.start()
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(long_query(engine), seconds=10 * SLACK)
    over.set()
    canceller.join()
    assert time.monotonic() - start < 5 * SLACK


@pytest.mark.slow_on_spark
def test_threads_may_ask_at_the_same_time(engine):
    found: list = []
    sql = f"SELECT COUNT(*) AS n FROM {engine.relation('people')}"

    def ask() -> None:
        found.extend(cell(engine, sql) for _ in range(3))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [240] * 12


@pytest.mark.slow_on_spark
def test_what_cannot_be_interrupted_is_killed_and_loses_no_table(engine):
    deaf = {
        "duckdb": "SELECT SUM(length(repeat('x', 1000000000))) AS x FROM range(1000000)",
        "postgres": "SELECT SUM(length(repeat('x', 100000000 + i))) AS x FROM generate_series(1, 100000) AS t(i)",
        "spark": "SELECT SUM(length(repeat(CAST(id AS STRING), 100000000))) AS x FROM range(100000)",
    }[engine.capabilities.dialect]
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(deaf, seconds=SHORT)
    assert time.monotonic() - start < SHORT + SLACK
    assert cell(engine, f"SELECT COUNT(*) AS n FROM {engine.relation('people')}") == 240


@pytest.mark.slow_on_spark
def test_a_memory_bomb_is_stopped(place):
    engine = place.open(limits=EngineLimits(seconds=10.0, memory_mb=512, threads=2))
    if not engine.capabilities.has_memory_limit:
        engine.close()
        pytest.skip("the server's own settings limit memory")
    warm(engine)
    bomb = {
        "duckdb": "SELECT LENGTH(string_agg(md5(CAST(i AS VARCHAR)), '')) AS x FROM range(200000000) AS t(i)",
        "spark": "SELECT size(collect_list(md5(CAST(id AS STRING)))) AS x FROM range(200000000)",
    }[engine.capabilities.dialect]
    start = time.monotonic()
    with pytest.raises(EngineFailed):
        engine.owner_reader().run(bomb)
    assert time.monotonic() - start < 10.0 + SLACK
    warm(engine)
    engine.close()
