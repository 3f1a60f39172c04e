from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidInput
from discreet.server.pgwire.types import (
    ALL,
    ARRAYS,
    BOOL,
    DATE,
    FLOAT8,
    INT8,
    NUMERIC,
    TEXT,
    TIMESTAMP,
    read,
    read_numeric,
    write,
    write_numeric,
)

VALUES = [
    (True, BOOL),
    (-(2**63), INT8),
    (2**63 - 1, INT8),
    ('né " \\ {}', TEXT),
    (dt.date(1930, 1, 1), DATE),
    (dt.datetime(2024, 2, 29, 12, 30, 1), TIMESTAMP),
    (["a", None, 'q"\\, {x}', "", "NULL"], ARRAYS[TEXT.oid]),
    ([1, -2], ARRAYS[INT8.oid]),
    ([], ARRAYS[TEXT.oid]),
]


@pytest.mark.parametrize(("value", "kind"), VALUES)
@pytest.mark.parametrize("form", [0, 1])
def test_what_is_written_is_read(value, kind, form):
    assert read(write(value, kind, form), kind, form) == value
    assert write(None, kind, form) is None


def test_spellings_of_postgres():
    assert write(1.0, FLOAT8, 0) == b"1"
    assert write(float("nan"), FLOAT8, 0) == b"NaN"
    assert write(False, BOOL, 0) == b"f"
    assert write("2024-01-02", DATE, 1) == write(dt.date(2024, 1, 2), DATE, 1)
    assert write(140.00000000000003, INT8, 0) == b"140"
    assert write(Decimal("12345.6789"), NUMERIC, 1).hex() == "000300010000000400010929" + "1a85"


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6))
def test_numeric_round_trip(value):
    assert read_numeric(write_numeric(value)) == value


@given(st.sampled_from(sorted(ALL)), st.binary(max_size=60), st.sampled_from([0, 1]))
def test_random_parameters_are_values_or_refused(oid, data, form):
    try:
        read(data, ALL[oid], form)
    except InvalidInput:
        return


def test_a_moment_of_an_answer_is_a_timestamp_in_both_spellings():
    # Answers hold moments as texts.
    assert write("2024-05-01 10:30:00", TIMESTAMP, 0) == b"2024-05-01 10:30:00"
    told = write("2024-05-01 10:30:00", TIMESTAMP, 1)
    assert read(told, TIMESTAMP, 1) == dt.datetime(2024, 5, 1, 10, 30)
