"""Paid selection: the better method wins, no more than the budget is used."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InternalError, InvalidInput
from discreet.measure.private_marginals import PrivateMarginals
from discreet.measure.sealing import MemoryCounter
from discreet.work.synth.selection import PartialMarginals, _scores, choose_method, pairs_of
from quality_kit import SHAPE, fit_joint, fit_singles, marginals_of, people

BOTH = (("singles", fit_singles), ("joint", fit_joint))


@pytest.mark.parametrize("concentrated", [True, False])
def test_the_better_method_wins_and_the_budget_is_used_up_exactly(concentrated):
    marginals = marginals_of(people(), concentrated=concentrated)
    chosen = choose_method(marginals, BOTH)
    assert chosen.method == "joint"
    assert marginals.left == 0
    assert chosen.part == Fraction(19, 40)
    assert "'joint' was chosen among singles, joint" in chosen.words[0]


def test_scores_move_by_at_most_one_for_each_table_and_can_move_by_all():
    codes = people(300)
    tables = pairs_of(SHAPE)
    models = [fit_singles(marginals_of(codes)), fit_joint(marginals_of(codes))]
    scores = _scores(models, tables)
    before = scores(MemoryCounter(codes, SHAPE))
    moves = [
        np.abs(scores(MemoryCounter(np.delete(codes, i, axis=0), SHAPE)) - before).max()
        for i in range(60)
    ]
    assert max(moves) == len(tables)


def test_fewer_than_two_or_twice_the_same_is_refused_before_anything_is_measured():
    for wrong in (BOTH[:1], (BOTH[0], BOTH[0])):
        marginals = marginals_of(people(100))
        with pytest.raises(InvalidInput, match="2 to 8 different methods"):
            choose_method(marginals, wrong)
        assert marginals.left == 1


def test_a_part_cannot_be_overdrawn():
    outer = marginals_of(people(100))
    part = PartialMarginals(outer, Fraction(1, 4))
    part.measure([(0,)], share=Fraction(3, 4))
    assert outer.left == Fraction(13, 16)
    assert part.left == Fraction(1, 4)
    with pytest.raises(InternalError):
        part.measure([(0,)], share=Fraction(1, 2))
    with pytest.raises(InternalError):
        part.choose(lambda _: np.zeros(2, dtype=np.int64), sensitivity=1, share=Fraction(1, 2))
    part.choose(lambda _: np.zeros(2, dtype=np.int64), sensitivity=1, share=Fraction(1, 4))
    assert outer.left == Fraction(3, 4)


def test_a_part_covers_every_way_through_the_door():
    """A way that it did not cover would lead past the part."""
    ways = {name for name in vars(PrivateMarginals) if not name.startswith("_")} - {"left"}
    assert ways <= set(vars(PartialMarginals))
    outer = marginals_of(people(100))
    part = PartialMarginals(outer, Fraction(1, 4))
    found = part.choose_several(
        lambda _: np.zeros(3, dtype=np.int64), count=2, sensitivity=1, share=Fraction(1, 2)
    )
    assert len(set(found)) == 2
    assert outer.left == Fraction(7, 8)


def test_only_the_winners_tables_are_kept():
    chosen = choose_method(marginals_of(people()), BOTH)
    assert [each.columns for each in chosen.trusted.measured] == [(0, 1, 2)]


def test_noise_of_a_part_is_that_of_its_size():
    outer = marginals_of(people(100))
    part = PartialMarginals(outer, Fraction(1, 4))
    assert part.law(Fraction(1)) == outer.law(Fraction(1, 4))
    [measured] = part.measure([(0,)], share=Fraction(1))
    assert measured.law == outer.law(Fraction(1, 4))


def test_progress_counts_public_steps():
    told = []
    choose_method(marginals_of(people()), BOTH, progress=lambda *step: told.append(step))
    assert (0, 100, "singles: fitting") in told
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1] == (100, 100, "chosen")


def test_one_column_is_chosen_by_its_own_table():
    from discreet.measure.shape import Shape

    assert pairs_of(Shape(("a",), (3,))) == ((0,),)
