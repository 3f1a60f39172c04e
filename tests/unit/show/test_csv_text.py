"""CSV in the style of its source: every cell comes back, quotes only where asked or needed."""

from __future__ import annotations

import csv
import datetime as dt

import pyarrow as pa
import pytest

from discreet.show.rows import CsvStyle, style_from, write_csv_text

TABLE = pa.table(
    {
        "name": pa.array(["plain", "a,b", 'say "x"', "", None, " spaced", "two\nlines", "a;b"]),
        "fee": pa.array([12.5, 10.07, -0.1, 1e6, None, 0.0, 99999999.99, 0.30000000000000004]),
        "n": pa.array([1, 2, 3, None, 5, 6, 7, 8]),
        "on, day": pa.array([dt.date(2020, 1, i) for i in range(1, 9)]),
        "yes": pa.array([True, False, None, True, True, True, True, True]),
    }
)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("quoted", [False, True])
def test_every_cell_comes_back(tmp_path, delimiter, quoted):
    path = tmp_path / "out.csv"
    write_csv_text(TABLE, path, CsvStyle(delimiter, quoted, {"fee": 2}))
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file, delimiter=delimiter)
    assert names == TABLE.column_names
    columns = list(zip(*rows, strict=True))
    assert list(columns[0]) == [value or "" for value in TABLE.column("name").to_pylist()]
    assert columns[1] == (
        "12.50",
        "10.07",
        "-0.10",
        "1000000.00",
        "",
        "0.00",
        "99999999.99",
        "0.30",
    )
    assert columns[2] == ("1", "2", "3", "", "5", "6", "7", "8")
    assert columns[3][0] == "2020-01-01"
    assert columns[4][:3] == ("true", "false", "")


def test_quotes_stand_only_where_they_must(tmp_path):
    path = tmp_path / "out.csv"
    write_csv_text(TABLE.slice(0, 5), path, CsvStyle())
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == 'name,fee,n,"on, day",yes'
    assert lines[1].startswith("plain,12.5,1,")
    assert lines[4].startswith('"",')  # an empty text
    assert lines[5].startswith(",")  # a gap
    write_csv_text(TABLE.slice(0, 1), path, CsvStyle(quoted=True))
    assert path.read_text(encoding="utf-8").splitlines()[0] == '"name","fee","n","on, day","yes"'


def test_many_rows_are_the_same_rows(tmp_path):
    path = tmp_path / "out.csv"
    table = pa.table({"x": pa.array(range(200_000)), "w": pa.array(["a", "b"] * 100_000)})
    write_csv_text(table, path, CsvStyle())
    text = path.read_text(encoding="utf-8").splitlines()
    assert len(text) == 200_001
    assert text[-1] == "199999,b"
    write_csv_text(table.slice(0, 0), path, CsvStyle())
    assert path.read_text(encoding="utf-8") == "x,w\n"


@pytest.mark.parametrize("facts", [None, [], {"delimiter": "x"}, {"delimiter": 1, "quoted": "yes"}])
def test_facts_that_say_nothing_sensible_are_the_usual_style(facts):
    assert style_from(facts, {}) == CsvStyle()
