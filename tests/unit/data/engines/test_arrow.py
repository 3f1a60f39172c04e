from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa

from discreet.data.engines.arrow import WIDE, plain_table


def test_every_width_of_number_becomes_one():
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int8()),
            "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
            "half": pa.array([1.5, None], pa.float32()),
            "whole": pa.array([Decimal(5), None], pa.decimal128(10, 0)),
            "cents": pa.array([Decimal("5.25"), None], pa.decimal128(10, 2)),
        }
    )
    plain = plain_table(table)
    assert plain.schema.types == [pa.int64(), WIDE, pa.float64(), WIDE, pa.decimal128(10, 2)]
    assert plain["unsigned"].to_pylist() == [Decimal(2**64 - 1), None]


def test_texts_and_times_have_one_form():
    zone = pa.timestamp("ns", tz="Europe/Berlin")
    noon = dt.datetime(2024, 6, 1, 12, tzinfo=dt.UTC)
    table = pa.table(
        {
            "large": pa.array(["a"], pa.large_string()),
            "view": pa.array(["b"], pa.string_view()),
            "category": pa.array(["c"]).dictionary_encode(),
            "nothing": pa.nulls(1),
            "time": pa.array([noon], zone),
        }
    )
    plain = plain_table(table)
    assert plain.schema.types == [pa.string()] * 4 + [pa.timestamp("us")]
    assert plain["time"].to_pylist() == [noon.replace(tzinfo=None)]


def test_a_plain_table_is_not_copied():
    table = pa.table({"a": pa.array([1], pa.int64())})
    assert plain_table(table) is table
