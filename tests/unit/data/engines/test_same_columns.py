"""Several files of one table: none twice, and none decides how the others are read."""

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.engines.files import find_files
from discreet.errors import CatalogError

DELTA = Path(__file__).resolve().parents[3] / "fixtures" / "delta"


def write(folder, name, values, kind):
    folder.mkdir(exist_ok=True)
    pq.write_table(
        pa.table({"X" if name == "b" else "x": pa.array(values, kind)}), folder / f"{name}.parquet"
    )


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (pa.int64(), pa.float64()),
        (pa.bool_(), pa.int8()),
        (pa.float32(), pa.float64()),
        (pa.date32(), pa.timestamp("us")),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.int64(), pa.uint64()),
        (pa.int64(), pa.binary()),
        (pa.string(), pa.float64()),
        (pa.decimal128(9, 2), pa.decimal128(9, 3)),
        (pa.int64(), pa.list_(pa.int64())),
    ],
)
def test_a_column_that_another_file_would_change_is_refused(tmp_path, one, two):
    write(tmp_path / "t", "a", [None], one)
    write(tmp_path / "t", "b", [None], two)
    for source in ("t", "t/*.parquet"):
        with pytest.raises(CatalogError, match="column 'x' in different ways"):
            find_files("t", source, tmp_path)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (pa.int32(), pa.int64()),
        (pa.int64(), pa.string()),
        (pa.bool_(), pa.string()),
        (pa.float64(), pa.null()),
        (pa.timestamp("us"), pa.timestamp("ns")),
        (pa.string(), pa.dictionary(pa.int32(), pa.string())),
    ],
)
def test_columns_that_stay_as_they_are_may_differ(tmp_path, one, two):
    write(tmp_path / "t", "a", [None], one)
    write(tmp_path / "t", "b", [None], two)
    assert len(find_files("t", "t", tmp_path).paths) == 2


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_file_under_two_names_is_refused(tmp_path, link):
    write(tmp_path / "t", "a", [1], pa.int64())
    link(tmp_path / "t" / "a.parquet", tmp_path / "t" / "c.parquet")
    for source in ("t", "t/*.parquet"):
        with pytest.raises(CatalogError, match="one file twice"):
            find_files("t", source, tmp_path)


def logged(folder, actions):
    last = max((folder / "_delta_log").glob("*.json"))
    after = last.with_name(f"{int(last.stem) + 1:020}.json")
    after.write_text("\n".join(json.dumps(action) for action in actions))


@pytest.fixture
def plain(tmp_path):
    shutil.copytree(DELTA / "plain", tmp_path / "plain")
    return tmp_path / "plain"


def added(folder, path):
    return {
        "add": {
            "path": path,
            "partitionValues": {},
            "size": 1,
            "modificationTime": 1,
            "dataChange": True,
        }
    }


@pytest.mark.parametrize("spelled", ["./{}", ".//{}", "x/../{}", "%70{}"])
def test_a_log_counts_a_file_once_however_it_spells_it(plain, spelled):
    before = find_files("t", "plain", plain.parent)
    name = before.paths[0].name
    written = spelled.format(name[1:] if "%70" in spelled else name)
    logged(plain, [added(plain, written)])
    assert sorted(find_files("t", "plain", plain.parent).paths) == sorted(before.paths)
    logged(plain, [{"remove": {"path": written, "dataChange": True}}])
    if len(before.paths) > 1:
        assert before.paths[0] not in find_files("t", "plain", plain.parent).paths
    else:
        with pytest.raises(CatalogError, match="no files"):
            find_files("t", "plain", plain.parent)


def test_a_log_that_leads_out_of_its_folder_is_refused(plain, tmp_path):
    write(tmp_path / "private", "people", [1], pa.int64())
    (plain / "sub").symlink_to(tmp_path / "private")
    logged(plain, [added(plain, "sub/people.parquet")])
    with pytest.raises(CatalogError, match="outside its folder"):
        find_files("t", "plain", tmp_path)
