"""Tests run on a Spark that interprets, and some on one that compiles, as users have it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.data.engines.base import EngineLimits
from discreet.data.engines.connect import connect
from engines import COMPILED, compiled
from sittings import FULL

__all__ = ["compiled"]
pytestmark = pytest.mark.spark


def compiles(folder) -> tuple[bool, dict[str, str]]:
    """Return whether Spark writes Java for a question, and what its settings say."""
    pq.write_table(pa.table({"a": [1, 2, 3]}), folder / "t.parquet")
    limits = EngineLimits(seconds=60.0, memory_mb=1024, threads=2)
    engine = connect("spark://local[2]", {"d.t": "t.parquet"}, base=folder, limits=limits)
    try:
        session = engine._live()
        plan = session.sql("EXPLAIN SELECT a + 1 AS s FROM `d.t`").collect()[0][0]
        return "*(1) Project" in plan, {name: session.conf.get(name) for name in COMPILED}
    finally:
        engine.close()


@pytest.mark.usefixtures("compiled")
def test_what_is_compared_on_all_engines_is_compiled_as_for_users(tmp_path):
    assert compiles(tmp_path) == (True, COMPILED)


def test_without_settings_of_ours_it_is_compiled(tmp_path):
    """With the full counts; otherwise tests interpret, which is what makes them quick."""
    found, settings = compiles(tmp_path)
    assert found == FULL
    assert (settings == COMPILED) == FULL
