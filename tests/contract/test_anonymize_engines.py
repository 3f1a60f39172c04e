"""Counting and copying for anonymization come out the same on every engine, odd cells included."""

from __future__ import annotations

from collections import Counter

import pyarrow.parquet as pq
import pytest

from discreet.anonymize.risk import measure
from discreet.anonymize.run import AnonymizeRequest, run
from discreet.anonymize.source import narrowed
from discreet.data.engines.connect import connect
from engines import ENGINES, LIMITS, SPARK, fill_postgres, people, postgres_url

QUASI = ["sex", "age", "income", "day", "member"]


@pytest.fixture(scope="module", params=ENGINES)
def source(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("anonymize")
    if request.param == "postgres":
        fill_postgres(postgres_url(), {"odd": people()})
        found = connect(postgres_url(), {"odd": "town.odd"}, base=folder, limits=LIMITS)
    else:
        pq.write_table(people(), folder / "odd.parquet")
        url = {"duckdb": "duckdb:", "spark": SPARK}[request.param]
        found = connect(url, {"odd": "odd.parquet"}, base=folder, limits=LIMITS)
    yield narrowed(found, "odd", "odd")
    found.close()


@pytest.mark.slow_on_spark
def test_class_sizes_are_those_of_the_rows(source):
    rows = people().to_pylist()
    sizes = Counter((row["sex"], row["age"], row["member"]) for row in rows)
    found = measure(source, ["sex", "age", "member"], sensitive=["text"])
    assert found.sizes.rows == len(rows)
    assert found.sizes.count == len(sizes)
    assert found.sizes.uniques == sum(size == 1 for size in sizes.values())
    kinds: dict[object, set[object]] = {}
    for row in rows:
        key = (row["sex"], row["age"], row["member"])
        kinds.setdefault(key, set()).add(row["text"])
    alike = sum(len(values) == 1 for values in kinds.values()) / len(kinds)
    assert found.diversity[0].homogeneous_classes == pytest.approx(alike)


@pytest.mark.slow_on_spark
def test_a_copy_of_odd_cells_keeps_every_row(source):
    request = AnonymizeRequest.of(
        k=3, quasi=QUASI, sensitive="text", redact=["note", "secret"], suppress=0.3
    )
    made = run(source, request)
    assert made.table.num_rows == made.result.rows - made.result.suppressed
    assert made.after.sizes.k >= 3
    assert "note" not in made.table.column_names
    # -0.0 and 0.0, NaN and NULL are one value each to GROUP BY or to us: costs agree on all engines.
    assert made.result.rows == 240
