"""Plain CSV files by Arrow's reader: the same Parquet as by DuckDB's, or none at all."""

from __future__ import annotations

import functools
import itertools
import re
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.data.engines import ingest
from discreet.data.engines.duckdb.worker import csv_rows
from discreet.data.engines.ingest import CsvFile, Misfit, _reader, store_typed
from sittings import FULL

COLUMNS = ("a", "b", "c")
CELLS = st.sampled_from(
    [
        *("", "0", "7", "-3", "007", "0x1F", "+5", "5 ", "1e5", "0.5", "12.25", "5.0", "-0.0"),
        *("true", "True", "false", "2024-02-29", "2023-02-29", "0000-01-01", "9" * 18, "9" * 19),
        *("nan", "Zoë", '"', '"x"', "x\ry", "NULL", " ", "#", "\\N", "a;b", "1,5", "\t", "\ufeff"),
    ]
)


def fits(kind, text):
    try:
        _reader(kind)(pa.array([text, None]))
    except Misfit:
        return False
    return True


@functools.cache
def database():
    """Return one DuckDB for all files, which remembers nothing of any."""
    return duckdb.connect(config={"threads": "1", "enable_external_file_cache": "false"})


def written(folder, text, *, by_arrow, columns=COLUMNS, kinds=ingest.EVERY):
    """Return the table that is written of a file, or None where DuckDB cannot read it."""
    path, target = folder / "t.csv", folder / f"{by_arrow}.parquet"
    path.write_bytes(text.encode())
    part = {"path": str(path), "delimiter": ",", "columns": list(columns)}
    file = CsvFile(path, ",", columns) if by_arrow else None
    try:
        store_typed(database(), csv_rows(part, part), target=str(target), kinds=kinds, file=file)
    except duckdb.Error:
        return None
    described = database().execute(f"DESCRIBE SELECT * FROM '{target}'").fetchall()
    rows = database().execute(f"SELECT * FROM '{target}'").fetchall()
    return [row[:2] for row in described], rows


@settings(max_examples=60 if FULL else 15, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
@example([["1", "true", "2024-02-29"], ["2", "false", ""]])
@example([["1", "2", "3"]] * 3 + [["007", "0x1F", "-0"]])
def test_both_readers_write_the_same(tmp_path_factory, lines):
    text = "a,b,c\n" + "".join(",".join(line) + "\n" for line in lines)
    folder = tmp_path_factory.mktemp("csv")
    assert written(folder, text, by_arrow=True) == written(folder, text, by_arrow=False)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2,3",
        "a,b,c\n1,2,3\n\n4,5,6\n",
        "a,b,c\n\n1,2,3\n",
        "a,b,c\n1,2\n",
        "a,b,c\n1,2,3,4\n",
        "a,b,c\n1,2,3,\n",
        "a,b,c\r\n1,2,3\r\n",
        'a,b,c\n"1,5",2,3\n',
        "a,b,c\n",
        "a,b,c",
        "a,b,c\n" + "1,2,3\n" * 4000 + "x,2.5,2024-01-01\n",
        "a,b,c\n,,\n,,\n",
        "\ufeffa,b,c\n1,2,3\n",
        f"a,b,c\n{'x' * 1_990_000},2,3\n",
    ],
)
def test_odd_files_are_read_as_before(tmp_path, text):
    assert written(tmp_path, text, by_arrow=True) == written(tmp_path, text, by_arrow=False)


def test_a_plain_file_is_written_without_duckdb_and_others_are_not(tmp_path):
    with mock.patch.object(ingest, "_stored", side_effect=AssertionError("by DuckDB")):
        assert written(tmp_path, "a,b,c\n1,2,x\n", by_arrow=True)[1] == [(1, 2, "x")]
        for odd in ('a,b,c\n1,2,"x"\n', "a,b,c\r\n1,2,x\r\n", "a,b,c\n1,2,x\x00\n"):
            with pytest.raises(AssertionError, match="by DuckDB"):
                written(tmp_path, odd, by_arrow=True)
        for odd in ("a\n1\n\n2\n", "a\n\n", "a\n1\n\n"):
            with pytest.raises(AssertionError, match="by DuckDB"):
                written(tmp_path, odd, by_arrow=True, columns=("a",))
        assert written(tmp_path, "a\n1\n2", by_arrow=True, columns=("a",))[1] == [(1,), (2,)]


def test_an_empty_line_between_two_blocks_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.engines.ingest._BLOCK", 6)
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n1\n2\n3\n")
    assert CsvFile(path, ",", ("a",)).plain
    path.write_bytes(b"a\n1\n2\n\n3\n")
    assert not CsvFile(path, ",", ("a",)).plain


def test_bytes_that_are_no_text_are_refused_by_both(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,\xff\n")
    part = {"path": str(tmp_path / "t.csv"), "delimiter": ",", "columns": ["a", "b"]}
    file = CsvFile(tmp_path / "t.csv", ",", ("a", "b"))
    for each in (file, None):
        target = str(tmp_path / "t.parquet")
        with duckdb.connect() as connection, pytest.raises(duckdb.Error):
            store_typed(connection, csv_rows(part, part), target=target, file=each)


def test_integers_that_come_back_are_told_from_all_others():
    """Every text of up to four of these letters: an integer as Python writes it, or a misfit."""
    for length in range(1, 5):
        for letters in itertools.product("01-+ xe._9\t", repeat=length):
            text = "".join(letters)
            assert fits("BIGINT", text) == bool(re.fullmatch("0|-?[1-9][0-9]*", text)), text
    assert fits("BIGINT", "9" * 18)
    assert not fits("BIGINT", "9" * 19)
    assert not fits("BIGINT", "-" + "9" * 18)
    assert not fits("BIGINT", "٣")


def test_dates_that_come_back_are_told_from_all_others():
    base, letters = "2024-12-03", "0123 9-+/.T"
    texts = {base}
    for i, j in itertools.combinations(range(10), 2):
        for a, b in itertools.product(letters, repeat=2):
            texts.add(base[:i] + a + base[i + 1 : j] + b + base[j + 1 :])
    with duckdb.connect(config={"threads": "1"}) as connection:
        connection.execute("CREATE TABLE t (x VARCHAR)")
        connection.execute("INSERT INTO t SELECT unnest(?)", [sorted(texts)])
        same = "coalesce(CAST(TRY_CAST(x AS DATE) AS VARCHAR) = x AND length(x) = 10, false)"
        expected = dict(connection.execute(f"SELECT x, {same} FROM t").fetchall())
    assert {text: fits("DATE", text) for text in texts} == expected
    assert sum(expected.values()) > 100
    for odd in ("0000-01-01", "2024-1-3", "2024-12-03 ", "24-12-03", "10000-01-01"):
        assert not fits("DATE", odd)


@pytest.mark.parametrize("text", ["True", "TRUE", "1", "0", "t", " true", "yes", "false "])
def test_booleans_are_written_in_one_way(text):
    assert fits("BOOLEAN", "true")
    assert fits("BOOLEAN", "false")
    assert not fits("BOOLEAN", text)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(-0.0)
@example(1e16)
def test_decimals_are_those_that_python_writes_without_an_exponent(value):
    text = repr(value)
    assert fits("DOUBLE", text) == ("e" not in text and text != "-0.0")


@pytest.mark.parametrize("text", ["5", "5.", ".5", "1.50", "05.5", "nan", "inf", "1e5", " 1.5"])
def test_other_decimals_are_misfits(text):
    assert not fits("DOUBLE", text)


@given(
    st.lists(st.integers(1 - 10**17, 10**18 - 1), min_size=1), st.sampled_from(["007", "-0", "+1"])
)
def test_many_integers_come_back_and_one_odd_one_is_seen(numbers, odd):
    texts = pa.array([*map(str, numbers), None])
    assert _reader("BIGINT")(texts).to_pylist() == [*numbers, None]
    with pytest.raises(Misfit):
        _reader("BIGINT")(pa.array([*map(str, numbers), odd]))


@given(st.lists(st.floats(-1e15, 1e15).filter(lambda v: "e" not in repr(v) and repr(v) != "-0.0")))
def test_many_decimals_come_back(values):
    assert _reader("DOUBLE")(pa.array(map(repr, values), pa.string())).to_pylist() == values
