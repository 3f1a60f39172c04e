"""The bill of the worst-hit person, on examples whose answer is known by hand."""

import itertools

import pytest

from discreet.base.event import EVERYONE, NULL, Positions, Region
from discreet.base.unit import Neighbours
from discreet.errors import InternalError
from discreet.privacy.ledger.worst.worst_hit import Worst
from region_kit import contains

FEMALE = Region.of({"sex": Positions.points([0])})
MALE = Region.of({"sex": Positions.points([1])})
ADULT = Region.of({"age": Positions(((21, 120),))})
LESSON = ((EVERYONE, 50), (MALE, 20), (FEMALE, 25), (ADULT, 25))


def bills(*charges, components=1, neighbours=Neighbours.ADD_REMOVE, ceiling=10**6, **options):
    worst = Worst(components, ceiling=(ceiling,) * components, neighbours=neighbours, **options)
    for region, amount in charges:
        worst.add(region, amount if isinstance(amount, tuple) else (amount,))
    return worst


@pytest.mark.parametrize("order", list(itertools.permutations(LESSON)))
def test_disjoint_questions_asked_separately_are_billed_in_parallel(order):
    worst = bills(*order)
    assert worst.peak() == (100,)  # the sum of all four would be 120
    assert worst.where() == FEMALE & ADULT


def test_forgetting_that_regions_overlap_would_be_noticed():
    """Broken twins: the greatest single bill, and the average over cells, are both too low."""
    truth = bills(*LESSON).peak()[0]
    assert max(amount for _, amount in LESSON) < truth
    cells = [(s, a) for s in (NULL, 0, 1) for a in (NULL, 10, 50)]
    per_cell = [
        sum(amount for region, amount in LESSON if contains(region, {"sex": s, "age": a}))
        for s, a in cells
    ]
    assert sum(per_cell) / len(cells) < truth == max(per_cell)


def test_replacing_a_person_touches_both_sexes():
    worst = bills(*LESSON, neighbours=Neighbours.REPLACE_ONE)
    assert worst.peak() == (120,)  # a woman over 20 becomes a man, or the reverse


def test_unrestricted_charges_count_once_for_a_pair():
    worst = bills((EVERYONE, 7), (EVERYONE, 3), neighbours=Neighbours.REPLACE_ONE)
    assert worst.peak() == (10,)


def test_a_pair_pays_for_at_most_two_of_many_disjoint_cells():
    groups = [(Region.of({"day": Positions.points([day])}), day + 1) for day in range(30)]
    assert bills(*groups).peak() == (30,)
    assert bills(*groups, neighbours=Neighbours.REPLACE_ONE).peak() == (59,)


def test_asking_for_the_price_adds_nothing():
    worst = bills((FEMALE, 5))
    assert worst.peak_with(FEMALE, (3,)) == (8,)
    assert worst.peak_with(MALE, (3,)) == (5,)
    assert worst.peak_with(MALE, (9,)) == (9,)
    assert worst.peak_with(EVERYONE, (3,)) == (8,)
    assert worst.peak() == (5,)


def test_components_have_their_own_worst_person():
    worst = bills((FEMALE, (5, 0)), (MALE, (0, 7)), (ADULT, (1, 1)), components=2)
    assert worst.peak() == (6, 8)
    assert worst.where(0) == FEMALE & ADULT
    assert worst.where(1) == MALE & ADULT


def test_a_region_that_holds_nobody_costs_nothing():
    nobody = Region.of({"sex": Positions(())})
    worst = bills((nobody, 5))
    assert worst.peak() == (0,)
    assert worst.peak_with(nobody, (5,)) == (0,)
    assert worst.where() == EVERYONE


def test_unknown_values_are_a_place_of_their_own():
    unknown = Region.of({"sex": Positions.points([NULL])})
    worst = bills((unknown, 5), (FEMALE, 3), (MALE, 4))
    assert worst.peak() == (5,)
    assert worst.where() == unknown
    assert worst.peak_with(Region.of({"sex": Positions(((NULL, 1),))}), (1,)) == (6,)


def test_untied_axes_add_up_and_a_bridge_ties_them():
    first, second = FEMALE, Region.of({"dose": Positions.points([3])})
    worst = bills((first, 5), (second, 6))
    assert worst.peak() == (11,)
    bridge = Region.of({"sex": Positions.points([1]), "dose": Positions.points([3, 4])})
    assert worst.peak_with(bridge, (4,)) == (11,)
    assert worst.peak_with(bridge, (6,)) == (12,)
    worst.add(bridge, (6,))
    assert worst.peak() == (12,)
    assert worst.where() == second & bridge


def test_identical_regions_are_one():
    worst = bills(*[(FEMALE, 1)] * 50)
    assert worst.peak() == (50,)
    assert len(worst._charges) == 1


def test_a_bill_stops_at_the_ceiling_and_stays_there():
    worst = bills((FEMALE, 60), (MALE, 60), ceiling=100)
    assert worst.peak() == (60,)
    assert worst.peak_with(FEMALE, (10**30,)) == (100,)
    worst.add(FEMALE, (60,))
    assert worst.peak() == (100,)
    worst.add(MALE, (1,))
    assert worst.peak() == worst.peak_with(MALE, (1,)) == (100,)


def test_an_amount_as_large_as_the_ceiling_names_its_region():
    worst = bills((FEMALE, 5), (MALE, 100), ceiling=100)
    assert worst.peak() == (100,)
    assert worst.where() == MALE


@pytest.mark.parametrize("cell_cap", [1, 2**23])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_sums_near_the_end_of_64_bits_do_not_wrap(cell_cap, neighbours):
    days = [
        Region.of({"day": Positions.points([d]), "x": Positions.points([d])}) for d in range(40)
    ]
    worst = bills(neighbours=neighbours, ceiling=2**60, cell_cap=cell_cap)
    for day in days:
        worst.add(day, (2**59 - 1,))
    again = bills(neighbours=neighbours, ceiling=2**60, cell_cap=cell_cap)
    again.extend((day, (2**59 - 1,)) for day in days)
    for each in (worst, again):
        assert neighbours.moves * (2**59 - 1) <= each.peak()[0] <= 2**60
    if cell_cap > 1:
        assert worst.peak() == again.peak() == (neighbours.moves * (2**59 - 1),)


def test_positions_beyond_64_bits_are_joined_not_lost():
    far = [Region.of({"id": Positions.points([10**30 + i])}) for i in range(3)]
    assert bills(*[(region, 5) for region in far]).peak() == (15,)


@pytest.mark.parametrize("neighbours", Neighbours)
def test_many_at_once_are_billed_as_one_by_one(neighbours):
    worst = bills(neighbours=neighbours)
    worst.extend((region, (amount,)) for region, amount in LESSON)
    worst.extend([])
    one_by_one = bills(*LESSON, neighbours=neighbours)
    assert worst.peak() == one_by_one.peak()
    if neighbours is Neighbours.ADD_REMOVE:  # of a pair, either may be named
        assert worst.where() == one_by_one.where() == FEMALE & ADULT
    worst.add(ADULT, (5,))
    one_by_one.add(ADULT, (5,))
    assert worst.peak() == one_by_one.peak()


@pytest.mark.parametrize("amounts", [(), (1, 2), (-1,)])
def test_amounts_that_make_no_sense_are_our_own_bug(amounts):
    with pytest.raises(InternalError):
        bills().add(FEMALE, amounts)


def test_a_charge_of_nothing_in_some_components_is_a_charge():
    worst = bills((FEMALE, (5, 0)), (FEMALE, (0, 0)), components=2)
    assert worst.peak() == (5, 0)


def test_a_bill_of_just_the_ceiling_is_full():
    for worst in (bills((FEMALE, 60), (FEMALE, 40), ceiling=100), bills(ceiling=100)):
        worst.extend([(FEMALE, (60,)), (ADULT, (40,))])
        assert worst.peak() == (100,)
        assert worst.peak_with(MALE, (1,)) == (100,)


def test_every_component_needs_a_ceiling():
    with pytest.raises(InternalError):
        Worst(2, ceiling=(10,), neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(InternalError):
        Worst(1, ceiling=(10, 10), neighbours=Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("ceiling", [0, 2**60 + 1])
def test_a_ceiling_that_could_wrap_is_refused(ceiling):
    with pytest.raises(InternalError):
        bills(ceiling=ceiling)
