"""Rows as files: types in Parquet, harmless cells in CSV."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.show.document import check_target
from discreet.show.rows import ROW_FILES, harmless, write_rows

TABLE = pa.table(
    {
        "=name": ["=1+1", "Zoë", None, "-x"],
        "n": [-1, 2, None, 4],
        "day": [dt.date(2024, 1, 2), None, None, None],
        "x": [-0.5, 10.07, None, 1.0],
    }
)


def test_csv(tmp_path):
    write_rows(TABLE, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"\'=name","n","day","x"'
    assert lines[1] == '"\'=1+1",-1,2024-01-02,-0.5'
    assert lines[2] == '"Zoë",2,,10.07'
    assert lines[3] == ",,,"
    assert lines[4].startswith('"\'-x"')


def test_parquet_keeps_types_and_words(tmp_path):
    write_rows(TABLE, tmp_path / "out.PARQUET")
    assert pq.read_table(tmp_path / "out.PARQUET").equals(TABLE)


def test_no_rows_at_all(tmp_path):
    write_rows(TABLE.slice(0, 0), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().count("\n") == 1
    assert harmless(TABLE.slice(0, 0)).num_rows == 0


def test_where_it_cannot_go(tmp_path):
    with pytest.raises(InvalidInput, match=r"neither a \.csv nor a \.parquet"):
        check_target(Path("out.xlsx"), ROW_FILES)
    with pytest.raises(InvalidInput, match="There is no folder"):
        check_target(tmp_path / "nowhere" / "out.csv", ROW_FILES)
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(InvalidInput, match="is a folder"):
        write_rows(TABLE, tmp_path / "taken.csv")
