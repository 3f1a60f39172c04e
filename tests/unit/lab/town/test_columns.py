from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.lab.town.columns import category, days, write_parquet


def test_categories_and_days(tmp_path):
    codes, known = np.array([1, 0, 1]), np.array([True, True, False])
    batch = pa.RecordBatch.from_pydict(
        {"word": category(codes, ("a", "b"), known=known), "day": days(np.array([0, 1, -1]))}
    )
    table = pq.read_table(write_parquet([batch, batch], tmp_path / "t.parquet"))
    assert table["word"].to_pylist() == ["b", "a", None] * 2
    assert table["word"].type == pa.string()
    assert table["day"].to_pylist()[:3] == [
        dt.date(1970, 1, 1), dt.date(1970, 1, 2), dt.date(1969, 12, 31),
    ]  # fmt: skip


def test_a_file_that_fails_half_way_never_gets_its_name(tmp_path):
    def batches():
        yield pa.RecordBatch.from_pydict({"x": [1]})
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_parquet(batches(), tmp_path / "t.parquet")
    assert not (tmp_path / "t.parquet").exists()
