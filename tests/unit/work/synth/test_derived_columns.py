"""Columns that follow from others: every row of every sample computes them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pytest

from discreet.base.schema import CategoryDomain, DateDomain, IntegerDomain, NumberDomain
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded, Encoding, binned
from discreet.measure.decoding import NULL
from discreet.work.synth.models.conditional_chain import Network, Node
from discreet.work.synth.rules import derive, read_derivation, read_rules
from discreet.work.synth.synthetic import draw

CENT = Fraction(1, 100)
ENCODING = Encoding(
    "t",
    (
        binned(Coded("price", NumberDomain(Fraction(0), Fraction(100), CENT))),
        Coded("quantity", IntegerDomain(1, 9), missing=True),
        binned(Coded("total", NumberDomain(Fraction(0), Fraction(500), CENT), missing=True)),
        binned(Coded("came", DateDomain(dt.date(2020, 1, 1), dt.date(2021, 12, 31)))),
        binned(Coded("left", DateDomain(dt.date(2020, 1, 1), dt.date(2021, 12, 31)))),
        Coded("kind", CategoryDomain(("a", "b"))),
    ),
)


def uniform():
    shape = ENCODING.shape
    nodes = tuple(Node(i, (), np.full(s, 1 / s)) for i, s in enumerate(shape.sizes))
    return Network(shape, 1000.0, nodes)


def test_totals_and_days_follow_in_every_row():
    rules = read_rules(["total = price * quantity", "left = came + quantity - 1"], ENCODING)
    assert len(rules.derivations) == 2
    assert rules.texts == ("total = price * quantity", "left = came + quantity - 1")
    places = draw(uniform(), ENCODING, 500, dice=np.random.default_rng(1), rules=rules).places
    price, quantity, total, came, left = (places[:, i] for i in range(5))
    gap = quantity == NULL
    assert 0 < gap.sum() < 500
    assert (total[gap] == NULL).all()
    assert (total[~gap] == np.minimum(price * (quantity + 1), 50_000)[~gap]).all()
    assert (left[~gap] == np.minimum(came + quantity, 730)[~gap]).all()


def test_conditions_are_checked_after_what_is_derived():
    rules = read_rules(["total = price * 2", "total <= 100"], ENCODING)
    places = draw(uniform(), ENCODING, 200, dice=np.random.default_rng(2), rules=rules).places
    assert (places[:, 2] == 2 * places[:, 0]).all()
    assert (places[:, 2] <= 10_000).all()


def test_a_division_by_nothing_keeps_what_was_drawn():
    (rule,) = read_rules(["left = came / (quantity - quantity)"], ENCODING).derivations
    places = np.array([[1, 1, 1, 5, 7, 0]])
    assert derive(places.copy(), ENCODING, (rule,)).tolist() == places.tolist()


@pytest.mark.parametrize(
    "text", ["price >= 3", "kind = 'a'", "total = price", "price -> kind", "total <> price * 2"]
)
def test_other_rules_are_no_derivations(text):
    assert read_derivation(text, ENCODING) is None


@pytest.mark.parametrize("text", ["kind = price * 2", "total = kind * 2", "total = abs(price) * 2"])
def test_what_cannot_be_computed_is_refused(text):
    with pytest.raises(InvalidInput):
        read_derivation(text, ENCODING)
