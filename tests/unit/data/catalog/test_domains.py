import datetime as dt
from decimal import Decimal
from fractions import Fraction

import pytest

from discreet.base.schema import DateDomain, TimestampDomain
from discreet.data.catalog.domains import column_of, read_values
from discreet.data.catalog.file_shape import ColumnShape
from discreet.errors import CatalogError


def column(tmp_path, **settings):
    return column_of("x", ColumnShape.model_validate(settings), base=tmp_path)


@pytest.mark.parametrize(
    ("lower", "upper", "step"),
    [
        (0, 500_000, Fraction(1, 10)),
        (0, 1, Fraction(1, 10**6)),
        (0, 10**9, Fraction(1000)),
        (5, 10**9 + 5, Fraction(1)),
        (Decimal("0.123456789"), 1, Fraction(1, 10**9)),
        (7, 7, Fraction(1, 10**6)),
    ],
)
def test_a_number_without_a_step_gets_a_fine_one(tmp_path, lower, upper, step):
    domain = column(tmp_path, type="number", lower=lower, upper=upper).domain
    assert domain.step == step
    assert domain.lower == Fraction(lower)


def test_dates_and_timestamps_as_dates_or_texts(tmp_path):
    days = DateDomain(dt.date(2020, 1, 1), dt.date(2020, 12, 31))
    for lower in (dt.date(2020, 1, 1), "2020-01-01"):
        found = column(tmp_path, type="date", lower=lower, upper=dt.date(2020, 12, 31))
        assert found.domain == days
    noon = dt.datetime(2020, 1, 1, 12)
    seconds = TimestampDomain(noon, dt.datetime(2020, 1, 2))
    for lower in (noon, "2020-01-01T12:00:00", "2020-01-01T13:00:00+01:00"):
        found = column(tmp_path, type="timestamp", lower=lower, upper="2020-01-02")
        assert found.domain == seconds


def test_a_format_is_kept_and_makes_another_axis(tmp_path):
    bounds = {"lower": "2020-01-01", "upper": "2020-12-31"}
    plain = column(tmp_path, type="date", **bounds)
    spelled = column(tmp_path, type="date", format="%d.%m.%Y", **bounds)
    assert spelled.spelling.dates == ("%d.%m.%Y",)
    assert plain.fingerprint != spelled.fingerprint


def test_whole_numbers_may_be_categories(tmp_path):
    assert column(tmp_path, type="category", values=[1, 2]).domain.values == ("1", "2")


def test_flags(tmp_path):
    found = column(
        tmp_path, type="boolean", constant=True, immutable=True, review=True, missing=True
    )
    assert found.missing
    assert found.constant
    assert found.immutable
    assert not found.reviewed


def test_values_from_files(tmp_path):
    (tmp_path / "a.csv").write_text('\ufeffJob,Title\n"B, C",x\n\nD,y\n', encoding="utf-8")
    assert read_values(tmp_path / "a.csv", "job") == ("B, C", "D")
    assert read_values(tmp_path / "a.csv", "other") == ("Job", "B, C", "D")
    (tmp_path / "a.tsv").write_text("A\tx\nB\ty\n")
    assert read_values(tmp_path / "a.tsv") == ("A", "B")
    (tmp_path / "a.txt").write_text("A, one\nB\n\n")
    assert read_values(tmp_path / "a.txt") == ("A, one", "B")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match="not UTF-8"):
        read_values(tmp_path / "bad.txt")


def test_complete_needs_a_domain_and_excludes_missing(tmp_path):
    assert column(tmp_path, type="boolean", complete=True).complete
    for settings in ({"type": "boolean", "missing": True}, {"type": "text"}):
        with pytest.raises(CatalogError, match="complete is for a column with a declared"):
            column(tmp_path, **settings, complete=True)
