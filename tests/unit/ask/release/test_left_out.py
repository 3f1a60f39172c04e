"""What is said of rows that a bound leaves out: the bound that counts, and one that was asked for in vain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.ask.release.answer import _notes
from discreet.ask.sql.relations import declared_scan
from discreet.base.schema import Column, Dataset, IdentifierDomain, Table
from discreet.base.unit import Neighbours, PrivacyUnit

PEOPLE = Table(
    "visits", "v.csv", PrivacyUnit("id"), (Column("id", IdentifierDomain()),), max_rows=3
)
BOUNDED = Table(
    "visits",
    "v.csv",
    PrivacyUnit("id"),
    (Column("id", IdentifierDomain()),),
    max_rows=3,
    bounded=True,
)
TOWN = Dataset("town", (), Neighbours.ADD_REMOVE, "town")


@pytest.mark.parametrize(
    ("table", "asked", "rows", "vain"),
    [
        (PEOPLE, None, "3 rows count", False),
        (PEOPLE, 5, "5 rows count", False),
        (BOUNDED, None, "3 rows count", False),
        (BOUNDED, 3, "3 rows count", False),
        (BOUNDED, 5, "3 rows count", True),
        (BOUNDED, 1, "3 rows count", True),
    ],
)
def test_the_bound_that_counts_is_told(table, asked, rows, vain):
    scan = replace(declared_scan(TOWN, table), asked=asked)
    *before, last = _notes({"visits": scan}, {})
    assert rows in last
    in_vain = f"max_rows = {asked} was not used: 'visits' is bounded as a whole by its owner."
    assert before == ([in_vain] if vain else [])
