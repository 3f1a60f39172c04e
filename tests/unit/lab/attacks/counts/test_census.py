import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.counts.census import (
    ATTACK,
    consistent_block,
    expected_residents,
    least_overlap,
    likeliest_block,
    overlap,
    private_blocks,
    reconstruct,
)
from discreet.lab.attacks.counts.people import ResidentRows, count_rows, tabulated

TRIO = np.array([[34, 1, 1, 0], [7, 0, 0, 0], [81, 0, 1, 1]])


@pytest.fixture(scope="module")
def outcome():
    return ATTACK.run({"people": 1_000, "blocks": 5, "places": 8})


def test_three_neighbours_are_read_off_their_tables():
    found = reconstruct(tabulated(TRIO))
    assert found.unique
    assert np.array_equal(found.block, tabulated(TRIO))


def test_without_ages_many_blocks_are_possible_and_that_is_said():
    block = tabulated(TRIO)
    rows = count_rows(block)
    found = consistent_block(rows, 3)
    assert (rows.matrix @ found == rows.low).all()
    assert least_overlap(rows, found) == 0, "every age may be another within its band"


def test_the_least_overlap_counts_twins_twice():
    twins = tabulated(np.array([[50, 0, 0, 0], [50, 0, 0, 0]]))
    fixed = ResidentRows(np.eye(twins.size), twins.astype(float), twins.astype(float))
    assert least_overlap(fixed, twins) == 2
    loose = ResidentRows(np.ones((1, twins.size)), np.array([2.0]), np.array([2.0]))
    assert least_overlap(loose, twins) == 0


def test_tables_without_any_block_are_refused():
    nothing = ResidentRows(np.ones((1, 840)), np.array([9.0]), np.array([9.0]))
    with pytest.raises(InvalidInput, match="No block"):
        consistent_block(nothing, 0)


def test_exact_tables_give_most_residents_away_and_private_ones_do_not(outcome):
    assert outcome.score.low > outcome.score.baseline
    assert outcome.score.success > 0.5
    assert outcome.details["certain"] <= outcome.score.success
    assert outcome.private.low <= outcome.private.baseline + 0.15
    assert outcome.private.high < outcome.score.low


def test_without_noise_the_curators_tables_say_more_than_the_town():
    rng = np.random.default_rng(0)
    people = np.stack([rng.integers(0, 90, 600), *rng.integers(0, 2, (3, 600))], axis=1)
    blocks = [tabulated(people[8 * i : 8 * i + 8]) for i in range(10)]
    expected = expected_residents(people[80:], 8)
    found = private_blocks(blocks, expected, epsilon=900.0)
    told = sum(overlap(each, block) for each, block in zip(found, blocks, strict=True))
    plain = likeliest_block(expected, 8)
    assert told > sum(overlap(plain, block) for block in blocks) + 8, "of 80 residents"


def test_more_residents_than_people_are_refused():
    with pytest.raises(InvalidInput, match="more people than there are"):
        ATTACK.run({"people": 1_000, "blocks": 100, "places": 30})
