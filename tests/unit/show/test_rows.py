import csv

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.show.document import check_target
from discreet.show.rows import ROW_FILES, CsvStyle, harmless, write_rows


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


SINGLE = {
    "texts": pa.array(["a", None, "b", None]),
    "an empty text": pa.array(["a", None, "", "b"]),
    "whole numbers": pa.array([1, None, 3, None]),
    "numbers": pa.array([0.5, None, 3.0, None]),
    "days": pa.array([1, None, 3, None], pa.int32()).cast(pa.date32()),
    "choices": pa.array(["x", None, "y", None]).dictionary_encode(),
    "truth": pa.array([True, None, False, None]),
    "nothing": pa.array([None] * 4, pa.int64()),
}
STYLES = [None, CsvStyle(), CsvStyle(";"), CsvStyle(quoted=True), CsvStyle(decimals={"x": 2})]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", SINGLE)
def test_a_gap_of_a_single_column_is_a_row_to_every_reader(tmp_path, name, style):
    path, column = tmp_path / "x.csv", SINGLE[name]
    write_rows(pa.table({"x": column}), path, style=style)
    with path.open(newline="") as file:
        cells = [line[0] for line in csv.reader(file) if line]
    found = arrow_csv.read_csv(path)
    frame = pd.read_csv(path)
    assert len(cells) == 1 + len(column), "a blank line is no row to csv"
    assert found.num_rows == len(frame) == len(column)
    assert cells[0] == found.column_names[0] == frame.columns[0] == "x"
    assert [not cell for cell in cells[1:]] == [each in (None, "") for each in column.to_pylist()]


def test_gaps_beside_other_columns_stay_empty(tmp_path):
    write_rows(pa.table({"x": [1, None], "y": ["a", None]}), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == '"x","y"\n1,"a"\n,\n'


def test_the_twin_that_writes_blank_lines_loses_rows(tmp_path):
    arrow_csv.write_csv(pa.table({"x": SINGLE["whole numbers"]}), tmp_path / "x.csv")
    assert len(pd.read_csv(tmp_path / "x.csv")) == 2
