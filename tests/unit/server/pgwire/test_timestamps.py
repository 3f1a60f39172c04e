from __future__ import annotations

import datetime as dt

import pytest

from discreet.server.pgwire.types import read_date, read_timestamp, read_timestamptz

NOON = dt.datetime(1960, 1, 2, 12)


@pytest.mark.parametrize(
    "written",
    [
        "1960-01-02",
        "1960-1-2",
        "1960-01-02 +00",  # pgjdbc
        "1960-01-02 00:00:00+01",
        "1960-01-02T23:59:59.999999Z",  # JavaScript
        "1960-01-02 00:00:00",  # ODBC
        "1960-01-02 12:00:00.000+05:30",
    ],
)
def test_a_date_is_a_day_whatever_stands_behind_it(written):
    assert read_date(written) == dt.date(1960, 1, 2)


def test_zones_count_where_the_type_has_one():
    assert read_timestamp("1960-01-02 12:00:00+05") == NOON
    assert read_timestamptz("1960-01-02 17:30+0530") == NOON
    assert read_timestamptz("1960-01-02T04:00:00-08:00") == NOON
    assert read_timestamptz("1960-01-02 12:00 UTC") == NOON
    assert read_timestamp("1960-01-02 12:00:00.5") == NOON.replace(microsecond=500_000)


@pytest.mark.parametrize(
    "written", ["", "today", "1960-13-01", "1960-02-30", "60-01-01", "1960-01-01 25:00", "infinity",
                "1960-01-01 12", "0044-03-15 BC", "99999-01-01"],
)  # fmt: skip
def test_what_is_no_date_is_refused(written):
    for read in (read_date, read_timestamp, read_timestamptz):
        with pytest.raises(ValueError):
            read(written)
