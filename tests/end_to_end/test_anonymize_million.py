"""A million rows with 100,000 and more combinations: grouped by the engine, searched, cut, refined."""

import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.privacy_models import DistinctDiversity
from discreet.anonymize.run import AnonymizeRequest, groups_of
from discreet.anonymize.search import AnonymizeMethod, anonymize
from discreet.anonymize.source import narrowed
from discreet.data.engines.connect import connect
from patience import slowness

ROWS = 1_000_000
SECONDS = 60.0
QUASI = ["age", "zip", "sex", "job", "size", "home"]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    dice = np.random.default_rng(11)
    zips = np.array([f"{4000 + i:05d}" for i in range(400)])
    table = pa.table(
        {
            "age": dice.binomial(90, 0.4, ROWS),
            "zip": pa.array(zips[(400 * dice.random(ROWS) ** 4).astype(int)].tolist()),
            "sex": pa.array(np.array(["F", "M"])[dice.integers(0, 2, ROWS)].tolist()),
            "job": pa.array(np.array(list("abcdefgh"))[dice.integers(0, 8, ROWS)].tolist()),
            "size": dice.poisson(2, ROWS),
            "home": pa.array(np.array(["own", "rent"])[dice.integers(0, 2, ROWS)].tolist()),
            "ill": pa.array(np.array(list("uvwxyz"))[dice.integers(0, 6, ROWS)].tolist()),
        }
    )
    folder = tmp_path_factory.mktemp("million")
    pq.write_table(table, folder / "rows.parquet")
    found = connect("duckdb:", {"rows": "rows.parquet"}, base=folder)
    yield found
    found.close()


def intervals(column, values, *, widths):
    starts = {value: [value // width * width for width in widths] for value in values}
    return Hierarchy(
        column,
        {
            str(value): (
                str(value),
                *(f"{low}-{low + w - 1}" for low, w in zip(lows, widths, strict=True)),
                "*",
            )
            for value, lows in starts.items()
        },
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", list(AnonymizeMethod))
def test_a_million_rows_take_less_than_a_minute(engine, method):
    start = time.monotonic()
    request = AnonymizeRequest.of(k=5, quasi=QUASI, sensitive="ill")
    groups = groups_of(narrowed(engine, "rows", "rows"), request)
    assert groups.combinations > 100_000
    places = {name: groups.values[i] for i, name in enumerate(QUASI)}
    zips = {z: (z, z[:4] + "*", z[:3] + "**", z[:2] + "***", "*") for z in places["zip"]}
    jobs = {job: (job, "hand" if job in "abcd" else "desk", "*") for job in "abcdefgh"}
    trees = {
        "age": intervals("age", places["age"], widths=[5, 10, 20]),
        "zip": Hierarchy("zip", zips),
        "job": Hierarchy("job", jobs),
        "size": intervals("size", places["size"], widths=[2, 4]),
    }
    found = anonymize(
        groups, trees, k=5, suppress=0.02, models=[DistinctDiversity(2)], method=method
    )
    assert found.least >= 5
    assert found.suppressed <= 0.02 * ROWS
    assert found.recoding.rows.sum() == ROWS
    if method is AnonymizeMethod.OPTIMAL:
        assert found.optimal
    assert time.monotonic() - start < SECONDS * slowness()
