"""Delta tables by their log, object stores, and what is refused by name.

The tables below tests/fixtures/delta were written by delta-rs 1.6.6 (the package `deltalake`): partitions with odd
names, a checkpoint whose earlier commits are gone, deleted and updated rows, a column that came later.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import discreet
from discreet.data.engines.base import open_exact
from discreet.data.engines.connect import connect
from discreet.data.engines.delta import delta_files
from discreet.data.engines.duckdb.canonical import SnapshotMaker
from discreet.data.engines.files import find_files
from discreet.data.engines.object_stores import fetched
from discreet.errors import CatalogError

TESTS = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TESTS))
from s3_kit import address, s3  # noqa: E402

DELTA = TESTS / "fixtures" / "delta"
PEOPLE = 'SELECT COUNT(*) AS n, SUM(income) AS s, COUNT(DISTINCT town) AS towns FROM source."t"'


@pytest.fixture
def delta(tmp_path):
    shutil.copytree(DELTA, tmp_path / "delta")
    return tmp_path / "delta"


@pytest.fixture
def no_keys(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "made-up")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "made-up")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def asked(source, base, sql=PEOPLE, state=None):
    engine = connect("duckdb:", {"t": str(source)}, base=base, state=state)
    try:
        return open_exact(engine.owner_reader().run(sql)).to_pylist()[0]
    finally:
        engine.close()


def test_only_the_newest_version_counts(delta):
    files = delta_files("t", delta / "people")
    assert len(files) == 12
    assert len(list((delta / "people").rglob("part-*.parquet"))) == 17
    assert asked("people", delta) == {"n": 54, "s": 19087, "towns": 3}
    years = (
        'SELECT COUNT(*) AS n, MIN(year) AS a, SUM(CAST(year = 2021 AS INT)) AS b FROM source."t"'
    )
    assert asked("people", delta, years) == {"n": 54, "a": 2020, "b": 27}


def test_a_column_that_came_later_is_empty_before(delta):
    sql = 'SELECT COUNT(*) AS n, SUM(income) AS s, COUNT(extra) AS e FROM source."t"'
    assert asked("plain", delta, sql) == {"n": 9, "s": 420, "e": 2}


def test_reading_every_file_would_count_deleted_rows(delta):
    """The broken twin: the same folder without its log."""
    shutil.rmtree(delta / "plain" / "_delta_log")
    assert asked("plain", delta, 'SELECT COUNT(*) AS n FROM source."t"')["n"] > 9


def test_a_new_version_is_another_content(delta):
    engine = connect("duckdb:", {"t": "plain"}, base=delta)
    try:
        before = engine._content(engine._origin("t"))
        log = delta / "plain" / "_delta_log"
        gone = delta_files("t", delta / "plain")[0].path
        (log / f"{3:020d}.json").write_text(json.dumps({"remove": {"path": gone}}) + "\n")
        assert engine._content(engine._origin("t")) != before
    finally:
        engine.close()


def test_partition_values_are_part_of_the_content(delta):
    engine = connect("duckdb:", {"t": "people"}, base=delta)
    try:
        before = engine._content(engine._origin("t"))
        log = delta / "people" / "_delta_log" / f"{4:020d}.json"
        log.write_text(log.read_text().replace('"year":"2021"', '"year":"2022"'))
        assert engine._content(engine._origin("t")) != before
    finally:
        engine.close()


def _commit(folder, action):
    (folder / "_delta_log" / f"{3:020d}.json").write_text(json.dumps(action) + "\n")


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ({"protocol": {"minReaderVersion": 3, "readerFeatures": ["rowsFromTheMoon"]}}, "rowsFrom"),
        ({"protocol": {"minReaderVersion": 4}}, "version 4"),
        ({"add": {"path": "a.parquet", "deletionVector": {"storageType": "u"}}}, "deletion vec"),
        ({"add": {"path": "s3://other/a.parquet"}}, "outside"),
        ({"add": {"path": "../a.parquet"}}, "outside"),
        ({"add": {"path": "%2e%2e/a.parquet"}}, "outside"),
        ({"metaData": {"schemaString": "{}"}}, "log cannot be read"),
    ],
)
def test_what_this_reader_does_not_know_is_refused(delta, action, word):
    _commit(delta / "plain", action)
    with pytest.raises(CatalogError, match=word):
        find_files("t", "plain", delta)


def test_renamed_columns_are_refused(delta):
    first = (delta / "plain" / "_delta_log" / f"{0:020d}.json").read_text().splitlines()
    about = next(json.loads(line) for line in first if '"metaData"' in line)
    about["metaData"]["configuration"] = {"delta.columnMapping.mode": "name"}
    _commit(delta / "plain", about)
    with pytest.raises(CatalogError, match="column mapping"):
        find_files("t", "plain", delta)


def test_a_hole_in_the_log_is_refused(delta):
    (delta / "plain" / "_delta_log" / f"{1:020d}.json").unlink()
    with pytest.raises(CatalogError, match="missing"):
        find_files("t", "plain", delta)


def test_files_inside_a_table_are_refused(delta):
    for source in ("plain/*.parquet", "people/**/*.parquet", "people/town=A%20b"):
        with pytest.raises(CatalogError, match="inside a table"):
            find_files("t", source, delta)


@pytest.mark.parametrize(
    ("made", "word"), [("metadata/v1.metadata.json", "Iceberg"), (".hoodie/x", "Hudi")]
)
def test_other_lakes_are_refused_by_name(tmp_path, made, word):
    place = tmp_path / "table" / made
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    (tmp_path / "table" / "a.csv").write_text("a\n1\n")
    with pytest.raises(CatalogError, match=word):
        find_files("t", "table", tmp_path)


def test_a_delta_table_in_an_object_store(delta, tmp_path, no_keys):
    with s3(delta.parent) as server:
        state = tmp_path / "state"
        assert asked(address(server, "delta/people"), tmp_path, state=state)["s"] == 19087
        given = set(server.asked)
        assert len([key for key in given if "part-" in key]) == 12  # of 17
        server.asked.clear()
        assert asked(address(server, "delta/people"), tmp_path, state=state)["n"] == 54
        assert server.asked == []  # nothing has changed: listed, not fetched


def test_objects_by_name_and_pattern_and_a_change(tmp_path, no_keys):
    bucket = tmp_path / "stores" / "b" / "x"
    bucket.mkdir(parents=True)
    (bucket / "a.csv").write_text("income,town\n1,A\n2,B\n")
    (bucket / "b.csv").write_text("income,town\n10,A\n")
    state = tmp_path / "state"
    with s3(tmp_path / "stores") as server:
        assert asked(address(server, "b/x/a.csv"), tmp_path, state=state)["s"] == 3
        assert asked(address(server, "b/x/*.csv"), tmp_path, state=state)["s"] == 13
        assert asked(address(server, "b/x"), tmp_path, state=state)["n"] == 3
        (bucket / "b.csv").write_text("income,town\n30,A\n")
        later = (bucket / "b.csv").stat().st_mtime + 5
        os.utime(bucket / "b.csv", (later, later))
        assert asked(address(server, "b/x/*.csv"), tmp_path, state=state)["s"] == 33
        (bucket / "a.csv").unlink()
        assert asked(address(server, "b/x"), tmp_path, state=state)["s"] == 30
        with pytest.raises(CatalogError, match="holds no files"):
            asked(address(server, "b/none"), tmp_path, state=state)


@pytest.mark.parametrize(
    "source", ["s3://me:secret@b/a.csv", "s3://b/a.csv?access_key=x&secret_key=y"]
)
def test_keys_in_an_address_are_refused(tmp_path, source):
    with pytest.raises(CatalogError, match="holds a key") as refused:
        asked(source, tmp_path)
    assert "secret@" not in str(refused.value)


def test_a_store_that_is_not_there_says_no_more_than_that(tmp_path, no_keys, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    away = "s3://b/a.csv?endpoint_override=127.0.0.1:9&scheme=http&region=x"
    with pytest.raises(CatalogError, match="could not be fetched"):
        asked(away, tmp_path)


@pytest.mark.spark
def test_spark_reads_the_same_rows(delta):
    engine = connect("spark://local[1]", {"t": "people"}, base=delta)
    try:
        sql = "SELECT COUNT(*) AS n, SUM(income) AS s, COUNT(DISTINCT town) AS towns FROM `t`"
        assert open_exact(engine.owner_reader().run(sql)).to_pylist() == [
            {"n": 54, "s": 19087, "towns": 3}
        ]
    finally:
        engine.close()


@pytest.mark.spark
def test_spark_refuses_a_table_in_a_store(delta):
    engine = connect("spark://local[1]", {"far": f"file://{delta}/people"}, base=delta)
    try:
        with pytest.raises(CatalogError, match="Delta, Iceberg or Hudi"):
            engine.owner_reader().run("SELECT COUNT(*) AS n FROM `far`")
    finally:
        engine.close()


def town(base, source):
    text = (
        f'[datasets.d]\nepsilon = 100\n[datasets.d.tables.t]\nsource = "{source}"\nunit = "row"\n'
        "[datasets.d.tables.t.columns]\nincome = { type = 'integer', lower = 0, upper = 99 }\n"
        "town = { type = 'category', values = ['A', 'B'] }\n"
    )
    (base / "discreet.toml").write_text(text)
    return discreet.open(base / "discreet.toml")


COUNT = "SELECT COUNT(*) AS n, SUM(income) AS s FROM t"


@pytest.mark.parametrize("which", ["b/x", "b/x/*.csv", "b/x/a.csv"])
def test_a_store_is_listed_once_for_a_question(tmp_path, no_keys, which):
    bucket = tmp_path / "stores" / "b" / "x"
    bucket.mkdir(parents=True)
    (bucket / "a.csv").write_text("income,town\n1,A\n2,B\n")
    with s3(tmp_path / "stores") as server, town(tmp_path, address(server, which)) as curator:
        assert round(curator.query(COUNT, epsilon=45).rows[0][0]) == 2
        for _ in range(2):
            server.listed = 0
            curator.explain(COUNT, epsilon=1)
            assert server.listed == (0 if which.endswith("a.csv") else 1)
        assert server.asked == ["x/a.csv"]


def test_an_empty_place_in_a_store_has_no_rows(tmp_path, no_keys):
    (tmp_path / "stores" / "b").mkdir(parents=True)
    with s3(tmp_path / "stores") as server:
        with town(tmp_path, address(server, "b/x")) as curator:
            assert abs(curator.query(COUNT, epsilon=45).rows[0][0]) < 5
        named = town(tmp_path, address(server, "b/x.csv"))  # one named object must be there
        with named as curator, pytest.raises(CatalogError, match="holds no files"):
            curator.query(COUNT, epsilon=45)


def test_a_newer_state_that_comes_while_one_is_read_is_read_instead(tmp_path, no_keys, monkeypatch):
    bucket = tmp_path / "stores" / "b" / "x"
    bucket.mkdir(parents=True)
    (bucket / "a.csv").write_text("income,town\n1,A\n")
    read = SnapshotMaker.snapshot
    calls = []

    def disturbed(self, origin, recipe):
        found = read(self, origin, recipe)
        calls.append(origin)
        if len(calls) == 1:  # another process fetches what the store holds now
            (bucket / "a.csv").write_text("income,town\n1,A\n2,A\n3,B\n")
            os.utime(bucket / "a.csv", (2e9, 2e9))
            fetched("t", address(server, "b/x"), tmp_path / ".discreet" / "duckdb")
        return found

    monkeypatch.setattr(SnapshotMaker, "snapshot", disturbed)
    with s3(tmp_path / "stores") as server, town(tmp_path, address(server, "b/x")) as curator:
        assert round(curator.query(COUNT, epsilon=45).rows[0][0]) == 3
        assert len(calls) == 3, "twice when the version began, once for the question"
