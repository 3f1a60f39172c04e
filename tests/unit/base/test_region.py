"""Boxes of the public domain."""

import pytest

from discreet.base.event import EVERYONE, NULL, Positions, Region
from region_kit import contains


def test_spans_have_one_canonical_form():
    assert Positions.of([(5, 6), (0, 2), (3, 4), (9, 8)]).spans == ((0, 6),)
    assert Positions.points([3, 1, NULL]).spans == ((-1, -1), (1, 1), (3, 3))
    assert Positions.whole(3).spans == ((-1, 2),)


@pytest.mark.parametrize("size", [1, 4])
def test_set_operations_agree_with_sets(size):
    every = range(NULL, size)
    subsets = [
        Positions.points(p for p in every if bits >> (p + 1) & 1) for bits in range(2 ** (size + 1))
    ]
    for one in subsets:
        held = {p for p in every if p in one}
        assert len(one) == len(held)
        assert bool(one) == bool(held)
        assert {p for p in every if p in one.complement(size)} == set(every) - held
        for two in subsets:
            other = {p for p in every if p in two}
            assert {p for p in every if p in one & two} == held & other
            assert {p for p in every if p in one | two} == held | other


def test_boxes_meet():
    old = Region.of({"age": Positions.of([(60, 120)])})
    men = Region.of({"sex": Positions.points([1])})
    both = old & men
    assert contains(both, {"age": 70, "sex": 1, "more": 5})
    assert not contains(both, {"age": 70, "sex": 0})
    assert both == men & old
    assert (old & EVERYONE) == old
    assert not both.empty
    assert (men & Region.of({"sex": Positions.points([0])})).empty
    assert EVERYONE.on("sex") is None


def test_json_and_back():
    region = Region.of({"b": Positions.of([(-1, 3), (7, 7)]), "a": Positions(())})
    assert Region.from_json(region.to_json()) == region
