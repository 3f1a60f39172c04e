"""First rows are read as they come: what DuckDB makes of them otherwise takes longer than all rows."""

import duckdb

from discreet.data.engines.child_limits import CLOSED


def plan_of_first_rows(path, config):
    with duckdb.connect(":memory:", config=config) as database:
        database.execute(
            f"COPY (SELECT range AS x FROM range(400000)) TO '{path}' (FORMAT parquet)"
        )
        first = f"SELECT x FROM '{path}' LIMIT 300000"
        sql = f"EXPLAIN SELECT x, COUNT(*) FROM ({first}) AS f GROUP BY x"
        return str(database.execute(sql).fetchall()).upper().replace("_", " ")


def test_first_rows_are_no_join(tmp_path):
    path = tmp_path / "t.parquet"
    assert "JOIN" not in plan_of_first_rows(path, CLOSED)
    assert "JOIN" in plan_of_first_rows(path, {}), "DuckDB has been mended: the setting may go"
