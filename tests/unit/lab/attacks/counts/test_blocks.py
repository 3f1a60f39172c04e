import numpy as np
import pytest

from discreet.errors import InvalidInput
from discreet.lab.attacks.counts.people import Blocks, blocks_of, with_balanced_targets


def test_blocks_keep_everybody_but_the_left_over():
    rng = np.random.default_rng(1)
    blocks = blocks_of(np.arange(103) < 30, places=10, rng=rng)
    assert (blocks.blocks, blocks.places) == (10, 10)
    assert 27 <= blocks.secret.sum() <= 30


def test_half_of_the_targets_have_the_bit_and_nobody_is_lost():
    rng = np.random.default_rng(2)
    blocks = Blocks(rng.random((201, 12)) < 0.1)
    mixed = blocks.secret[blocks.secret.any(1) & ~blocks.secret.all(1)]
    game = with_balanced_targets(blocks, rng)
    assert game.blocks == len(mixed) // 2 * 2
    assert game.secret[:, 0].sum() == game.blocks // 2
    assert (game.secret.sum(1) == mixed[: game.blocks].sum(1)).all()


def test_the_table_of_a_curator_says_who_lives_where():
    rows = Blocks(np.array([[True, False], [False, False]])).exhibit().rows.to_pylist()
    assert rows[0] == {"block": 0, "place": 0, "secret": True}
    assert sum(row["secret"] for row in rows) == 1


def test_too_few_people_and_blocks_without_a_difference_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="at least as many people"):
        blocks_of(np.ones(4, dtype=bool), places=5, rng=rng)
    with pytest.raises(InvalidInput, match="same answer"):
        with_balanced_targets(Blocks(np.ones((4, 5), dtype=bool)), rng)
