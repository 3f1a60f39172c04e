import itertools
import random

import numpy as np
import pytest

from anonymize_kit import groups_of, random_problem
from discreet.anonymize import classes
from discreet.anonymize.classes import TableShelf, bottom_table, class_of, roll_up
from discreet.anonymize.hierarchy import make_ladders


def _content(table, ladders, levels):
    """Return sizes and sensitive values by labels, whatever the order of classes is."""
    names = [
        tuple(
            int(ladders[j].rungs[level].codes[table.codes[j, c]]) for j, level in enumerate(levels)
        )
        for c in range(table.size)
    ]
    pairs = {
        (names[k], int(s)): int(r)
        for k, s, r in zip(table.klass, table.sensitive, table.pair_rows, strict=True)
    }
    return dict(zip(names, table.rows.tolist(), strict=True)), pairs


@pytest.mark.parametrize("dense", [-(10**6), 8], ids=["sorting", "counting"])
def test_rolling_up_in_steps_equals_counting_at_once(monkeypatch, dense):
    monkeypatch.setattr(classes, "_DENSE", dense)
    dice = random.Random(2)
    for _ in range(8):
        names, trees, rows = random_problem(dice)
        groups = groups_of(names, rows)
        ladders = make_ladders(groups, trees)
        bottom = bottom_table(groups, 3)
        shelf = TableShelf(bottom, ladders)
        nodes = list(itertools.product(range(3), repeat=3))
        dice.shuffle(nodes)
        for levels in nodes:
            direct = roll_up(bottom, ladders, levels)
            assert _content(shelf.reach(levels), ladders, levels) == _content(
                direct, ladders, levels
            )
            klass = class_of(bottom, ladders, levels)
            assert np.bincount(klass, weights=groups.rows).tolist() == direct.rows.tolist()


def test_smaller_tables_are_kept_within_a_limit(monkeypatch):
    names, trees, rows = random_problem(random.Random(5))
    groups = groups_of(names, rows)
    ladders = make_ladders(groups, trees)
    shelf = TableShelf(bottom_table(groups, 3), ladders)
    shelf.reach((2, 2, 2))
    assert len(shelf._tables) == 2
    monkeypatch.setattr(classes, "_MOST_KEPT", 0)
    full = TableShelf(bottom_table(groups, 3), ladders)
    full.reach((2, 2, 2))
    assert len(full._tables) == 1
    assert full._known is None
