import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.files import common, named, read_rows


def test_csv_stays_as_it_is_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('zip;born\n02139;1950-01-02\n"02 138";\n', encoding="utf-8")
    table = read_rows(path)
    assert table.to_pydict() == {"zip": ["02139", "02 138"], "born": ["1950-01-02", None]}


def test_parquet_keeps_its_types(tmp_path):
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet")["n"].type == pa.int64()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidInput, match="no file"):
        read_rows(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("a,b\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="no rows"):
        read_rows(tmp_path / "empty.csv")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\nSECRET-77\n", encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        read_rows(tmp_path / "ragged.csv")
    assert "SECRET" not in str(caught.value)


def test_columns_are_found_without_regard_to_case():
    first, second = pa.table({"Zip": ["1"], "a": [1]}), pa.table({"zip": ["1"], "b": [1]})
    assert named(second, ["ZIP"], label="The file") == ("zip",)
    assert common(first, second) == ("Zip",)
    with pytest.raises(InvalidInput, match="The file has no column 'age'"):
        named(first, ["age"], label="The file")
    with pytest.raises(InvalidInput, match="no column in common"):
        common(first.select(["a"]), second.select(["b"]))
