"""How each column is treated, decided before anything is paid."""

import datetime as dt
from fractions import Fraction

import pytest

from copying import catalog_of
from discreet.base.schema import DateDomain, IntegerDomain, NumberDomain
from discreet.data.catalog.policy_file import loads
from discreet.errors import DiscreetError, InvalidInput, NotReviewed, UnknownName
from discreet.measure.columns import (
    Bins,
    Coded,
    MadeUpIdentifier,
    RangeToLearn,
    WordsToLearn,
    is_wide,
    outline_of,
    scan_of,
)


def outline(base, *, bins=Bins.AUTO, has_delta=True, table="people"):
    return outline_of(catalog_of(base), table, bins=bins, has_delta=has_delta)


def kinds(found):
    return {item.name: type(item).__name__ for item in found.items}


def test_each_kind_of_column(tmp_path):
    found = outline(tmp_path)
    assert kinds(found) == {
        "id": "MadeUpIdentifier",
        "sex": "Coded",
        "age": "Coded",
        "income": "Coded",
        "born": "Coded",
        "seen": "Coded",
        "member": "Coded",
        "job": "WordsToLearn",
    }
    assert found.items[0] == MadeUpIdentifier("id", whole=True)
    assert not any("note" in notice for notice in found.notices), "nobody learns a hidden name"
    assert any("'id' are made up" in notice for notice in found.notices)
    assert found.words == (WordsToLearn("job"),)


def test_without_delta_free_text_is_dropped_with_a_notice(tmp_path):
    found = outline(tmp_path, has_delta=False)
    assert "job" not in kinds(found)
    assert any("'job' is free text and was left out" in notice for notice in found.notices)


def test_quantile_bins_are_learned_on_request(tmp_path):
    found = outline(tmp_path, bins=Bins.QUANTILE)
    assert [item.name for item in found.ranges] == ["income", "born"]
    assert isinstance(found.ranges[0], RangeToLearn)
    assert outline(tmp_path, bins=Bins.EQUAL).ranges == ()


def test_only_ranges_that_say_nothing_are_learned_by_themselves():
    assert is_wide(IntegerDomain(-(10**15), 10**15))
    assert is_wide(DateDomain(dt.date(1800, 1, 1), dt.date(2199, 12, 31)))
    assert not is_wide(NumberDomain(Fraction(0), Fraction(10**9), Fraction(1, 100)))
    assert not is_wide(DateDomain(dt.date(1900, 1, 1), dt.date(2029, 12, 31)))


def test_the_persons_column_is_made_up(tmp_path):
    found = outline(tmp_path, table="clinic.visits")
    assert kinds(found) == {"person": "MadeUpIdentifier", "ward": "Coded", "cost": "Coded"}
    assert isinstance(found.items[1], Coded)
    scan = scan_of(catalog_of(tmp_path), "visits")
    assert scan.unit == scan.id_of("person")


HEAD = """
[datasets.d]
epsilon = 1
[datasets.d.tables.t]
source = "t.csv"
"""

REFUSED = {
    "public": (HEAD + "public = true\n[datasets.d.tables.t.columns]\na = { type = 'boolean' }"),
    "No column": HEAD
    + "unit = 'row'\n[datasets.d.tables.t.columns]\na = { type = 'boolean', review = true }",
    "no column that": HEAD
    + "unit = 'row'\n[datasets.d.tables.t.columns]\na = { type = 'identifier' }",
    "There is no table": HEAD.replace("tables.t", "tables.u")
    + "unit = 'row'\n[datasets.d.tables.u.columns]\na = { type = 'boolean' }",
}


@pytest.mark.parametrize("words", REFUSED)
def test_tables_that_cannot_be_copied(words, tmp_path):
    catalog = loads(REFUSED[words], base=tmp_path)
    with pytest.raises(DiscreetError, match=words) as refused:
        outline_of(catalog, "t", bins=Bins.AUTO, has_delta=True)
    assert isinstance(refused.value, InvalidInput | NotReviewed | UnknownName)
