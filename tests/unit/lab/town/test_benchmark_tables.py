from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidInput
from discreet.lab.town import bench_table, benchmark_tables


def test_rows_people_and_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark_tables, "ROWS_A_CHUNK", 100_000)
    table = pq.read_table(bench_table(240_000, 80_000, tmp_path / "b.parquet", groups=50))
    assert table.num_rows == 240_000
    people = table["person_id"].to_numpy()
    assert (people.min(), people.max()) == (1, 80_000)
    assert len(np.unique(people)) == pytest.approx(80_000 * (1 - np.exp(-3)), rel=0.01)
    assert len(table["place"].unique()) == 50
    assert table["age"].to_numpy().max() == 99
    assert table["income"].to_numpy().max() <= 500_000
    score = table["score"].to_numpy()
    assert np.array_equal(np.rint(score * 100) / 100, score)


def test_as_many_people_as_rows_means_one_row_each(tmp_path):
    table = pq.read_table(bench_table(5_000, 5_000, tmp_path / "b.parquet", groups=3, seed=1))
    assert table["person_id"].to_pylist() == list(range(1, 5_001))
    assert sorted(table["place"].unique().to_pylist()) == ["place 1", "place 2", "place 3"]


def test_the_seed_decides(tmp_path):
    written = [
        bench_table(1_000, 10, tmp_path / f"{i}.parquet", seed=seed).read_bytes()
        for i, seed in enumerate((1, 1, 2))
    ]
    assert written[0] == written[1] != written[2]


@pytest.mark.parametrize("wrong", [(10, 11, 5), (10, 0, 5), (10, 10, 0), (10, 10, 10_001)])
def test_nonsense_is_refused(tmp_path, wrong):
    rows, persons, groups = wrong
    with pytest.raises(InvalidInput):
        bench_table(rows, persons, tmp_path / "b.parquet", groups=groups)
