"""Exact results in the order of their groups, whatever the engine's order was."""

import datetime as dt
from fractions import Fraction

import pytest

from asking import catalog, memory, people, plan
from curator_kit import exact_of
from discreet.ask.release.sealing import seal
from discreet.base.schema import (
    BooleanDomain,
    CategoryDomain,
    DateDomain,
    IntegerDomain,
    NumberDomain,
    TextDomain,
)
from discreet.privacy.kernel.look import canonical
from discreet.privacy.kernel.mechanism import Bound, Kind
from discreet.privacy.kernel.seal import MeasureDraft
from discreet.privacy.kernel.seal import exact_of as measure_of
from permits import of_engine


def exact(sql, table, **settings):
    found = plan(sql, **settings)
    attached = memory(people=table)
    sealed = seal(found, catalog(**settings), attached)
    return exact_of(found.question, sealed, of_engine(attached))


def test_empty_groups_are_zero_and_undeclared_values_vanish():
    table = people(3, 1, sex=["Female", "female", None, "Other"])
    found = exact("SELECT sex, COUNT(*) FROM people GROUP BY sex", table)
    assert found.groups == (("Female",), ("Male",))
    assert list(found.measures["m0"]) == [1, 0]


def test_missing_values_are_a_group_where_they_may_be_missing():
    table = people(2, 2, balance=[None, 51, 0, 0])
    found = exact("SELECT balance, COUNT(*) FROM people GROUP BY balance", table)
    assert found.groups[0] == (None,)
    assert found.measures["m0"][0] == 2  # missing, and outside the declared range


def test_private_groups_come_in_the_order_of_their_keys():
    table = people(2, 2, job=["z", "a", None, "a"])
    found = exact("SELECT job, COUNT(*) FROM people GROUP BY job", table, delta="1e-6")
    assert found.groups == ((None,), ("a",), ("z",))
    assert list(found.measures["m0"]) == [1, 2, 1]


def test_histograms_have_one_bin_for_each_public_value():
    found = exact("SELECT MEDIAN(age) FROM people", people(1, 1, age=[3, None]))
    (histogram,) = found.histograms["q0"]
    assert histogram.sum() == histogram[3] == 1


def test_two_keys_and_several_spellings_of_missing_add_up():
    table = people(3, 2, sex=["Female", "x", None, "Male", "Female"], age=[1, 1, 1, 2, 1])
    sql = "SELECT age, sex, COUNT(*) FROM people WHERE age <= 2 GROUP BY age, sex"
    found = exact(sql, table)
    counts = dict(zip(found.groups, found.measures["m0"], strict=True))
    assert counts[1, "Female"] == 2
    assert counts[2, "Male"] == 1
    assert sum(counts.values()) == 3


def test_histograms_by_two_keys():
    table = people(2, 2, sex=["Female", "Female", "Male", "?"], age=[1, 2, 2, 3])
    found = exact("SELECT sex, MEDIAN(age) FROM people GROUP BY sex", table)
    assert [list(row.nonzero()[0]) for row in found.histograms["q0"]] == [[1, 2], [2]]


def test_it_hides_itself():
    assert "ExactResults object" in repr(exact("SELECT COUNT(*) FROM people", people(2, 1)))


def test_centred_and_squared_sums_from_what_the_engine_added():
    outputs = (30, 2, 500)
    centred, squares = (
        MeasureDraft(Kind.CENTRED, (0, 1), 120),
        MeasureDraft(Kind.SQUARES, (2, 0, 1), 120),
    )
    assert measure_of(centred, Bound(Kind.CENTRED, -120, 120), outputs) == 2 * 30 - 120 * 2
    found = measure_of(squares, Bound(Kind.SQUARES, 0, 14_400), outputs)
    assert found == 4 * 500 - 4 * 120 * 30 + 120**2 * 2


@pytest.mark.parametrize(
    ("domain", "value", "expected"),
    [
        (IntegerDomain(0, 9), 9, 9),
        (IntegerDomain(0, 9), 10, None),
        (NumberDomain(Fraction(0), Fraction(1), Fraction(1, 4)), 3, Fraction(3, 4)),
        (CategoryDomain(("a",)), "A", None),
        (BooleanDomain(), True, True),
        (DateDomain(dt.date(2024, 1, 1), dt.date(2024, 1, 2)), dt.date(2024, 1, 3), None),
        (TextDomain(), "x", "x"),
        (TextDomain(), None, None),
    ],
)
def test_canonical_keys(domain, value, expected):
    assert canonical(value, domain) == expected
