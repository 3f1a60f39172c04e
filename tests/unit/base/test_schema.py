import datetime as dt
from fractions import Fraction

import pytest

from discreet.base.schema import (
    CategoryDomain,
    Column,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    Table,
    TimestampDomain,
)
from discreet.base.unit import PrivacyUnit
from discreet.errors import CatalogError, UnknownName

YEAR = TimestampDomain(dt.datetime(2020, 1, 1), dt.datetime(2020, 12, 31, 23, 59, 59))

DOMAINS = [
    (IntegerDomain(-3, 4), 8, -3, 4),
    (NumberDomain(Fraction(0), Fraction(1), Fraction(1, 4)), 5, 0, 1),
    (CategoryDomain(("b", "a")), 2, "b", "a"),
    (DateDomain(dt.date(2020, 1, 1), dt.date(2020, 12, 31)), 366, *(None, None)),
    (YEAR, 366 * 86_400, dt.datetime(2020, 1, 1), dt.datetime(2020, 12, 31, 23, 59, 59)),
]


@pytest.mark.parametrize(("domain", "size", "first", "last"), DOMAINS)
def test_positions_run_from_the_first_to_the_last_value(domain, size, first, last):
    assert domain.size == size
    if first is not None:
        assert domain.value(0) == first
        assert domain.value(size - 1) == last
    assert domain.words()


def test_timestamps_are_whole_seconds_without_a_zone():
    start = dt.datetime(2020, 1, 1)
    for bad in (start.replace(microsecond=1), start.replace(tzinfo=dt.UTC)):
        with pytest.raises(CatalogError, match="whole seconds"):
            TimestampDomain(bad, dt.datetime(2021, 1, 1))
    with pytest.raises(CatalogError, match="must not be above"):
        TimestampDomain(start, dt.datetime(2019, 1, 1))
    for step in (0, -1, 1.5, True):  # with 0 all moments would be one
        with pytest.raises(CatalogError, match="step"):
            TimestampDomain(start, dt.datetime(2021, 1, 1), step)


def test_a_fingerprint_tells_domains_apart():
    one, same = Column("x", IntegerDomain(0, 9)), Column("y", IntegerDomain(0, 9))
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != Column("x", IntegerDomain(0, 10)).fingerprint
    assert Column("x", CategoryDomain(("\ud800",))).fingerprint


def test_columns_are_found_without_regard_to_case():
    table = Table("t", "t.csv", PrivacyUnit(), (Column("Age", IntegerDomain(0, 9)),))
    assert table.column("aGE").name == "Age"
    assert not table.public
    with pytest.raises(UnknownName, match="Its columns: Age"):
        table.column("x")
