"""Rules of child tables: derived, decided and checked in every row; days that are left."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from discreet.base.schema import CategoryDomain, DateDomain, IntegerDomain
from discreet.errors import InvalidInput
from discreet.measure.columns import Coded, Encoding
from discreet.work.synth.linked_model import ChildRules, EventModel, draw_events, drawn_by_rules
from discreet.work.synth.model_file import Saved
from discreet.work.synth.models.conditional_chain import Network, Node

DAYS = DateDomain(dt.date(2020, 1, 1), dt.date(2020, 3, 31))
OWN = (
    Coded("price", IntegerDomain(0, 9)),
    Coded("many", IntegerDomain(0, 9)),
    Coded("total", IntegerDomain(0, 81)),
    Coded("town", CategoryDomain(("x", "y", "z"))),
    Coded("day", DAYS),
)
ABOVE = Coded("people.sex", CategoryDomain(("F", "M")))


def saved(columns: tuple[Coded, ...], rules: tuple[str, ...] = ()) -> Saved:
    """Return a model of even chances."""
    encoding = Encoding("t", columns)
    nodes = tuple(Node(i, (), np.full(s, 1 / s)) for i, s in enumerate(encoding.shape.sizes))
    return Saved(encoding, Network(encoding.shape, 100.0, nodes), (), rules, {})


def drawn(rules: tuple[str, ...], rows: int = 400) -> np.ndarray:
    dice = np.random.default_rng(1)
    sizes = [column.positions for column in OWN]

    def draw(which: np.ndarray) -> np.ndarray:
        return np.stack([dice.integers(0, size, len(which)) for size in sizes], axis=1)

    kept = ChildRules(saved((*OWN, ABOVE), rules), len(OWN))
    return drawn_by_rules(
        draw, rows, kept, lambda which, _: np.ones(len(which), dtype=bool), dice=dice
    )


def test_every_row_keeps_every_rule():
    rules = ("total = price * many", "price >= 3", "many < 5 if price > 6", "price -> town")
    places = drawn(rules)
    price, many, total, town = (places[:, i] for i in range(4))
    assert (total == price * many).all()
    assert (price >= 3).all()
    assert (many[price > 6] < 5).all()
    assert all(len(set(town[price == value].tolist())) <= 1 for value in range(10))
    free = drawn(())
    assert (free[:, 2] != free[:, 0] * free[:, 1]).any()
    assert (free[:, 0] < 3).any()


def test_a_row_that_nothing_saves_takes_another_ones_values():
    places = drawn(("price = 3 if many = 3", "total = 7 if price > 2", "many >= 3"), rows=50)
    assert (places[:, 1] >= 3).all()
    assert (places[places[:, 0] > 2][:, 2] == 7).all()


def test_what_no_row_can_keep_is_refused():
    with pytest.raises(InvalidInput, match="No row of 't'"):
        drawn(("price < 2", "price > 5"))


def test_events_stay_inside_their_days_whatever_the_gaps():
    """Gaps are up to 90 days, twelve events in 91 days: days only ascend, and end in time."""
    gap = Coded("days between day", IntegerDomain(0, 90))
    before = tuple(Coded(f"previous {c.name}", c.domain) for c in OWN)
    first = saved((*OWN, ABOVE), ("price >= 3", "total = price * many"))
    events = EventModel(4, len(OWN), saved((*OWN[:4], gap, *before, ABOVE)))
    parents = np.repeat(np.arange(40), 12)
    known = np.zeros((len(parents), 1), dtype=np.int32)
    dice = np.random.default_rng(2)
    codes, places = draw_events(first, 1, events, known, parents, dice=dice)
    day = places[:, 4]
    same = parents[1:] == parents[:-1]
    assert (day[1:] >= day[:-1])[same].all()
    assert 0 <= day.min() <= day.max() <= 90
    assert (places[:, 0] >= 3).all()
    assert (places[:, 2] == places[:, 0] * places[:, 1]).all()
    assert (codes == places).all()
