import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.report.rows import ROW_FILES, harmless, write_rows
from discreet.report.save import check_target


def test_formulas_are_made_harmless():
    table = pa.table({"=a": ["=1+1", "plain", None, "-5", "@x"], "n": [-1, 2, 3, 4, 5]})
    safe = harmless(table)
    assert safe.column_names == ["'=a", "n"]
    assert safe.column(0).to_pylist() == ["'=1+1", "plain", None, "'-5", "'@x"]
    assert safe.column(1).to_pylist() == [-1, 2, 3, 4, 5]


def test_rows_are_written_as_asked(tmp_path):
    table = pa.table({"a": ["x;y", "z"], "b": [1, 2]})
    write_rows(table, tmp_path / "o.csv", delimiter=";")
    assert (tmp_path / "o.csv").read_text().splitlines() == ['"a";"b"', '"x;y";1', '"z";2']
    write_rows(table, tmp_path / "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet").equals(table)


def test_other_endings_and_folders_are_refused(tmp_path):
    with pytest.raises(InvalidInput, match="neither"):
        check_target(tmp_path / "o.xlsx", ROW_FILES)
    with pytest.raises(InvalidInput, match="no folder"):
        check_target(tmp_path / "there" / "o.csv", ROW_FILES)
