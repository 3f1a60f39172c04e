"""What an owner changes of declared data sets keeps the promises of the catalog, whoever asks for it."""

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.data.catalog.edits import (
    removed_with_shares,
    renamed_with_shares,
    with_total,
    without_share,
)
from discreet.data.catalog.policy_file import loads
from discreet.errors import InvalidInput, UnknownName

TABLE = """
[datasets.{0}]
epsilon = 2

[datasets.{0}.tables.{0}_rows]
source = "{0}.csv"
unit = "row"

[datasets.{0}.tables.{0}_rows.columns]
age = {{ type = "integer", lower = 0, upper = 99 }}
"""
ANN = "\n[analysts.ann]\ndatasets = { town = { epsilon = 0.5, delta = 1e-9 } }\n"
BOB = "\n[analysts.bob]\ndatasets = { shop = { epsilon = 1 } }\n"
TEXT = TABLE.format("town") + TABLE.format("shop") + ANN


def read(text):
    return loads(text, base=Path())


def test_a_name_takes_its_shares_and_its_spent_budget_along():
    new = read(renamed_with_shares(TEXT, read(TEXT), "town", "city"))
    assert set(new.datasets) == {"city", "shop"}
    assert new.datasets["city"].budget == "town"
    assert new.analysts["ann"].keys() == {"city"}
    assert new.analysts["ann"]["city"] == read(TEXT).analysts["ann"]["town"]


def test_a_total_rises_by_the_owners_word_alone():
    old = read(TEXT)
    lower = with_total(TEXT, old, "town", {"epsilon": Fraction(1)}, agreed=False)
    assert read(lower).budgets["town"].epsilon.value == 1
    with pytest.raises(InvalidInput, match="promises less"):
        with_total(TEXT, old, "town", {"epsilon": Fraction(3)}, agreed=False)
    higher = with_total(TEXT, old, "town", {"epsilon": Fraction(3)}, agreed=True)
    assert read(higher).budgets["town"].epsilon.value == 3


def test_a_total_that_is_shared_changes_where_it_stands():
    text = renamed_with_shares(TEXT, read(TEXT), "town", "city")
    new = with_total(text, read(text), "city", {"epsilon": Fraction(1)}, agreed=False)
    assert read(new).budgets["town"].epsilon.value == 1


def test_the_last_share_is_not_taken_away_by_the_way():
    old = read(TEXT)
    with pytest.raises(InvalidInput, match="last share"):
        without_share(TEXT, old, "ann", "town")
    with pytest.raises(InvalidInput, match="nobody would have a share"):
        removed_with_shares(TEXT, old, "town")
    with pytest.raises(UnknownName):
        without_share(TEXT, old, "ann", "shop")
    both = TEXT + BOB
    assert read(without_share(both, read(both), "ann", "town")).analysts.keys() == {"bob"}
    left = read(removed_with_shares(both, read(both), "town"))
    assert (set(left.datasets), left.analysts.keys()) == ({"shop"}, {"bob"})
