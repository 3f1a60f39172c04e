"""A planner that names wrong domains for the keys: no two groups of the SQL become one."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from asking import catalog, memory, people, plan
from discreet.ask.release.sealing import seal
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IdentifierDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
)
from discreet.privacy.kernel import look
from permits import of_engine

DOMAINS = (
    BooleanDomain(),
    IntegerDomain(-5, 5),
    NumberDomain(Fraction(-5), Fraction(5), Fraction(1, 2)),
    CategoryDomain(("1", "True", "2024-01-01", "a")),
    DateDomain(dt.date(2000, 1, 1), dt.date(2030, 1, 1)),
    IdentifierDomain(),
    TextDomain(),
)
COLUMNS = (
    [False, True],
    [0, 1, 2, 3, 7, 9],
    [Decimal(0), Decimal("0.5"), Decimal(1), Decimal("1.5"), Decimal("1.9"), Decimal("NaN")],
    [0.0, 0.5, 1.0, 1.5, float("inf")],
    ["", "1", "01", "True", "true", "2024-01-01", "a", "A"],
    [b"", b"1"],
    [dt.date(2024, 1, 1), dt.date(2024, 1, 2)],
    [dt.datetime(2024, 1, 1, hour) for hour in range(3)],
    [dt.timedelta(0), dt.timedelta(1)],
)
"""Different keys of one column, as engines hand them over."""


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: type(domain).__name__)
def test_different_keys_stay_different_under_every_domain(domain):
    for column in COLUMNS:
        listed = [found for value in column if (found := look.canonical(value, domain)) is not None]
        assert len(set(listed)) == len(listed), column


def moved(domain, groups):
    """Return the counts of 500 people of one code, without and with somebody of another."""
    found = plan("SELECT age, COUNT(*) AS n FROM people GROUP BY age")
    seen = []
    for ages in ([7] * 500, [7] * 500 + [9]):
        engine = memory(people=people(len(ages), 0, age=ages))
        sealed = seal(found, catalog(), engine)
        exact = look.exact(sealed.reads, sealed.mechanisms, (domain,), groups, of_engine(engine))
        seen.append(list(exact.measures["m0"]))
        (read,) = sealed.reads
        (bound,) = read.bounds.values()
    change = sum(abs(a - b) for a, b in zip(*seen, strict=True))
    return change, read.stability.l1(bound)


def test_a_wrong_domain_moves_nothing_that_was_not_paid_for():
    change, paid = moved(BooleanDomain(), [(True,), (False,)])
    assert change <= paid


def test_what_overwrites_would_be_caught(monkeypatch):
    """Two twins: keys that are folded, and rows of which the last one wins."""
    monkeypatch.setattr(look, "_listed", lambda value, _domain: bool(value))
    change, paid = moved(BooleanDomain(), [(True,), (False,)])
    assert change <= paid  # folded, but added up

    def one_wins(found, values):
        rows = [tuple(int(column[i] or 0) for column in values) for i in range(len(found.place))]
        # In the order in which an engine may hand them over: the smallest last.
        order = sorted(range(len(rows)), key=lambda i: rows[i], reverse=True)
        return {found.values[found.place[i]]: rows[i] for i in order}

    monkeypatch.setattr(look, "_sums", one_wins)
    change, paid = moved(BooleanDomain(), [(True,), (False,)])
    assert change > paid


def test_rows_of_one_group_are_added_up():
    table = pa.table({"k": ["a", "b", "a"], "n": [1, None, 5]})
    found = look._groups(table, (CategoryDomain(("a", "b")),))
    assert look._sums(found, [[1, None, 5]]) == {("a",): (6,), ("b",): (0,)}
