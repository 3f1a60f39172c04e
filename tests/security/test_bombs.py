"""Questions that are short to write and long to plan: each is planned or refused at once."""

from __future__ import annotations

import contextlib
import resource
import time

import pytest

from asking import reads
from bombs import bombs
from discreet.ask.plan import expr as e
from discreet.errors import InvalidInput, QueryRefused, UnknownName

SECONDS = 1.0
MEGABYTES = 200
BOMBS = bombs()
CHOSEN = [
    "60 times a + a",
    "60 times GREATEST(a, a)",
    "30 times clamp(a, 0, 5) + a",
    "20 deep NULLIF({x}, 3)",
    "90 deep {x} % 9",
    "2000 deep ({x} + 1)",
    "60 aliases {p} + {p}",
    "800 chained",
    "60 joined twice",
    "with",
    "open",
]


def planned(sql: str) -> tuple[float, float]:
    """Return CPU seconds and the growth of memory in megabytes; an error of ours is no failure."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    with contextlib.suppress(QueryRefused, InvalidInput, UnknownName):
        reads(sql)
    taken = time.process_time() - begun
    return taken, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def test_there_are_a_hundred():
    assert len(BOMBS) >= 100


@pytest.mark.parametrize("name", CHOSEN)
def test_a_bomb_goes_off_harmlessly(name):
    seconds, megabytes = planned(BOMBS[name])
    assert seconds < 5 * SECONDS  # a machine may be five times slower
    assert megabytes < MEGABYTES


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", sorted(BOMBS))
def test_every_bomb_goes_off_harmlessly(name):
    seconds, megabytes = planned(BOMBS[name])
    assert seconds < 5 * SECONDS
    assert megabytes < MEGABYTES


def test_shared_nodes_are_counted_as_a_tree_without_walking_it():
    """The broken twin of the count would walk 2^200 nodes and never come back."""
    found: e.Expr = e.ColumnRef("a")
    for _ in range(200):
        found = e.Arithmetic(e.Operator.ADD, found, found)
    assert e.size(found) > e.MOST_NODES
    assert e.size(e.Extreme(greatest=True, operands=(e.ColumnRef("a"),) * 2)) == 5
    assert e.size(e.ColumnRef("a"), {"a": 30}) == 30
